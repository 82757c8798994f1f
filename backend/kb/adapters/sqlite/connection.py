"""The library file: opened once, one writer behind a lock, one reader per thread."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.migrate import Migration, known_migrations, migrate, refuse_newer, schema_version
from kb.domain.failures import StorageFailed

FILE_NAME = "kb.sqlite"

Row = tuple[Any, ...]

_BUSY_MS = 10_000
_LOG_FLAG_AT = 19
_WRITER_CACHE_KIB = 32_768
_LOG_PAGES = 4_000
"""Pages of the log, 16 MB, that are folded into the file at a time. At SQLite's 1,000 the pages of the indexes, which
every commit changes, come up so often that half as much again is written to the file."""
_READER_CACHE_KIB = 8_192


class Connection(sqlite3.Connection):
    """A connection that can be referred to weakly, which sqlite3's own cannot."""


class Connect(Protocol):
    """Opens a connection; tests give one that fails on purpose."""

    def __call__(self, database: str, **options: Any) -> Connection:  # noqa: ANN401 - sqlite3's own options
        """Return a new connection."""


class Library:
    """One library file.

    Writers take turns: `transaction()` holds the lock and commits at its end, and a transaction
    inside another on the same thread is part of it. Readers see the last commit.

    Args:
        folder: the data folder; made with mode 0700 when missing.
        migrations: those to run; tests give others.
        connect: opens connections.
        keeps_copy: a verified copy is kept in `backups` before a migration; not needed of what is a copy itself.
        wal: with a write-ahead log; where shared memory and locks do not hold, such as on a network drive, with a
            rollback journal instead.

    Raises:
        StorageFailed: the file is damaged, of another program or of a newer Kebab, or cannot be opened.
    """

    def __init__(
        self,
        folder: Path,
        *,
        migrations: Sequence[Migration] | None = None,
        connect: Connect | None = None,
        keeps_copy: bool = True,
        wal: bool = True,
    ) -> None:
        self.path = folder / FILE_NAME
        self._connect = connect or _connect
        self._lock = threading.RLock()
        self._depth = 0
        self._local = threading.local()
        self._readers: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._open = True
        self._keeps_copy = keeps_copy
        self._wal = wal
        self.revision = 0
        self._writer = self._prepare(folder, migrations if migrations is not None else known_migrations())

    def _prepare(self, folder: Path, migrations: Sequence[Migration]) -> Connection:
        with translated():
            _make_private(folder, self.path)
            if self.path.stat().st_size:
                self._look(migrations)
            writer = self._connect(str(self.path), factory=Connection, isolation_level=None, check_same_thread=False)
            try:
                writer.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
                self._set_journal(writer)
                # Acknowledged means committed, also when the power fails.
                writer.execute("PRAGMA synchronous = FULL")
                writer.execute("PRAGMA trusted_schema = OFF")
                writer.execute("PRAGMA temp_store = MEMORY")
                writer.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
                writer.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
                migrate(writer, self.path, migrations, keeps_copy=self._keeps_copy)
                writer.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                writer.close()
                raise
        return writer

    @property
    def journal_mode(self) -> str:
        """Return `wal` or `delete`."""
        row = self.row("PRAGMA journal_mode")
        return str(row[0]) if row else ""

    def _set_journal(self, writer: Connection) -> None:
        if self._wal:
            writer.execute("PRAGMA journal_mode = WAL")
            return
        # Alone, so that a log from a local disk is folded in without shared memory, which must not be used here.
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("PRAGMA locking_mode = NORMAL")
        writer.execute("SELECT count(*) FROM sqlite_master").fetchone()  # only now the lock is given back

    def _look(self, migrations: Sequence[Migration]) -> None:
        """Check the version without writing: switching to WAL would already touch a newer file."""
        # A log is only read through shared memory; without it the file alone says what it was at the last checkpoint.
        alone = "&immutable=1" if not self._wal and _has_log(self.path) else ""
        look = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro{alone}", uri=True)
        try:
            refuse_newer(schema_version(look), migrations)
        finally:
            look.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the writer; commit at the end, roll back when anything is raised.

        Raises:
            StorageFailed: SQLite refused; nothing of the transaction is kept.
        """
        with self._lock, translated():
            if self._depth == 0:
                self._writer.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield self._writer
                if self._depth == 1:
                    self._writer.execute("COMMIT")
                    self.revision += 1
            except BaseException:
                if self._depth == 1 and self._writer.in_transaction:
                    # After a full disk SQLite has already rolled back, or does so when the file is next opened.
                    with contextlib.suppress(sqlite3.Error):
                        self._writer.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query on this thread's reader."""
        with translated():
            return self.reader().execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query on this thread's reader."""
        with translated():
            found: Row | None = self.reader().execute(sql, parameters).fetchone()
            return found

    def reader(self) -> Connection:
        """Return this thread's reader."""
        reader: Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._new_reader()
        return reader

    @contextmanager
    def view(self) -> Iterator[Connection]:
        """Give a connection of its own on which every query sees the same moment."""
        with translated():
            view = self._new_reader()
            try:
                view.execute("BEGIN")
                yield view
            finally:
                view.close()

    def open_view(self) -> Connection:
        """As `view`, for readers that outlive the call; who opens it closes it."""
        view = self._new_reader()
        with translated():
            if not self._wal:
                # With a rollback journal a long reader keeps every writer waiting: it reads a copy instead.
                view = self._copied(view)
            view.execute("BEGIN")
        return view

    def _copied(self, source: Connection) -> Connection:
        folder = tempfile.TemporaryDirectory(prefix="snapshot-", dir=self.path.parent)
        copy = self._connect(
            str(Path(folder.name) / FILE_NAME), factory=Connection, isolation_level=None, check_same_thread=False
        )
        weakref.finalize(copy, folder.cleanup)
        with contextlib.closing(source):
            source.backup(copy)
        copy.execute("PRAGMA query_only = ON")
        self._readers.add(copy)
        return copy

    def _new_reader(self) -> Connection:
        with translated():
            if not self._open:
                raise sqlite3.ProgrammingError("closed")
            reader = self._connect(str(self.path), factory=Connection, isolation_level=None, check_same_thread=False)
            reader.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            reader.execute("PRAGMA query_only = ON")
            reader.execute("PRAGMA temp_store = MEMORY")
            reader.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
        self._readers.add(reader)
        return reader

    def vacuum(self) -> None:
        """Write the file anew without the room of removed rows; who reads goes on, who writes waits.

        Raises:
            StorageFailed: there is no room for the second file, or another process writes; all is as it was.
        """
        with self._lock, translated():
            self._writer.execute("VACUUM")
            # What old readers still see stays in the log; nobody waits for them to end.
            self._writer.execute("PRAGMA busy_timeout = 100")
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")

    def meta(self, key: str) -> str | None:
        """Return a value of schema_meta, such as `library_id` or `schema_version`."""
        row = self.row("SELECT value FROM schema_meta WHERE key = ?", (key,))
        return str(row[0]) if row else None

    def close(self) -> None:
        """Close every connection; the write-ahead log is folded into the file."""
        with self._lock:
            self._open = False
            for reader in list(self._readers):
                with contextlib.suppress(sqlite3.Error):
                    reader.close()
            with contextlib.suppress(sqlite3.Error):
                self._writer.execute("PRAGMA optimize")
            with contextlib.suppress(sqlite3.Error):
                self._writer.close()


def _has_log(file: Path) -> bool:
    """Return whether the header says that a write-ahead log belongs to the file."""
    with file.open("rb") as opened:
        return opened.read(_LOG_FLAG_AT + 1)[_LOG_FLAG_AT:] == b"\x02"


def _connect(database: str, **options: Any) -> Connection:  # noqa: ANN401
    connection: Connection = sqlite3.connect(database, **options)
    return connection


def _make_private(folder: Path, file: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        # SQLite gives its -wal and -shm files the mode of the main file.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        file.chmod(0o600)
    except OSError as error:
        raise StorageFailed(
            f"the data folder cannot be used: {error.strerror or 'no access'}",
            hint="check that the data folder exists and that you may read and write it",
        ) from error
