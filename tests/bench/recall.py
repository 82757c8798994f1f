#!/usr/bin/env python3
"""Recall through the product: files in, `kb ingest`, `kb serve`, every question over HTTP.

python3 tests/bench/recall.py [SET ...] [--markdown]

Needs the real data (`KEBAB_SHARED`, else `../shared`) and the models of `python3 dev.py setup`. KorQuAD: odd questions.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from tests.bench.material import QuestionSet

SETS = (
    "xquad-en", "xquad-zh", "xquad-es", "xquad-de", "xquad-ru", "xquad-ar", "xquad-vi", "cmrc2018", "korquad",
    "x-zh-en", "x-en-zh",
)  # fmt: skip
WAYS: dict[str, dict[str, str]] = {
    "lexical": {"mode": "lexical"},
    "vector": {"mode": "vector"},
    "hybrid": {"mode": "hybrid"},
    "rrf": {"mode": "hybrid", "fusion": "rrf"},
}
_FOR_HYBRID = {"xquad-en": 0.99, "xquad-zh": 0.99, "korquad": 0.98, "cmrc2018": 0.98}
_FOR_LEXICAL = 0.98
_SLACK = 0.005
_DOCUMENTS = 5


@dataclass(frozen=True, slots=True)
class Recall:
    """Shares of questions whose passage came first, among the first 5 documents, and (hybrid only) among 5 raw hits."""

    at_1: float
    at_5: float
    of_5_hits: float


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


def measure(questions: QuestionSet, folder: Path) -> tuple[dict[str, Recall], set[str]]:
    """Ingest the passages and ask every question in every way; also return the vector engines that answered."""
    from tests.bench.material import process_environment, write_passages

    workspace = folder / "workspace"
    write_passages(workspace, questions.passages)
    env = process_environment(folder / "home", workspace, vectors=True)
    kb = [sys.executable, "-m", "kb.cli.main"]
    subprocess.run([*kb, "init"], env=env, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*kb, "ingest", "--summary-only"], env=env, check=True, stdout=subprocess.DEVNULL)
    engines: set[str] = set()
    with _serving([*kb, "serve", "--json", "--port", "0"], env) as server:
        found = {name: _recall(server, questions, way, engines) for name, way in WAYS.items()}
    return found, engines


def cross(questions: QuestionSet, passages: QuestionSet, name: str) -> QuestionSet:
    """Return the questions of one language over the passages of another; they correspond by their order."""
    return type(questions)(name, passages.passages, questions.questions)


def misses(name: str, found: dict[str, Recall]) -> list[str]:
    """Return the targets of the set that are missed, in words."""
    hybrid, lexical, vector = (found[way].at_5 for way in ("hybrid", "lexical", "vector"))
    wanted = _FOR_HYBRID.get(name)
    said = []
    if wanted and hybrid < wanted:
        said.append(f"hybrid {hybrid:.3f} < {wanted}")
    if wanted and lexical < _FOR_LEXICAL:
        said.append(f"lexical {lexical:.3f} < {_FOR_LEXICAL}")
    if hybrid < max(lexical, vector) - _SLACK:
        said.append(f"hybrid {hybrid:.3f} is {max(lexical, vector) - hybrid:.3f} below the better channel")
    return said


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"among {', '.join(SETS)}; all without any")
    chosen = parser.parse_args(arguments).sets or list(SETS)
    from tests.bench.material import questions_of, shared_data

    data = shared_data()
    if data is None:
        print("not measured: the real data is not here (set KEBAB_SHARED)")
        return 0
    print("| set (questions) | keywords | vectors | **hybrid** | RRF | 5 raw hits, hybrid | engine | missed |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    missed = False
    for name in chosen:
        if name.startswith("x-"):
            _, asked, answered = name.split("-")
            questions = cross(questions_of(data, f"xquad-{asked}"), questions_of(data, f"xquad-{answered}"), name)
        else:
            questions = questions_of(data, name)
        with tempfile.TemporaryDirectory(prefix="kebab-recall-") as folder:
            found, engines = measure(questions, Path(folder))
        said = misses(name, found)
        missed = missed or bool(said)
        cells = [f"{one.at_1:.3f} / {one.at_5:.3f}" for one in found.values()]
        cells += [f"{found['hybrid'].of_5_hits:.3f}", ", ".join(sorted(engines)), "; ".join(said) or "–"]
        print(f"| {name} ({len(questions.questions)}) | {' | '.join(cells)} |", flush=True)
    return int(missed)


def _recall(server: Server, questions: QuestionSet, way: dict[str, str], engines: set[str]) -> Recall:
    first = among = raw = 0
    for question, gold in questions.questions:
        wide = server.find({"query": question, "top_k": 20, **way})
        engines.update(filter(None, [wide["diagnostics"].get("vector_engine")]))
        documents = list(dict.fromkeys(hit["doc_path"] for hit in wide["results"]))[:_DOCUMENTS]
        wanted = f"{gold:05d}.txt"
        first += documents[:1] == [wanted]
        among += wanted in documents
        if way == WAYS["hybrid"]:
            narrow = server.find({"query": question, "top_k": 5, **way})["results"]
            raw += any(hit["doc_path"] == wanted for hit in narrow)
    count = len(questions.questions)
    return Recall(first / count, among / count, raw / count)


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
