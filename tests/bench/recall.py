#!/usr/bin/env python3
"""Recall through the product: files in, `kb ingest`, `kb serve`, every question over HTTP; beside it two plain ways.

python3 tests/bench/recall.py [SET ...] [--together] [--limit N] [--rerank-model FOLDER]

`--together` puts the passages of all sets into one library. Needs the real data (`KEBAB_SHARED`, else `../shared`) and
the models of `python3 dev.py setup`. KorQuAD: odd questions. In each cell: recall@1 / recall@5 / MRR over documents.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "backend")]

if TYPE_CHECKING:
    from tests.bench.material import QuestionSet

SETS = (
    "xquad-en", "xquad-zh", "xquad-es", "xquad-de", "xquad-ru", "xquad-ar", "xquad-vi", "cmrc2018", "korquad",
    "x-zh-en", "x-es-en", "x-de-en", "x-ru-en", "x-ar-en", "x-vi-en", "x-en-zh",
)  # fmt: skip
WAYS: dict[str, dict[str, str]] = {
    "lexical": {"mode": "lexical"},
    "vector": {"mode": "vector"},
    "hybrid": {"mode": "hybrid"},
    "local": {"mode": "hybrid", "rerank": "local"},
    "model": {"mode": "hybrid", "rerank": "model"},
}
_NAMES = {
    "fts5": "FTS5 unicode61",
    "bigrams": "bare bigram BM25",
    "lexical": "keywords",
    "vector": "vectors",
    "hybrid": "**hybrid**",
    "local": "hybrid, local rerank",
    "model": "hybrid, model rerank",
}
_FOR_HYBRID = {"xquad-en": 0.995, "xquad-zh": 0.99, "korquad": 0.982, "cmrc2018": 0.98}
_ACROSS = 0.01
_FOR_LEXICAL = 0.98
_SLACK = 0.005
_AMONG = 20
_SEED = 11


@dataclass(slots=True)
class Ranks:
    """The rank of the right document for each question, None where it was not among the first 20 hits."""

    ranks: list[int | None] = field(default_factory=list)

    def hits(self, k: int) -> list[float]:
        """1 for each question whose document came among the first k, else 0."""
        return [float(rank is not None and rank <= k) for rank in self.ranks]

    def at(self, k: int) -> float:
        """Recall@k."""
        return sum(self.hits(k)) / len(self.ranks)

    @property
    def mrr(self) -> float:
        """The mean of 1 / rank."""
        return sum(1 / rank for rank in self.ranks if rank) / len(self.ranks)

    def __str__(self) -> str:
        return f"{self.at(1):.3f} / {self.at(5):.3f} / {self.mrr:.3f}"


class Server:
    """`kb serve` of one library, asked over one connection."""

    def __init__(self, url: str, token: str) -> None:
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def find(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to `search/find`."""
        self._connection.request("POST", "/api/v1/search/find", json.dumps(request), self._headers)
        reply = self._connection.getresponse()
        body = reply.read()
        if reply.status != http.client.OK:
            raise RuntimeError(body.decode("utf-8", "replace")[:500])
        found: dict[str, Any] = json.loads(body)
        return found


def measure(
    passages: tuple[str, ...], sets: Sequence[QuestionSet], folder: Path, rerank_model: str | None
) -> dict[str, dict[str, Ranks]]:
    """Ingest the passages, and ask the questions of each set in every way; return the ranks by set and way."""
    from tests.bench.material import process_environment, write_passages

    workspace = folder / "workspace"
    write_passages(workspace, passages)
    env = process_environment(folder / "home", workspace, vectors=True)
    if rerank_model:
        env |= {"KB_MODELS_RERANK_PROVIDER": "cross_encoder", "KB_MODELS_RERANK_MODEL": rerank_model}
    ways = {name: way for name, way in WAYS.items() if name != "model" or rerank_model}
    kb = [sys.executable, "-m", "kb.cli.main"]
    subprocess.run([*kb, "init"], env=env, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*kb, "ingest", "--summary-only"], env=env, check=True, stdout=subprocess.DEVNULL)
    plain = {"fts5": Plain(passages, words), "bigrams": Plain(passages, bigrams)}
    with _serving([*kb, "serve", "--json", "--port", "0"], env) as server:
        return {
            one.name: {
                **{name: Ranks([way.rank(*question) for question in one.questions]) for name, way in plain.items()},
                **{
                    name: Ranks([_rank(server, *question, way) for question in one.questions])
                    for name, way in ways.items()
                },
            }
            for one in sets
        }


class Plain:
    """BM25 of SQLite FTS5 over tokens made by `tokens`, any of the question's, best first."""

    def __init__(self, passages: tuple[str, ...], tokens: Callable[[str], list[str]]) -> None:
        self._tokens = tokens
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE f USING fts5(text, tokenize='unicode61 remove_diacritics 1')")
        rows = ((number, " ".join(tokens(text))) for number, text in enumerate(passages))
        self._connection.executemany("INSERT INTO f (rowid, text) VALUES (?, ?)", rows)

    def rank(self, question: str, gold: int) -> int | None:
        """Return the rank of the right passage among the first 20."""
        wanted = " OR ".join(f'"{token}"' for token in dict.fromkeys(self._tokens(question)))
        if not wanted:
            return None
        sql = "SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank, rowid LIMIT ?"
        found = [number for (number,) in self._connection.execute(sql, (wanted, _AMONG))]
        return found.index(gold) + 1 if gold in found else None


