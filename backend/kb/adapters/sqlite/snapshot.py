"""A library copied while it is in use, and library files that nobody works with looked at."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.integrity import SqliteIntegrity
from kb.adapters.sqlite.json_text import compact, now_text
from kb.adapters.sqlite.migrate import known_migrations, refuse_newer, schema_version
from kb.domain.backups import KeptFile, LibraryCounts, LibraryFacts
from kb.domain.catalogue import IntegrityReport
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled

_STEPS_A_GLANCE = 100_000
_UNIX = 2_440_587.5  # as a Julian day
_COUNTS = """
SELECT (SELECT count(*) FROM items WHERE deleted_at IS NULL), (SELECT count(*) FROM documents),
  (SELECT count(*) FROM chunks WHERE role <> 'parent'), (SELECT count(*) FROM vectors), (SELECT count(*) FROM answers)
"""
# Texts of times cannot be compared: their zones differ.
_CHANGED = """
SELECT max(coalesce((SELECT max(julianday(updated_at)) FROM items), 0),
  coalesce((SELECT max(julianday(created_at)) FROM document_versions), 0),
  coalesce((SELECT max(julianday(created_at)) FROM answers), 0))
"""
_ENDED = "UPDATE jobs SET status = 'canceled', error_json = ?, finished_at = ? WHERE status IN ('pending','running')"
# What is text packs well; the rest is packed already.
_TEXTS = ("markdown", "text", "code", "html", "feed", "csv", "rtf", "notebook", "eml", "mbox")


class SqliteSnapshots:
    """Wraps the library file: a copy of one moment, made while others read and write."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def take(self, target: Path, should_stop: Callable[[], bool]) -> None:
        """Write the library as it is now into a new file; jobs that are under way count there as stopped.

        Raises:
            Cancelled: it was asked to stop.
            StorageFailed: SQLite or the disk refused.
        """
        source = sqlite3.connect(self._library.path, isolation_level=None)
        try:
            source.set_progress_handler(lambda: int(should_stop()), _STEPS_A_GLANCE)
            with translated():
                try:
                    source.execute("VACUUM INTO ?", (os.fspath(target),))
                except sqlite3.OperationalError as error:
                    if "interrupt" not in str(error):
                        raise
                    raise Cancelled("stopped; no backup was made") from error
        finally:
            source.close()
        target.chmod(0o600)
        with _writing(target) as copy:
            ended = compact({"code": "cancelled", "message": "a backup was made while it ran"})
            copy.execute(_ENDED, (ended, now_text()))


class LibraryFiles:
    """Looks at library files that nobody works with: in a backup, or where the lock is held."""

    def facts(self, file: Path) -> LibraryFacts:
        """Return what a library file says of itself.

        Raises:
            StorageFailed: it is of a newer program.
            Unreadable: it is no library of Kebab, or damaged.
        """
        with _reading(file) as view:
            version = schema_version(view)
            refuse_newer(version, known_migrations())
            if view.execute("SELECT 1 FROM sqlite_master WHERE type IN ('trigger','view')").fetchone():
                raise _damaged("the library in it does things of its own")
            (library_id,) = view.execute("SELECT value FROM schema_meta WHERE key = 'library_id'").fetchone()
            items, documents, passages, vectors, answers = view.execute(_COUNTS).fetchone()
            (day,) = view.execute(_CHANGED).fetchone()
            changed = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day - _UNIX) if day else None
            return LibraryFacts(
                str(library_id), version, changed, LibraryCounts(items, documents, passages, vectors, answers)
            )

    def kept_files(self, file: Path) -> Iterator[KeptFile]:
        """Yield the copies of originals a library refers to, by name."""
        with _reading(file) as view:
            rows = view.execute(
                "SELECT storage_path, checksum, media_type FROM assets WHERE storage_kind = 'copied' ORDER BY 1"
            )
            for path, checksum, media in rows:
                yield KeptFile(path, checksum, media in _TEXTS)

    def documents(self, file: Path) -> frozenset[str]:
        """Return the ids of the documents a library holds."""
        with _reading(file) as view:
            return frozenset(doc_id for (doc_id,) in view.execute("SELECT doc_id FROM documents"))

    def brought_up(self, folder: Path) -> IntegrityReport:
        """Bring the library in a folder to this program's schema, and check every part of it.

        Raises:
            StorageFailed: it cannot be opened.
        """
        # Without a log, which must not be on a network drive; nobody else works with it.
        library = Library(folder, keeps_copy=False, wal=False)
        try:
            return SqliteIntegrity(library).check(None)
        finally:
            library.close()


@contextmanager
def _reading(file: Path) -> Iterator[sqlite3.Connection]:
    try:
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as view:
            view.execute("PRAGMA trusted_schema = OFF")
            yield view
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise _damaged("the library in it is damaged") from error


@contextmanager
def _writing(file: Path) -> Iterator[sqlite3.Connection]:
    with translated(), contextlib.closing(sqlite3.connect(file, isolation_level=None)) as copy:
        # One file, without a log beside it.
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA synchronous = FULL")
        yield copy


def _damaged(message: str) -> Unreadable:
    return Unreadable(f"the backup cannot be used: {message}", hint="use another backup", reason="damaged")
