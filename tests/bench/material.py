"""What is measured on: the shared data where it is, else texts made here, and libraries in temporary folders."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORDS = (
    "library", "keeps", "every", "note", "people", "write", "about", "gardens", "rivers", "engines", "markets",
    "letters", "music", "weather", "bread", "stone", "light", "paper", "winter", "harbour", "window", "teacher",
    "number", "signal", "copper", "branch", "garden", "matter", "season", "bridge", "valley",
)  # fmt: skip
_HANGUL = (
    "정원에는",
    "강가의",
    "기관차가",
    "시장과",
    "편지를",
    "음악은",
    "날씨가",
    "빵집의",
    "겨울에",
    "항구로",
    "창문을",
)
_HAN = "花园里的河流与发动机市场信件音乐天气面包石头光线纸张冬天港口窗户老师数字信号铜枝季节桥梁山谷"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of Markdown files."""

    name: str
    folder: Path
    is_real: bool


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Passages with questions; `gold` is the number of the passage that answers."""

    name: str
    passages: tuple[str, ...]
    questions: tuple[tuple[str, int], ...]


def shared_data() -> Path | None:
    """Return the folder of real data (`KEBAB_SHARED`, else `../shared` beside the repository), None without it."""
    folder = Path(os.environ.get("KEBAB_SHARED") or ROOT.parent / "shared") / "data"
    return folder if folder.is_dir() else None


def vaults(scratch: Path) -> Corpus:
    """Return the three real vaults in one folder, else one like them made here."""
    data, folder = shared_data(), scratch / "vaults"
    found = [data / f"vault-{lang}" for lang in ("en", "ko", "zh")] if data else []
    if found and all(vault.is_dir() for vault in found):
        folder.mkdir(parents=True, exist_ok=True)
        for vault in found:
            for file in sorted(vault.rglob("*.md")):
                target = folder / vault.name / file.relative_to(vault)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes())
        corpus = Corpus("vault-en, -ko, -zh", folder, is_real=True)
    else:
        corpus = made_notes(folder, 300, sections=8)
    _age(folder)
    return corpus


def made_notes(folder: Path, count: int, *, sections: int) -> Corpus:
    """Write `count` notes in three languages, the same ones at every call."""
    chance = random.Random(7)
    for number in range(count):
        file = folder / f"part-{number // 100:03d}" / f"note-{number:05d}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n\n".join(_note(chance, number, sections)) + "\n", encoding="utf-8")
    _age(folder)
    return Corpus("made notes", folder, is_real=False)


def question_sets(names: tuple[str, ...]) -> list[QuestionSet]:
    """Return the sets among `names` that are there; one made here when none is."""
    data = shared_data()
    found = [questions_of(data, name) for name in names if (data / name).is_dir()] if data else []
    return found or [_made_questions()]


def questions_of(data: Path, name: str) -> QuestionSet:
    """Read one set; of KorQuAD the odd questions, since the even ones were for tuning."""
    if name == "korquad":
        return _korquad(data / name / "KorQuAD_v1.0_dev.json")
    passages = _lines(data / name / "passages.jsonl")
    number = {passage["id"]: place for place, passage in enumerate(passages)}
    questions = _lines(data / name / "questions.jsonl")
    return QuestionSet(
        name,
        tuple(passage["text"] for passage in passages),
        tuple((question["question"], number[question["passage"]]) for question in questions),
    )


def write_passages(folder: Path, passages: tuple[str, ...]) -> None:
    """Write one file a passage, named by its number and without a title."""
    folder.mkdir(parents=True)
    for number, text in enumerate(passages):
        (folder / f"{number:05d}.txt").write_text(text + "\n", encoding="utf-8")
    _age(folder)


@contextmanager
def opened(home: Path, workspace: Path, *, vectors: bool, engine: str = "auto") -> Iterator[Any]:
    """Open a library of its own (`kb.app.bootstrap.Parts`) and close it afterwards."""
    from kb.app.bootstrap import Parts
    from kb.app.config_file import load_configuration

    parts = Parts(load_configuration(environment(home, workspace, vectors=vectors, engine=engine)))
    try:
        yield parts
    finally:
        parts.close()


def environment(home: Path, workspace: Path, *, vectors: bool, engine: str = "auto") -> dict[str, str]:
    """Return the variables that give a library of its own."""
    return {
        "KB_HOME": str(home),
        "KB_WORKSPACE_ROOT": str(workspace),
        "KB_MODELS_EMBEDDING_PROVIDER": "fastembed" if vectors else "none",
        "KB_SEARCH_VECTOR_ENGINE": engine,
        "HF_HUB_OFFLINE": "1",
    }


def process_environment(home: Path, workspace: Path, *, vectors: bool) -> dict[str, str]:
    """Return the whole environment of a `kb` process with a library of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    return kept | environment(home, workspace, vectors=vectors)


def ingest(parts: Any, *, workers: int = 1, summary_only: bool = False) -> Any:
    """Do a whole run and return its report."""
    from kb.domain.files import Scope
    from kb.ingest.pipeline import IngestRun
    from kb.ingest.run_ports import IngestOptions

    scope = Scope(parts.settings.workspace.include, parts.settings.workspace.exclude, ())
    return IngestRun(parts.ingest_ports(), scope, IngestOptions(workers=workers, summary_only=summary_only)).run()


def _note(chance: random.Random, number: int, sections: int) -> Iterator[str]:
    yield f"# Note {number}"
    for section in range(sections):
        yield f"## {chance.choice(WORDS).title()} {section}"
        for _ in range(3):
            yield " ".join(chance.choices(WORDS, k=70)).capitalize() + "."
        yield " ".join(chance.choices(_HANGUL, k=50)) + "."
        yield "".join(chance.choices(_HAN, k=160)) + "。"
        yield "\n".join(f"- {' '.join(chance.choices(WORDS, k=9))}" for _ in range(4))


def _made_questions() -> QuestionSet:
    chance = random.Random(11)
    passages = tuple(" ".join(chance.choices(WORDS, k=120)) + f" item{n}." for n in range(240))
    questions = [(" ".join([*chance.sample(passages[n].split(), 6), f"item{n}"]), n) for n in range(240)]
    return QuestionSet("made passages", passages, tuple(questions))


def _korquad(file: Path) -> QuestionSet:
    passages: list[str] = []
    questions: list[tuple[str, int]] = []
    number = 0
    for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                number += 1
                if number % 2:
                    questions.append((question["question"], len(passages)))
            passages.append(paragraph["context"])
    return QuestionSet("korquad", tuple(passages), tuple(questions))


def _lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def _age(folder: Path) -> None:
    """Date the files back: one written this very moment is read only after the clock has ticked."""
    for file in folder.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
