from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.migrate import Migration
from kb.domain.errors import Unreadable
from kb.domain.failures import StorageFailed
from tests.builders import an_item
from tests.contracts.library import Ports

SET = "INSERT OR REPLACE INTO settings VALUES (?, ?)"


def settings(library: Library) -> dict[str, str]:
    return dict(library.rows("SELECT key, value FROM settings"))


def test_only_the_owner_may_look_into_the_library(library: Library) -> None:
    with library.transaction() as connection:
        connection.execute(SET, ("a", "1"))
    assert stat.S_IMODE(library.path.parent.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in library.path.parent.iterdir()}
    assert modes == {"kb.sqlite": 0o600, "kb.sqlite-wal": 0o600, "kb.sqlite-shm": 0o600}


def test_acknowledged_means_committed_and_rows_belong_to_something(library: Library) -> None:
    with library.transaction() as connection:
        values = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert values == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}
    with pytest.raises(StorageFailed, match="refused a request"), library.transaction() as connection:
        connection.execute("INSERT INTO document_tags VALUES ('nothing', 'tag')")


def set_and_stumble(library: Library) -> None:
    with library.transaction() as connection:
        connection.execute(SET, ("a", "1"))
        raise RuntimeError


def set_and_stumble_outside(library: Library) -> None:
    with library.transaction():
        with library.transaction() as connection:
            connection.execute(SET, ("a", "1"))
        raise RuntimeError


@pytest.mark.parametrize("fails", [set_and_stumble, set_and_stumble_outside])
def test_a_transaction_that_fails_leaves_nothing(library: Library, fails: Callable[[Library], None]) -> None:
    with pytest.raises(RuntimeError):
        fails(library)
    assert settings(library) == {}
    with library.transaction() as connection:
        connection.execute(SET, ("b", "2"))
    assert settings(library) == {"b": "2"}


def test_readers_see_the_last_commit_and_writers_take_turns(library: Library) -> None:
    def add(number: int) -> None:
        for step in range(20):
            with library.transaction() as connection:
                (count,) = connection.execute("SELECT count(*) FROM settings").fetchone()
                connection.execute(SET, (f"{number}-{step}", str(count)))
            assert settings(library)[f"{number}-{step}"] == str(count)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, settings(library).values())) == list(range(80))


def test_a_view_stays_at_its_moment(library: Library) -> None:
    with library.view() as view:
        view.execute("SELECT count(*) FROM settings").fetchone()
        with library.transaction() as connection:
            connection.execute(SET, ("a", "1"))
        assert view.execute("SELECT count(*) FROM settings").fetchone() == (0,)
    assert settings(library) == {"a": "1"}


def test_a_reader_cannot_write(library: Library) -> None:
    with pytest.raises(StorageFailed):
        library.rows("DELETE FROM settings")


def test_a_full_disk_says_so_and_keeps_what_was_there(library: Library) -> None:
    with library.transaction() as connection:
        connection.execute(SET, ("a", "1"))
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    with library.transaction() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageFailed, match="disk is full") as caught, library.transaction() as connection:
        connection.execute(SET, ("b", "x" * 1_000_000))
    assert "free some space" in caught.value.hint
    assert settings(library) == {"a": "1"}
    with library.transaction() as connection:
        connection.execute("PRAGMA max_page_count = 1073741823")
    with library.transaction() as connection:
        connection.execute(SET, ("b", "x" * 1_000_000))
    assert list(settings(library)) == ["a", "b"]


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(StorageFailed, match="damaged") as caught:
        Library(tmp_path)
    assert "backup" in caught.value.hint


def test_damage_found_while_reading_says_so(tmp_path: Path) -> None:
    library = Library(tmp_path)
    with library.transaction() as connection:
        connection.executemany(SET, ((str(number), "x" * 500) for number in range(500)))
    library.close()
    data = bytearray(library.path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    library.path.write_bytes(data)
    with pytest.raises(StorageFailed, match="damaged"):
        settings(Library(tmp_path))


def test_damage_in_a_name_of_the_schema_says_so(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.close()
    library.path.write_bytes(library.path.read_bytes().replace(b"document_tags", b"\xd3ocument_tags"))
    with pytest.raises(StorageFailed, match="damaged"):
        Library(tmp_path)


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "kb.sqlite")
    other.execute("CREATE TABLE things (name TEXT)")
    other.close()
    before = (tmp_path / "kb.sqlite").read_bytes()
    with pytest.raises(StorageFailed, match="not a library of Kebab"):
        Library(tmp_path)
    assert (tmp_path / "kb.sqlite").read_bytes() == before


def test_a_newer_library_is_refused_and_left_untouched(tmp_path: Path) -> None:
    library = Library(tmp_path)
    with library.transaction() as connection:
        connection.execute("UPDATE schema_meta SET value = '99' WHERE key = 'schema_version'")
    library.close()
    before = library.path.read_bytes()
    with pytest.raises(StorageFailed, match=r"newer Kebab \(schema 99; this program knows 1\)") as caught:
        Library(tmp_path, migrations=[Migration(1, "first", "")])
    assert caught.value.hint == "update Kebab; the library was left untouched"
    assert library.path.read_bytes() == before


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageFailed, match="data folder cannot be used"):
        Library(tmp_path / "file" / "data")


def test_a_name_that_no_text_can_hold_costs_that_item_only(ports: Ports) -> None:
    with pytest.raises(Unreadable, match="surrogate"):
        ports.items.save_item(an_item("bad\udcff.md", content=b"x"))
    ports.items.save_item(an_item("good.md"))
    assert list(ports.items.live_items()) == ["good.md"]


def test_a_closed_library_says_so_instead_of_opening_again(tmp_path: Path) -> None:
    library = Library(tmp_path)
    settings(library)
    library.close()
    with pytest.raises(StorageFailed):
        settings(library)
    assert [path.name for path in tmp_path.iterdir()] == ["kb.sqlite"]
