"""The file and its fake keep the same promises about collections and kept searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.adapters.sqlite.collections import SqliteCollections
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.saved_searches import SqliteSavedSearches
from kb.app.facade.saved_searches import SearchStore
from kb.domain.items import MediaType
from tests.builders import MODEL, path_of, staged
from tests.contracts.collections import CollectionPorts, CollectionStoreContract, SearchStoreContract, check_course
from tests.fakes.collections import FakeCollections, FakeSavedSearches


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "data")
    yield library
    library.close()


@dataclass
class LibraryFiles:
    library: Library

    def put(self, path: str, tags: Sequence[str] = (), media: MediaType = MediaType.MARKDOWN, *, at: str = "") -> str:
        writer = SqliteDocumentWriter(self.library)
        live = SqliteItemStore(self.library).live_items()
        item_id = live[path_of(at)].item_id if at else None
        one = staged(path, f"Text of {path}.", item_id=item_id)
        document = replace(one.document, metadata=replace(one.document.metadata, tags=tuple(tags)))
        writer.stage(one.item, replace(one.asset, media_type=media), document, one.chunks, MODEL)
        writer.activate([document.doc_id])
        return one.item.item_id

    def delete(self, path: str) -> None:
        store = SqliteItemStore(self.library)
        store.delete_items([store.live_items()[path_of(path)].item_id])


class TestFakeCollections(CollectionStoreContract):
    @pytest.fixture
    def ports(self) -> CollectionPorts:
        fake = FakeCollections()
        return CollectionPorts(fake, fake.files)


class TestSqliteCollections(CollectionStoreContract):
    @pytest.fixture
    def ports(self, library: Library) -> CollectionPorts:
        return CollectionPorts(SqliteCollections(library), LibraryFiles(library))


class TestFakeSearches(SearchStoreContract):
    @pytest.fixture
    def searches(self) -> SearchStore:
        return FakeSavedSearches()


class TestSqliteSearches(SearchStoreContract):
    @pytest.fixture
    def searches(self, library: Library) -> SearchStore:
        return SqliteSavedSearches(library)


COURSES = st.lists(st.tuples(st.sampled_from("moran"), st.integers(0, 5), st.integers(0, 7)), max_size=12)


@settings(max_examples=100, deadline=None)
@given(steps=COURSES)
def test_positions_are_a_row_and_revisions_rise_by_one_whatever_is_done(steps: list[tuple[str, int, int]]) -> None:
    fake = FakeCollections()
    check_course(CollectionPorts(fake, fake.files), steps)


@settings(max_examples=10, deadline=None)
@given(steps=COURSES)
def test_positions_are_a_row_and_revisions_rise_by_one_in_the_file_too(steps: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        library = Library(Path(folder) / "data")
        try:
            check_course(CollectionPorts(SqliteCollections(library), LibraryFiles(library)), steps)
        finally:
            library.close()
