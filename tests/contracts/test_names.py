"""The promise of every search for names, kept by the fake and by the table over the library file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.names import SqliteNames
from kb.adapters.tantivy.scripts import simplified
from kb.app.facade.naming import NameSearch
from kb.domain.recipes import ItemId
from tests.contracts.names import Make, NameSearchContract
from tests.fakes.names import FakeNames

_ITEM = (
    "INSERT INTO items (item_id, workspace_path, disk_name, size, mtime_ns, file_id, state, created_at, updated_at)"
    " VALUES (?, ?, ?, 1, 1, '', 'ready', '', '')"
)


def add(library: Library, *paths: str) -> None:
    with library.transaction() as connection:
        known = connection.execute("SELECT count(*) FROM items").fetchone()[0]
        connection.executemany(_ITEM, [(f"item-{known + n}", path, path) for n, path in enumerate(paths)])


class TestFakeNames(NameSearchContract):
    @pytest.fixture
    def make(self) -> Make:
        return lambda paths: FakeNames({ItemId(f"item-{n}"): path for n, path in enumerate(paths)})


class TestSqliteNames(NameSearchContract):
    @pytest.fixture
    def make(self, tmp_path: Path) -> Iterator[Make]:
        made: list[Library] = []

        def over(paths: Sequence[str]) -> NameSearch:
            made.append(Library(tmp_path / str(len(made))))
            add(made[-1], *paths)
            return SqliteNames(made[-1], lambda text: text.translate(simplified()))

        yield over
        for library in made:
            library.close()

    @pytest.mark.parametrize("gone", ["deleted_at = 'now', state = 'deleted'", "included = 0", "archived_at = 'now'"])
    def test_what_was_deleted_taken_out_or_archived_is_not_shown(self, tmp_path: Path, gone: str) -> None:
        library = Library(tmp_path)
        add(library, *(f"{n}/plan.md" for n in range(8)))
        names = SqliteNames(library, str)
        assert len(names.named("plan", 2)) == 2
        with library.transaction() as connection:
            connection.execute(f"UPDATE items SET {gone} WHERE workspace_path < '5'")
        assert [hit.path for hit in names.named("plan", 2)] == ["5/plan.md", "6/plan.md"]
        library.close()

    def test_a_table_of_a_moment_ago_shows_nothing_that_went_since(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        library = Library(tmp_path)
        add(library, *(f"{n}/plan.md" for n in range(8)))
        names = SqliteNames(library, str)
        names.named("plan", 2)
        monkeypatch.setattr(names._making, "is_due", lambda: False)
        with library.transaction() as connection:
            connection.execute("UPDATE items SET included = 0 WHERE workspace_path < '1'")
            connection.execute("UPDATE items SET workspace_path = '1/other.md' WHERE workspace_path = '1/plan.md'")
        assert [hit.path for hit in names.named("plan", 2)] == ["2/plan.md", "3/plan.md"]
        library.close()

    def test_new_names_are_found_at_once(self, tmp_path: Path) -> None:
        library = Library(tmp_path)
        add(library, "a.md")
        names = SqliteNames(library, str)
        assert names.named("plan", 5) == []
        add(library, "plan.md")
        assert [hit.path for hit in names.named("plan", 5)] == ["plan.md"]
        library.close()


def test_the_words_for_matches_are_in_their_order() -> None:
    hits = FakeNames({ItemId(p): p for p in ("plan.md", "plans.md", "a plan.md", "aplan.md")}).named("plan", 9)
    assert all(a.match <= b.match for a, b in itertools.pairwise(hits))
