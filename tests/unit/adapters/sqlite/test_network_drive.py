"""Where locks and shared memory do not hold, the library keeps a rollback journal."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import FILE_NAME, Library
from kb.adapters.sqlite.snapshot import LibraryFiles
from kb.domain.failures import StorageFailed

SET = "INSERT OR REPLACE INTO settings VALUES (?, ?)"


def names(folder: Path) -> set[str]:
    """The files of a data folder."""
    return {path.name for path in folder.iterdir()}


def test_it_never_has_a_write_ahead_log(tmp_path: Path) -> None:
    library = Library(tmp_path, wal=False)
    with library.transaction() as connection:
        connection.execute(SET, ("a", "1"))
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert not {f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"} & names(tmp_path)
    assert library.journal_mode == "delete"
    library.close()


def test_a_log_brought_along_from_a_local_disk_is_folded_in(tmp_path: Path) -> None:
    library = Library(tmp_path / "local")
    with library.transaction() as connection:
        connection.execute(SET, ("a", "1"))
    moved = tmp_path / "network"
    moved.mkdir()
    for end in ("", "-wal"):
        (moved / f"{FILE_NAME}{end}").write_bytes((tmp_path / "local" / f"{FILE_NAME}{end}").read_bytes())
    library.close()
    there = Library(moved, wal=False)
    assert there.rows("SELECT key, value FROM settings") == [("a", "1")]
    assert (there.journal_mode, names(moved)) == ("delete", {FILE_NAME})
    there.close()


def test_a_library_of_a_newer_program_is_refused_there_too(tmp_path: Path) -> None:
    library = Library(tmp_path)
    with library.transaction() as connection:
        connection.execute("UPDATE schema_meta SET value = '999' WHERE key = 'schema_version'")
    library.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(StorageFailed, match="newer Kebab"):
        Library(tmp_path, wal=False)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_a_long_reader_keeps_no_writer_waiting_and_sees_its_own_moment(tmp_path: Path) -> None:
    library = Library(tmp_path, wal=False)
    view = library.open_view()
    with library.transaction() as connection:
        connection.execute(SET, ("a", "1"))
    assert view.execute("SELECT count(*) FROM settings").fetchone() == (0,)
    view.close()
    del view
    gc.collect()
    assert library.rows("SELECT count(*) FROM settings") == [(1,)]
    library.close()
    assert names(tmp_path) == {FILE_NAME}


def test_back_on_a_local_disk_it_has_a_log_again(tmp_path: Path) -> None:
    Library(tmp_path, wal=False).close()
    library = Library(tmp_path)
    assert library.journal_mode == "wal"
    library.close()


def test_a_library_out_of_a_backup_is_looked_at_without_a_log(tmp_path: Path) -> None:
    Library(tmp_path, wal=False).close()
    LibraryFiles().brought_up(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes()[18:20] == b"\x01\x01"
