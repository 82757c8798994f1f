from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.migrate import Migration, known_migrations
from kb.domain.failures import StorageFailed
from kb.domain.ids import content_hash
from tests.fixtures.first_library import fill
from tests.logical_state import logical_state

GOLDEN = Path(__file__).parent / "golden"
FIRST, SECOND = (Path(__file__).parents[3] / "fixtures" / f"library-v{number}.sqlite" for number in (1, 2))
ADD = Migration(
    len(known_migrations()) + 1, "add a table", "CREATE TABLE more (name TEXT); -- a remark; with a semicolon\n"
)
BROKEN = Migration(
    len(known_migrations()) + 2, "broken", "CREATE TABLE more_still (name TEXT);\nINSERT INTO nowhere VALUES (1);\n"
)


def schema(library: Library) -> str:
    rows = library.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")
    return "".join(f"{sql};\n" for (sql,) in rows if not sql.startswith("CREATE TABLE sqlite_"))


def kept_first_library(folder: Path, kept: Path = FIRST) -> Path:
    folder.mkdir()
    shutil.copy(kept, folder / "kb.sqlite")
    return folder


def test_the_schema_is_the_recorded_one(library: Library) -> None:
    recorded = (GOLDEN / "schema.sql").read_text(encoding="utf-8")
    assert schema(library) == recorded, "the DDL changed: add a migration, then record the new golden/schema.sql"


def test_a_migration_that_was_released_never_changes() -> None:
    recorded = json.loads((GOLDEN / "migrations.json").read_text(encoding="utf-8"))
    hashes = {str(step.number): content_hash(step.sql.encode()) for step in known_migrations()}
    assert hashes == recorded, "add a new migration and record its hash; never edit one that libraries have had"


def test_migrations_are_numbered_without_gaps() -> None:
    assert [step.number for step in known_migrations()] == list(range(1, len(known_migrations()) + 1))


@pytest.mark.parametrize("kept", [FIRST, SECOND])
def test_an_early_library_becomes_one_of_today(library: Library, tmp_path: Path, kept: Path) -> None:
    fill(library)
    migrated = Library(kept_first_library(tmp_path / "first", kept))
    try:
        assert schema(migrated) == schema(library)
        assert logical_state(migrated.reader()) == logical_state(library.reader())
        assert SqliteIntegrity(migrated).check(None).problems == ()
        assert migrated.meta("library_id") != library.meta("library_id")
    finally:
        migrated.close()


def test_every_migration_is_written_down(tmp_path: Path) -> None:
    library = Library(tmp_path, migrations=[*known_migrations(), ADD])
    assert library.rows("SELECT id, description FROM migrations ORDER BY id") == [
        (1, "init"),
        (2, "coverage and masking"),
        (3, "durable work"),
        (4, "retrieval"),
        (5, "add a table"),
    ]
    assert library.meta("schema_version") == "5"
    library.close()


def test_a_migration_that_fails_on_the_copy_leaves_the_library_as_it_was(tmp_path: Path) -> None:
    folder = kept_first_library(tmp_path / "first")
    before = (folder / "kb.sqlite").read_bytes()
    with pytest.raises(StorageFailed, match="failed on a copy") as caught:
        Library(folder, migrations=[*known_migrations(), ADD, BROKEN])
    assert "left untouched" in caught.value.hint
    library = sqlite3.connect(folder / "kb.sqlite")
    tables = {name for (name,) in library.execute("SELECT name FROM sqlite_master")}
    library.close()
    assert not {"more", "more_still"} & tables
    assert [path.name for path in folder.iterdir()] == ["kb.sqlite"]
    assert (folder / "kb.sqlite").read_bytes()[100:] == before[100:]


def test_a_migration_that_orphans_rows_is_caught_on_the_copy(tmp_path: Path) -> None:
    orphan = Migration(len(known_migrations()) + 1, "orphan", "DELETE FROM assets;")
    with pytest.raises(StorageFailed, match="failed its check on a copy"):
        Library(kept_first_library(tmp_path / "first"), migrations=[*known_migrations(), orphan])


def copies_in(folder: Path) -> list[Path]:
    return sorted((folder / "backups").glob("before-schema-*.sqlite"))


def test_a_copy_of_the_library_as_it_was_stays_after_a_migration(tmp_path: Path) -> None:
    folder = kept_first_library(tmp_path / "first", SECOND)
    before = logical_state(sqlite3.connect(folder / "kb.sqlite"))
    Library(folder).close()
    (copy,) = copies_in(folder)
    assert copy.name.startswith("before-schema-4-")
    assert copy.stat().st_mode & 0o777 == 0o600
    view = sqlite3.connect(copy)
    assert logical_state(view) == before
    assert view.execute("SELECT value FROM schema_meta WHERE key = 'schema_version'").fetchone() == ("2",)
    view.close()


def test_the_last_three_copies_stay(tmp_path: Path) -> None:
    folder = kept_first_library(tmp_path / "first")
    steps = list(known_migrations())
    for number in range(5):
        Library(folder, migrations=steps).close()
        more = f"CREATE TABLE more_{number} (name TEXT);"
        steps.append(Migration(len(steps) + 1, "add a table", more))
    assert [copy.name.split("-")[2] for copy in copies_in(folder)] == ["6", "7", "8"]


def test_a_library_that_needs_no_migration_is_not_copied(tmp_path: Path) -> None:
    Library(tmp_path).close()
    Library(tmp_path).close()
    assert copies_in(tmp_path) == []


def test_a_copy_that_cannot_be_kept_leaves_the_library_as_it_was(tmp_path: Path) -> None:
    folder = kept_first_library(tmp_path / "first")
    before = (folder / "kb.sqlite").read_bytes()
    (folder / "backups").write_text("in the way")
    with pytest.raises(StorageFailed, match="cannot be kept"):
        Library(folder)
    assert (folder / "kb.sqlite").read_bytes()[100:] == before[100:]


def test_opening_again_runs_nothing(tmp_path: Path) -> None:
    Library(tmp_path).close()
    again = Library(tmp_path)
    assert again.rows("SELECT count(*) FROM migrations") == [(len(known_migrations()),)]
    again.close()


def test_a_migration_cut_off_in_a_statement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="middle of a statement"):
        Library(tmp_path, migrations=[Migration(1, "cut", "CREATE TABLE a (b TEXT);\nCREATE TABLE c (d")])
