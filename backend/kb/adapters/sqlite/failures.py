"""sqlite3's errors as ours: the fact and the remedy, without paths or content."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from kb.domain.errors import KebabError, Unreadable
from kb.domain.failures import StorageFailed

_PRIMARY = 0xFF
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FACTS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full; what was committed before is kept",
        "free some space and run the same command again",
    ),
    sqlite3.SQLITE_READONLY: (
        "the library file may not be written",
        "check the permissions of the data folder",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the library file cannot be opened",
        "check that the data folder exists and that you may read and write it",
    ),
    sqlite3.SQLITE_BUSY: (
        "the library file is in use by another program",
        "close other programs that have kb.sqlite open and try again",
    ),
    sqlite3.SQLITE_IOERR: (
        "reading or writing the library file failed",
        "check the disk, then run `kb doctor`",
    ),
}


def storage_failed(error: sqlite3.Error) -> StorageFailed:
    """Return what happened, as an error of ours."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    if code in _DAMAGED or "not a database" in str(error) or "Could not decode" in str(error):
        return _damaged()
    if code in _FACTS:
        message, hint = _FACTS[code]
        return StorageFailed(message, hint=hint)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return StorageFailed(f"the library refused a request ({name})", hint="run `kb doctor`; nothing was changed")


def _damaged() -> StorageFailed:
    return StorageFailed(
        "the library file is damaged",
        hint="restore kb.sqlite from a backup, or move it away and ingest again; the originals are untouched",
    )


@contextmanager
def translated() -> Iterator[None]:
    """Let nothing of sqlite3 out.

    Raises:
        StorageFailed: for every error of sqlite3.
        Unreadable: a text that no file of ours can hold.
    """
    try:
        yield
    except KebabError:
        raise
    except sqlite3.Error as error:
        raise storage_failed(error) from error
    except UnicodeDecodeError as error:  # names of the schema that are not UTF-8 any more
        raise _damaged() from error
    except UnicodeEncodeError as error:
        raise Unreadable("a text or name holds half a surrogate pair", reason="undecodable") from error
