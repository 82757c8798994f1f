"""The file and its fake keep the same promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.sqlite.answers import SqliteAnswerStore
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.index_log import SqliteIndexLog
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.vectors import SqliteVectorStore
from kb.answering.ports import AnswerStore
from tests.contracts.library import (
    DocumentWriterContract,
    GatedChunksContract,
    ItemStoreContract,
    Ports,
)
from tests.contracts.records import AnswerStoreContract
from tests.contracts.vector_store import VectorStoreContract
from tests.fakes.index_log import FakeIndexLog
from tests.fakes.library import (
    FakeDocumentWriter,
    FakeGatedChunks,
    FakeItemStore,
    FakeLibrary,
    FakeVectorStore,
)
from tests.fakes.records import FakeAnswerStore


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "data")
    yield library
    library.close()


class TestFake(ItemStoreContract, DocumentWriterContract, VectorStoreContract, GatedChunksContract):
    @pytest.fixture
    def ports(self) -> Ports:
        fake = FakeLibrary()
        return Ports(
            FakeItemStore(fake),
            FakeDocumentWriter(fake),
            FakeVectorStore(fake),
            FakeIndexLog(fake),
            FakeGatedChunks(fake),
        )


class TestSqlite(ItemStoreContract, DocumentWriterContract, VectorStoreContract, GatedChunksContract):
    @pytest.fixture
    def ports(self, library: Library) -> Ports:
        return Ports(
            SqliteItemStore(library),
            SqliteDocumentWriter(library),
            SqliteVectorStore(library),
            SqliteIndexLog(library),
            SqliteGatedChunks(library),
        )


class TestFakeAnswers(AnswerStoreContract):
    @pytest.fixture
    def answers(self) -> AnswerStore:
        return FakeAnswerStore()


class TestSqliteAnswers(AnswerStoreContract):
    @pytest.fixture
    def answers(self, library: Library) -> AnswerStore:
        return SqliteAnswerStore(library)
