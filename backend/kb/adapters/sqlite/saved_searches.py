"""Kept searches as rows."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import datetime

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import now_text
from kb.domain.collections import name_key
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.ids import uuid7
from kb.domain.saved_searches import MOST_SEARCHES, SavedSearch


class SqliteSavedSearches:
    """Wraps the library file: kept searches."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def all(self) -> Sequence[SavedSearch]:
        """Return them by name."""
        rows = self._library.rows("SELECT name, request_json, created_at, updated_at FROM saved_searches")
        found = [
            SavedSearch(name, request, datetime.fromisoformat(created), datetime.fromisoformat(updated))
            for name, request, created, updated in rows
        ]
        return sorted(found, key=lambda one: (name_key(one.name), one.name))

    def save(self, name: str, request_json: str, *, replaces: bool) -> None:
        """Keep a search.

        Raises:
            Conflict: there is one of the name, and it is not to be replaced.
            InvalidInput: there are too many.
        """
        with self._library.transaction() as connection:
            key = name_key(name)
            if connection.execute("SELECT 1 FROM saved_searches WHERE name_key = ?", (key,)).fetchone():
                if not replaces:
                    raise Conflict(
                        "a search of this name is kept already", hint="choose another name, or say that it is replaced"
                    )
                connection.execute(
                    "UPDATE saved_searches SET name = ?, request_json = ?, updated_at = ? WHERE name_key = ?",
                    (name, request_json, now_text(), key),
                )
                return
            (count,) = connection.execute("SELECT count(*) FROM saved_searches").fetchone()
            if count >= MOST_SEARCHES:
                raise InvalidInput(f"{MOST_SEARCHES:,} searches are kept already", hint="forget one first")
            connection.execute(
                "INSERT INTO saved_searches VALUES (?,?,?,?,?,?)",
                (uuid7(time.time_ns() // 1_000_000, os.urandom(10)), name, key, request_json, now_text(), now_text()),
            )

    def forget(self, name: str) -> None:
        """Keep a search no longer.

        Raises:
            NotFound: none of this name is kept.
        """
        with self._library.transaction() as connection:
            gone = connection.execute("DELETE FROM saved_searches WHERE name_key = ?", (name_key(name),))
            if not gone.rowcount:
                raise NotFound("no search of this name is kept", hint="`kb search --saved` lists those that are")