def words(text: str) -> list[str]:
    """Return the words of a text as unicode61 would cut them."""
    return re.findall(r"[^\W_]+", text)


def bigrams(text: str) -> list[str]:
    """Return every two letters that stand together, letter case and width folded; a letter alone stands for itself."""
    found: list[str] = []
    for word in words(unicodedata.normalize("NFKC", text).casefold()):
        found += [word[at : at + 2] for at in range(len(word) - 1)] or [word]
    return found


def cross(questions: QuestionSet, passages: QuestionSet, name: str) -> QuestionSet:
    """Return the questions of one language over the passages of another; they correspond by their order."""
    return type(questions)(name, passages.passages, questions.questions)


def misses(name: str, found: dict[str, Ranks]) -> list[str]:
    """Return the targets of the set that are missed, in words."""
    wanted = _FOR_HYBRID.get(name)
    said = []
    if wanted and found["hybrid"].at(5) < wanted:
        said.append(f"hybrid@5 {found['hybrid'].at(5):.3f} < {wanted}")
    if wanted and found["lexical"].at(5) < _FOR_LEXICAL:
        said.append(f"keywords@5 {found['lexical'].at(5):.3f} < {_FOR_LEXICAL}")
    slack = _ACROSS if name.startswith("x-") else _SLACK
    for way, k in product(("hybrid", "local", "model"), (1, 5)):
        best = max(found["lexical"].at(k), found["vector"].at(k))
        if way in found and found[way].at(k) < best - slack and (k == 5 or slack == _SLACK):
            said.append(f"{way}@{k} is {best - found[way].at(k):.3f} below the better channel")
    return said


def interval(found: dict[str, Ranks], k: int) -> str:
    """Return hybrid less the better of its channels at k, with the 95 % interval over the same questions."""
    from kb.evaluation.resampling import paired_interval

    best = max(("lexical", "vector"), key=lambda way: found[way].at(k))
    one = paired_interval(found[best].hits(k), found["hybrid"].hits(k), seed=_SEED)
    return f"{one.delta:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"among {', '.join(SETS)}; all without any")
    parser.add_argument("--together", action="store_true", help="the passages of all sets in one library")
    parser.add_argument("--limit", type=int, help="only so many questions of each set")
    parser.add_argument("--rerank-model", help="folder of a cross-encoder in ONNX")
    given = parser.parse_args(arguments)
    from tests.bench.material import questions_of, shared_data

    data = shared_data()
    if data is None:
        print("not measured: the real data is not here (set KEBAB_SHARED)")
        return 0
    sets = []
    for name in given.sets or SETS:
        if given.together and name.startswith("x-"):
            continue  # the passages in the question's own language are there, too, and rightly come first
        if name.startswith("x-"):
            _, asked, answered = name.split("-")
            one = cross(questions_of(data, f"xquad-{asked}"), questions_of(data, f"xquad-{answered}"), name)
        else:
            one = questions_of(data, name)
        sets.append(replace(one, questions=one.questions[: given.limit]))
    ways = ["fts5", "bigrams", *(way for way in WAYS if way != "model" or given.rerank_model)]
    heads = [_NAMES[way] for way in ways]
    print(f"| set (questions) | {' | '.join(heads)} | hybrid − best, @1 | hybrid − best, @5 | missed |")
    print("|---" * (len(heads) + 4) + "|", flush=True)
    missed = False
    for passages, together in _libraries(sets, together=given.together):
        with tempfile.TemporaryDirectory(prefix="kebab-recall-") as folder:
            found = measure(passages, together, Path(folder), given.rerank_model)
        for questions in together:
            ranks = found[questions.name]
            said = misses(questions.name, ranks)
            missed = missed or bool(said)
            cells = [*(str(ranks[way]) for way in ways), interval(ranks, 1), interval(ranks, 5), "; ".join(said) or "–"]
            print(f"| {questions.name} ({len(questions.questions)}) | {' | '.join(cells)} |", flush=True)
    return int(missed)


def _libraries(
    sets: Sequence[QuestionSet], *, together: bool
) -> Iterator[tuple[tuple[str, ...], Sequence[QuestionSet]]]:
    """Yield passages and the sets that are asked over them: each alone, or all of them at once."""
    if not together:
        yield from ((one.passages, [one]) for one in sets)
        return
    # Passages that several sets share are there once; questions across languages keep theirs.
    number: dict[str, int] = {}
    moved = []
    for one in sets:
        places = [number.setdefault(text, len(number)) for text in one.passages]
        moved.append(replace(one, questions=tuple((text, places[gold]) for text, gold in one.questions)))
    yield tuple(number), moved


def _rank(server: Server, question: str, gold: int, way: dict[str, str]) -> int | None:
    hits = server.find({"query": question, "top_k": _AMONG, **way})["results"]
    documents = list(dict.fromkeys(hit["doc_path"] for hit in hits))
    wanted = f"{gold:05d}.txt"
    return documents.index(wanted) + 1 if wanted in documents else None


@contextmanager
def _serving(command: list[str], env: dict[str, str]) -> Iterator[Server]:
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        yield Server(ready["url"], ready["token"])
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


if __name__ == "__main__":
    python = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists() and Path(sys.prefix) != ROOT / ".venv":
        os.execv(python, [str(python), __file__, *sys.argv[1:]])
    sys.exit(main())
