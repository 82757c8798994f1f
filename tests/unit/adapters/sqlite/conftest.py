"""A library for each test, and the stores on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.index_log import SqliteIndexLog
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.vectors import SqliteVectorStore
from tests.contracts.library import Ports


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "data")
    yield library
    library.close()


@pytest.fixture
def ports(library: Library) -> Ports:
    return Ports(
        SqliteItemStore(library),
        SqliteDocumentWriter(library),
        SqliteVectorStore(library),
        SqliteIndexLog(library),
        SqliteGatedChunks(library),
    )
