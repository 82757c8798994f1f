"""Every statement and every commit fails once: what is found afterwards is whole, and a second try ends the same."""

from __future__ import annotations

import functools
import itertools
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kb.adapters.sqlite.connection import Connection, Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.vectors import SqliteVectorStore
from kb.domain.failures import StorageFailed
from tests.builders import MODEL, staged, vector_of
from tests.logical_state import logical_state

DOCUMENTS = (staged("a.md", "Shared.", "Alone."), staged("b.md", "Shared.", tags=("x",)), staged("a.md", "Rewritten."))


class Fault:
    """Counts statements; the n-th fails, and with `dies` all after it, as when the disk is gone."""

    def __init__(self, nth: int, *, dies: bool = False) -> None:
        self.left = nth
        self.dies = dies
        self.armed = False

    def strike(self) -> bool:
        if not self.armed:
            return False
        self.left -= 1
        return self.left == 0 or (self.dies and self.left < 0)


class FaultyConnection(Connection):
    fault: Fault

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if self.fault.strike():
            raise sqlite3.OperationalError("disk I/O error")
        # Faults here are of statements, not of power: waiting for the disk would only take time.
        return super().execute(sql.replace("synchronous = FULL", "synchronous = OFF"), parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        rows = list(parameters)
        if self.fault.strike():
            super().executemany(sql, rows[: len(rows) // 2])
            raise sqlite3.OperationalError("disk I/O error")
        return super().executemany(sql, rows)


def connect(fault: Fault, database: str, **options: Any) -> Connection:
    connection: FaultyConnection = sqlite3.connect(database, **(options | {"factory": FaultyConnection}))
    connection.fault = fault
    return connection


def open_library(folder: Path, fault: Fault) -> Library:
    return Library(folder, connect=functools.partial(connect, fault))


def work(library: Library) -> None:
    """What an ingest does to the library, from a state of any age."""
    documents, vectors = SqliteDocumentWriter(library), SqliteVectorStore(library)
    documents.activate(documents.staged())
    for one in DOCUMENTS:
        documents.stage(one.item, one.asset, one.document, one.chunks, MODEL)
        documents.activate([one.document.doc_id])
        vectors.adopt(MODEL)
        vectors.save(MODEL, [(text, vector_of(text.text)) for text in vectors.pending(MODEL, 10)])
    SqliteItemStore(library).delete_items([DOCUMENTS[1].item.item_id])
    documents.purge(0)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty") / "data"
    Library(folder).close()
    return folder


@pytest.fixture(scope="module")
def undisturbed(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    with closing(Library(shutil.copytree(empty, tmp_path_factory.mktemp("calm") / "data"))) as library:
        work(library)
        return logical_state(library.reader())


@pytest.fixture
def fresh(empty: Path, tmp_path: Path) -> Callable[[], Path]:
    numbers = itertools.count()
    return lambda: Path(shutil.copytree(empty, tmp_path / str(next(numbers))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dies", "step"),
    [
        pytest.param(False, 1, id="one failure"),
        pytest.param(True, 7, id="all from then on, every seventh"),
        pytest.param(True, 1, id="all from then on", marks=pytest.mark.torture),
    ],
)
def test_a_failure_at_any_statement_leaves_a_whole_library(
    fresh: Callable[[], Path], undisturbed: dict[str, list[Any]], dies: bool, step: int
) -> None:
    for nth in itertools.count(1, step):
        folder = fresh()
        fault = Fault(nth, dies=dies)
        faulty = open_library(folder, fault)
        fault.armed = True
        try:
            work(faulty)
        except StorageFailed:
            failed = True
        else:
            failed = False
        fault.armed = False
        faulty.close()
        with closing(open_library(folder, Fault(0))) as library:
            assert SqliteIntegrity(library).check(None).problems == (), nth
            work(library)
            assert logical_state(library.reader()) == undisturbed, nth
        shutil.rmtree(folder)
        if not failed:
            # the n-th statement was never reached: every one before it has had its turn
            assert nth > 50
            break


def test_after_a_failed_commit_the_same_library_goes_on(
    fresh: Callable[[], Path], undisturbed: dict[str, list[Any]]
) -> None:
    fault = Fault(2)
    with closing(open_library(fresh(), fault)) as library:
        fault.armed = True
        with pytest.raises(StorageFailed):
            SqliteItemStore(library).delete_items([DOCUMENTS[0].item.item_id])
        work(library)
        assert logical_state(library.reader()) == undisturbed
