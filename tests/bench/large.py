"""Large files: the peak memory of `kb ingest` and of all its children together, sampled from outside.

Also by itself: `python3 tests/bench/large.py [pdf] [text] [cjk] [json] [--vectors]`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.bench import material  # noqa: E402 - found once the root is on the path
from tests.bench.measure import Row, table  # noqa: E402

MEGABYTE = 1 << 20
_PAGES = 1000
_TEXT = 200 * MEGABYTE
_JSON = 50 * MEGABYTE
_BOUND = 1536
_GLANCE_S = 0.05
_EMBEDDING_S = 40.0
"""With vectors a run is ended so long after its first embedding: hundreds of thousands would take hours."""

_WORDS = [
    "library",
    "keeps",
    "every",
    "note",
    "people",
    "write",
    "about",
    "gardens",
    "rivers",
    "engines",
    "markets",
    "letters",
    "music",
    "weather",
    "bread",
    "stone",
    "light",
    "paper",
    "winter",
    "harbour",
    "window",
    "teacher",
    "number",
    "signal",
    "copper",
    "branch",
    "matter",
    "season",
    "bridge",
    "valley",
    "the",
    "of",
    "and",
    "in",
    "to",
    "is",
]
_HAN = "花园里的河流与发动机市场信件音乐天气面包石头光线纸张冬天港口窗户老师数字信号铜枝季节桥梁山谷"
_HANGUL = ("정원에는", "강가의", "기관차가", "시장과", "편지를", "음악은", "날씨가", "빵집의", "겨울에", "항구로")


@dataclass(frozen=True, slots=True)
class Peak:
    """What a run took.

    Attributes:
        together: megabytes of all processes at the worst moment; pages that several share count once.
        alone: of the first process, at its own worst moment.
        seconds: of the whole run, or until it was ended.
        ended: whether it was ended from here, since embedding would go on for hours.
        code: what the command returned.
    """

    together: float
    alone: float
    seconds: float
    ended: bool
    code: int


def write_pdf(file: Path, pages: int = _PAGES, words: int = 600) -> None:
    """Write pages dense with words, the same ones at every call."""
    import pymupdf

    chance = random.Random(3)
    document = pymupdf.open()
    for _ in range(pages):
        page = document.new_page(width=595, height=842)
        writer = pymupdf.TextWriter(page.rect)
        drawn, top = 0, 40.0
        while drawn < words:
            count = min(14, words - drawn)
            writer.append((40, top), " ".join(chance.choices(_WORDS, k=count)), fontsize=9)
            drawn += count
            top += 17
        writer.write_text(page)
    document.save(file, deflate=True)
    document.close()


def write_text(file: Path, size: int = _TEXT, *, cjk: bool = False) -> None:
    """Write lines of prose, some eighty bytes each, up to fourteen in a paragraph."""
    chance = random.Random(5)
    lines = [_line(chance, cjk=cjk and number % 4 != 0) for number in range(4000)]
    written = 0
    with file.open("wb") as out:
        while written < size:
            paragraph = [f"{written + number} {chance.choice(lines)}" for number in range(chance.randint(1, 14))]
            data = ("\n".join(paragraph) + "\n\n").encode()
            written += out.write(data)


def write_json(file: Path, size: int = _JSON) -> None:
    """Write one line, an array of objects."""
    chance = random.Random(9)
    written = 1
    with file.open("wb") as out:
        out.write(b"[")
        while written < size:
            record = {"id": written, "name": chance.choice(_WORDS), "note": " ".join(chance.choices(_WORDS, k=24))}
            record["tags"] = chance.choices(_HANGUL, k=3)
            written += out.write(json.dumps(record, ensure_ascii=False).encode() + b", ")
        out.write(b'{"id": 0}]')


KINDS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "pdf": ("book.pdf", write_pdf, f"a PDF of {_PAGES:,} pages of 600 words"),
    "text": ("long.txt", write_text, f"a text of {_TEXT // MEGABYTE} MB"),
    "cjk": ("long-cjk.txt", lambda file: write_text(file, cjk=True), "the same, three quarters Chinese and Korean"),
    "json": ("one-line.json", write_json, f"{_JSON // MEGABYTE} MB of JSON in one line"),
}


def large(scratch: Path, rounds: int) -> list[Row]:
    """Measure each kind once without vectors; a peak needs no median."""
    del rounds
    return list(rows_of(scratch, tuple(KINDS), vectors=False))


def rows_of(scratch: Path, kinds: tuple[str, ...], *, vectors: bool) -> Iterator[Row]:
    """Yield a row for each kind."""
    for kind in kinds:
        name, write, words = KINDS[kind]
        workspace, home = scratch / f"{kind}-files", scratch / f"{kind}-home"
        workspace.mkdir(parents=True)
        write(workspace / name)
        peak = peak_of(home, workspace, vectors=vectors)
        ending = ", ended while embedding" if peak.ended else "" if peak.code == 0 else f", FAILED with {peak.code}"
        detail = f"{peak.seconds:.0f} s{ending}; the main process alone {peak.alone:.0f} MB"
        how = "with the embedder" if vectors else "without vectors"
        yield Row("large", f"peak memory, {words}, {how}", peak.together, "MB", "at most", _BOUND, detail)


def peak_of(home: Path, workspace: Path, *, vectors: bool, trace: bool = False) -> Peak:
    """Run `kb ingest` on a library of its own and watch it."""
    import psutil

    command = [sys.executable, "-m", "kb.cli.main"]
    environment = material.process_environment(home, workspace, vectors=vectors) | {"PYTHONPATH": str(ROOT / "backend")}
    subprocess.run([*command, "init"], env=environment, check=True, capture_output=True)
    started = time.monotonic()
    process = subprocess.Popen(
        [*command, "ingest", "--summary-only"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    main = psutil.Process(process.pid)
    together = alone = 0.0
    embedding_since = 0.0
    ended = False
    last = 0.0
    while process.poll() is None:
        sizes = _sizes(main)
        alone, together = max(alone, sizes[0] if sizes else 0.0), max(together, sum(sizes))
        now = time.monotonic()
        if now - last >= 1:
            last = now
            if trace:
                print(f"{now - started:6.1f} s  {' + '.join(f'{size:.0f}' for size in sizes)} MB", file=sys.stderr)
            embedding_since = embedding_since or (now if vectors and _has_vectors(home) else 0.0)
            if embedding_since and now - embedding_since > _EMBEDDING_S:
                process.terminate()
                ended = True
                break
        time.sleep(_GLANCE_S)
    _, errors = process.communicate()
    if process.returncode and not ended:
        print(errors.decode(errors="replace")[-2000:], file=sys.stderr)
    return Peak(together, alone, time.monotonic() - started, ended, process.returncode)


def _sizes(main: object) -> list[float]:
    """Return the megabytes of a process and of each of its children, pages shared by n of them counted 1/n each."""
    import psutil

    assert isinstance(main, psutil.Process)
    sizes: list[float] = []
    try:
        family = [main, *main.children(recursive=True)]
    except psutil.Error:
        return sizes
    for process in family:
        try:
            info = process.memory_full_info()
        except psutil.Error:
            continue
        sizes.append(getattr(info, "pss", info.uss) / MEGABYTE)
    return sizes


def _line(chance: random.Random, *, cjk: bool) -> str:
    """Return a line of prose of some eighty bytes."""
    if not cjk:
        return " ".join(chance.choices(_WORDS, k=13)).capitalize() + "."
    if chance.random() < 0.5:
        return " ".join(chance.choices(_HANGUL, k=6)) + "."
    return "".join(chance.choices(_HAN, k=24)) + "。"


def _has_vectors(home: Path) -> bool:
    import sqlite3

    file = next(home.rglob("kb.sqlite"), None)
    if file is None:
        return False
    try:
        connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None
        finally:
            connection.close()
    except sqlite3.Error:
        return False


def main() -> int:
    """Print the rows of the kinds asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"among {', '.join(KINDS)}; all without any")
    parser.add_argument(
        "--vectors", action="store_true", help="with the embedding model, ended after the first vectors"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kebab-large-") as folder:
        rows = list(rows_of(Path(folder), tuple(chosen.kinds) or tuple(KINDS), vectors=chosen.vectors))
    print(table(rows))
    return int(any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
