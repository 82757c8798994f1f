"""kill -9 at any moment: the library opens, nothing acknowledged is lost, and the work can be finished."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.vectors import SqliteVectorStore
from kb.domain.search import SearchFilters
from tests.builders import MODEL, Staged, staged, vector_of
from tests.logical_state import logical_state

ROOT = Path(__file__).parents[4]
ROUNDS = 100
CHILD = """
import sys
from pathlib import Path
from kb.adapters.sqlite.connection import Library
from tests.unit.adapters.sqlite.test_kill import ROUNDS, ingest_round
library = Library(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), ROUNDS):
    ingest_round(library, number)
    print(number, flush=True)
"""


def documents_of(number: int) -> tuple[Staged, ...]:
    """Two documents a round, the second of them a new version of the one of five rounds before."""
    fresh = staged(f"notes/{number}.md", *(f"Round {number}, passage {part}." for part in range(6)))
    again = staged(f"shared/{number % 5}.md", f"Rewritten in round {number}.", "A passage that stays.")
    return fresh, again


def ingest_round(library: Library, number: int) -> None:
    """Stage, activate and embed the documents of one round, as often as need be."""
    writer, vectors = SqliteDocumentWriter(library), SqliteVectorStore(library)
    for one in documents_of(number):
        writer.stage(one.item, one.asset, one.document, one.chunks, MODEL)
    writer.activate(writer.staged())
    vectors.adopt(MODEL)
    vectors.save(MODEL, [(text, vector_of(text.text)) for text in vectors.pending(MODEL, 100)])


def run_until_killed(folder: Path, first: int, seconds: float) -> int:
    """Ingest in a child, kill it after its first round and `seconds`; return the first round not acknowledged."""
    command = [sys.executable, "-c", CHILD, str(folder), str(first)]
    environment = {"PYTHONPATH": f"{ROOT / 'backend'}:{ROOT}", "PATH": ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None
        acknowledged = [child.stdout.readline()]
        time.sleep(seconds)
        child.kill()
        acknowledged += child.stdout.read().splitlines()
    complete = [int(line) for line in acknowledged if line.strip()]
    assert complete, "the child died before its first round"
    return complete[-1] + 1


def check(library: Library, acknowledged: int) -> None:
    """The file is whole and shows every acknowledged round."""
    assert SqliteIntegrity(library).check(None).problems == ()
    gate = SqliteGatedChunks(library)
    shown = {stored.chunk.text for stored in gate.visible(gate.matching(SearchFilters())).values()}
    expected = {chunk.text for number in range(acknowledged) for chunk in documents_of(number)[0].chunks}
    assert expected <= shown


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.torture)])
def test_a_killed_ingest_loses_nothing_acknowledged_and_ends_the_same(tmp_path: Path, kills: int) -> None:
    moments = random.Random(20)
    folder = tmp_path / "data"
    done = 0
    for _ in range(kills):
        if done >= ROUNDS - 1:
            break
        done = run_until_killed(folder, done, moments.uniform(0, 0.15))
        with closing(Library(folder)) as library:
            check(library, done)
    with closing(Library(folder)) as library, closing(Library(tmp_path / "calm")) as calm:
        for number in range(done, ROUNDS):
            ingest_round(library, number)
        for number in range(ROUNDS):
            ingest_round(calm, number)
        check(library, ROUNDS)
        assert logical_state(library.reader()) == logical_state(calm.reader())
