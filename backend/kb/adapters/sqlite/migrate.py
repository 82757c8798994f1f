"""Migrations: numbered SQL files, forward only, each tried on a copy first."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from kb.domain.failures import StorageFailed
from kb.domain.ids import uuid7

_NAME = re.compile(r"V(\d{3})__(\w+)\.sql\Z")
_COPIES_KEPT = 3
_META = """
CREATE TABLE IF NOT EXISTS schema_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS migrations (
  id INTEGER PRIMARY KEY, applied_at TEXT NOT NULL, description TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number, what it is about, its SQL."""

    number: int
    description: str
    sql: str


def known_migrations() -> tuple[Migration, ...]:
    """Return the migrations of this program, by rising number."""
    folder = files(__package__) / "migrations"
    found = []
    for entry in folder.iterdir():
        match = _NAME.match(entry.name)
        if match:
            sql = entry.read_text(encoding="utf-8")
            found.append(Migration(int(match[1]), match[2].replace("_", " "), sql))
    return tuple(sorted(found, key=lambda migration: migration.number))


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration a database has had, 0 for an empty one.

    Raises:
        StorageFailed: it is a database of another program.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    if "schema_meta" not in tables:
        raise StorageFailed(
            "kb.sqlite is not a library of Kebab",
            hint="move that file away, or choose another data folder",
        )
    row = connection.execute("SELECT value FROM schema_meta WHERE key = 'schema_version'").fetchone()
    return int(row[0]) if row else 0


def refuse_newer(version: int, migrations: Sequence[Migration]) -> None:
    """Stop before a database of a newer program is touched.

    Raises:
        StorageFailed: `version` is above the last migration.
    """
    newest = migrations[-1].number
    if version > newest:
        raise StorageFailed(
            f"this library was made by a newer Kebab (schema {version}; this program knows {newest})",
            hint="update Kebab; the library was left untouched",
        )


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration], *, keeps_copy: bool = True
) -> int:
    """Bring a database up to date; return how many migrations ran.

    An existing database is copied first and the migrations tried on another copy. The first, checked, stays in
    `backups` beside the database as `before-schema-<n>-<time>.sqlite`; the last three of them are kept.

    Args:
        connection: the database.
        path: its file.
        migrations: all there are.
        keeps_copy: whether the copy stays.

    Raises:
        StorageFailed: a migration fails on the copy; the database is as before.
    """
    version = schema_version(connection)
    refuse_newer(version, migrations)
    pending = [migration for migration in migrations if migration.number > version]
    if pending and version:
        # In the data folder: the copy holds the person's text, so it must not land in a shared temporary folder.
        with tempfile.TemporaryDirectory(prefix="migration-", dir=path.parent) as folder:
            copy = Path(folder) / path.name
            connection.execute("VACUUM INTO ?", (os.fspath(copy),))
            trial = Path(folder) / "trial.sqlite"
            shutil.copyfile(copy, trial)
            _rehearse(trial, pending)
            if keeps_copy:
                _keep(connection, copy, path.parent / "backups", pending[-1].number)
    for migration in pending:
        _run(connection, migration)
    return len(pending)


def _keep(connection: sqlite3.Connection, copy: Path, folder: Path, number: int) -> None:
    """Put a copy that says the same as the database among the backups, durably; older ones than the last three go.

    Raises:
        StorageFailed: the copy is damaged, or the disk refuses.
    """
    _compare(connection, copy)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        copy.chmod(0o600)
        handle = os.open(copy, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        copy.replace(folder / f"before-schema-{number}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.sqlite")
        kept = sorted(folder.glob("before-schema-*.sqlite"), key=lambda file: file.stat().st_mtime_ns)
        for old in kept[:-_COPIES_KEPT]:
            old.unlink()
    except OSError as error:
        raise StorageFailed(
            f"the copy made before a migration cannot be kept ({error.strerror})",
            hint="the library was left untouched; check the data folder and its free space",
        ) from error


def _compare(connection: sqlite3.Connection, copy: Path) -> None:
    with contextlib.closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as view:
        sound = view.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not sound or _row_counts(view) != _row_counts(connection):
            raise StorageFailed(
                "the copy made before a migration is not what the library is",
                hint="the library was left untouched; check the disk, then run `kb doctor`",
            )


def _row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - a name of the schema
        for name in tables
        if not name.startswith("sqlite_")
    }


def _rehearse(copy: Path, pending: Sequence[Migration]) -> None:
    with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as trial:
        try:
            for migration in pending:
                _run(trial, migration)
            problems = trial.execute("PRAGMA integrity_check").fetchall()
            orphans = trial.execute("PRAGMA foreign_key_check").fetchall()
            if problems != [("ok",)] or orphans:
                raise StorageFailed(
                    "a migration of the library failed its check on a copy",
                    hint="the library was left untouched; run `kb doctor` and report the version of Kebab",
                )
        except sqlite3.Error as error:
            raise StorageFailed(
                f"a migration of the library failed on a copy ({error})",
                hint="the library was left untouched; report this with the version of Kebab",
            ) from error


def _run(connection: sqlite3.Connection, migration: Migration) -> None:
    now = datetime.now(UTC)
    # Foreign keys can only be switched outside a transaction; a rebuilt table must not cascade away its children.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in (*_statements(_META), *_statements(migration.sql)):
            connection.execute(statement)
        connection.execute(
            "INSERT INTO migrations (id, applied_at, description) VALUES (?,?,?)",
            (migration.number, now.isoformat(), migration.description),
        )
        connection.execute(
            "INSERT OR REPLACE INTO schema_meta (key, value) VALUES ('schema_version', ?)", (str(migration.number),)
        )
        library_id = uuid7(int(now.timestamp() * 1000), os.urandom(10))
        connection.execute("INSERT OR IGNORE INTO schema_meta (key, value) VALUES ('library_id', ?)", (library_id,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def _statements(script: str) -> Iterator[str]:
    """Split a script: executescript() would commit the transaction it runs in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if any(line.strip() and not line.lstrip().startswith("--") for line in statement.splitlines()):
        raise StorageFailed("a migration file ends in the middle of a statement", hint="report this")
