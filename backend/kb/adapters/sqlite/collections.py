"""Collections as rows: every change says which revision it was made for, and is one transaction."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.failures import translated
from kb.adapters.sqlite.json_text import compact, now_text
from kb.adapters.sqlite.scope import Fragment, collections_of, in_collection, stored_collections, teach_globs
from kb.domain.catalogue import Page
from kb.domain.collection_settings import Settings
from kb.domain.collections import MOST_COLLECTIONS, Collection, CollectionItem, CollectionRule, name_key
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.ids import uuid7

_SHOWN = "i.deleted_at IS NULL AND i.included = 1"
_INSERT = """
INSERT INTO collections (collection_id, name, name_key, position, rules_json, chunking_json, retrieval_json, created_at,
  updated_at) VALUES (?,?,?,?,?,?,?,?,?)
"""
_CHOOSE = "choose another name, or rename or archive the other one first"
_RENAME = "rename the other one, or this one, and restore it then"


class SqliteCollections:
    """Wraps the library file: collections and what people put into them."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def all(self, *, archived: bool = False) -> Sequence[Collection]:
        """Return those that are shown by position, or those that are archived."""
        with translated():
            return stored_collections(self._library.reader(), f"(k.archived_at IS NOT NULL) = {int(archived)}")

    def get(self, collection_id: str) -> Collection | None:
        """Return one, archived or not."""
        with translated():
            return _one(self._library.reader(), collection_id)

    def of(self, item_id: str) -> Sequence[Collection]:
        """Return those that an item is in, archived ones left out, by position."""
        with translated():
            return collections_of(self._library.reader(), item_id)

    def create(
        self, name: str, rules: Sequence[CollectionRule], chunking: Settings | None, retrieval: Settings | None
    ) -> Collection:
        """Add one behind the others.

        Raises:
            Conflict: another that is shown has the name.
            InvalidInput: there are too many.
        """
        made = uuid7(time.time_ns() // 1_000_000, os.urandom(10))
        with self._library.transaction() as connection:
            _refuse_taken(connection, name, made)
            settings = (_json(chunking), _json(retrieval))
            values = (made, name, name_key(name), _end(connection), _rules_json(rules), *settings)
            connection.execute(_INSERT, (*values, now_text(), now_text()))
            return _required(connection, made)

    def save(self, changed: Collection, seen: int) -> Collection:
        """Give one the name, rules and settings of `changed`.

        Args:
            changed: what it is to be.
            seen: the revision that the person saw.

        Raises:
            Conflict: it is another one now, or another collection has the name.
            NotFound: it is gone.
        """
        with self._library.transaction() as connection:
            before = _expected(connection, changed.collection_id, seen)
            if before.archived_at is None:
                _refuse_taken(connection, changed.name, changed.collection_id)
            connection.execute(
                "UPDATE collections SET name = ?, name_key = ?, rules_json = ?, chunking_json = ?, retrieval_json = ?"
                " WHERE collection_id = ?",
                (
                    changed.name,
                    name_key(changed.name),
                    _rules_json(changed.rules),
                    _json(changed.chunking),
                    _json(changed.retrieval),
                    changed.collection_id,
                ),
            )
            return _risen(connection, changed.collection_id)

    def archive(self, collection_id: str, seen: int, *, archived: bool) -> Collection:
        """Take one out of all lists and scopes, or put it back behind the others.

        Raises:
            Conflict: its revision is another one now, or its name was taken meanwhile.
            NotFound: it is gone.
        """
        with self._library.transaction() as connection:
            before = _expected(connection, collection_id, seen)
            if (before.archived_at is not None) == archived:
                return before
            position = before.position
            if not archived:
                _refuse_taken(connection, before.name, collection_id, hint=_RENAME)
                position = _end(connection)
            connection.execute(
                "UPDATE collections SET archived_at = ?, position = ? WHERE collection_id = ?",
                (now_text() if archived else None, position, collection_id),
            )
            _number(connection, [one.collection_id for one in stored_collections(connection)])
            return _risen(connection, collection_id)

    def move(self, collection_id: str, seen: int, position: int) -> Collection:
        """Put one at a place among those that are shown; beyond the last is the last.

        The others make room and keep their revisions: nothing of what a person may be editing there changes.

        Raises:
            Conflict: its revision is another one now, or it is archived.
            NotFound: it is gone.
        """
        with self._library.transaction() as connection:
            before = _expected(connection, collection_id, seen)
            if before.archived_at is not None:
                raise Conflict("an archived collection has no place", hint="restore it first")
            others = [one.collection_id for one in stored_collections(connection) if one.collection_id != collection_id]
            others.insert(position, collection_id)
            _number(connection, others)
            return _risen(connection, collection_id)

    def put(self, collection_id: str, seen: int, item_ids: Sequence[str], *, added: bool) -> Collection:
        """Put items in by hand, or leave them out though rules match them.

        Raises:
            Conflict: its revision is another one now.
            NotFound: it is gone.
        """
        kind = "added" if added else "left_out"
        with self._library.transaction() as connection:
            _expected(connection, collection_id, seen)
            connection.executemany(
                "INSERT INTO collection_items VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET kind = ?3",
                [(collection_id, item_id, kind, now_text()) for item_id in item_ids],
            )
            return _risen(connection, collection_id)

    def items(self, collection_id: str, after: str | None = None, limit: int = 100) -> Page[CollectionItem]:
        """Return what one holds, by path; files that are gone or taken out of the library are left out.

        Raises:
            NotFound: it is gone.
        """
        with translated():
            reader = self._library.reader()
            condition, values = _within(reader, collection_id)
            rows = reader.execute(
                "SELECT i.item_id, i.workspace_path, i.state, EXISTS (SELECT 1 FROM collection_items m WHERE"
                " m.collection_id = ? AND m.item_id = i.item_id AND m.kind = 'added') FROM items i"
                f" WHERE {_SHOWN} AND {condition} AND i.workspace_path > ? ORDER BY i.workspace_path LIMIT ?",
                (collection_id, *values, after or "", limit + 1),
            ).fetchall()
        shown = tuple(CollectionItem(item_id, path, state, bool(hand)) for item_id, path, state, hand in rows[:limit])
        return Page(shown, shown[-1].path if len(rows) > limit else None)

    def count(self, collection_id: str) -> int:
        """Return how many files one holds, as `items` shows them.

        Raises:
            NotFound: it is gone.
        """
        with translated():
            reader = self._library.reader()
            condition, values = _within(reader, collection_id)
            (count,) = reader.execute(f"SELECT count(*) FROM items i WHERE {_SHOWN} AND {condition}", values).fetchone()
            return int(count)


def _within(reader: sqlite3.Connection, collection_id: str) -> Fragment:
    teach_globs(reader)
    return in_collection(_required(reader, collection_id))


def _one(connection: sqlite3.Connection, collection_id: str) -> Collection | None:
    # By its id, which is a key: the list of all is read for none but lists.
    found = stored_collections(connection, "k.collection_id = ?", (collection_id,))
    return found[0] if found else None


def _required(connection: sqlite3.Connection, collection_id: str) -> Collection:
    found = _one(connection, collection_id)
    if found is None:
        raise NotFound("there is no such collection", hint="`kb collections list` lists them")
    return found


def _expected(connection: sqlite3.Connection, collection_id: str, seen: int) -> Collection:
    found = _required(connection, collection_id)
    if found.revision != seen:
        raise Conflict(
            f"the collection was changed meanwhile: it is revision {found.revision} now, not {seen}",
            hint=f"look at it again, and make the change for revision {found.revision}",
        )
    return found


def _refuse_taken(connection: sqlite3.Connection, name: str, own_id: str, hint: str = _CHOOSE) -> None:
    taken = connection.execute(
        "SELECT 1 FROM collections WHERE name_key = ? AND archived_at IS NULL AND collection_id <> ?",
        (name_key(name), own_id),
    ).fetchone()
    if taken:
        raise Conflict("another collection has this name, or one that reads the same", hint=hint)


def _risen(connection: sqlite3.Connection, collection_id: str) -> Collection:
    connection.execute(
        "UPDATE collections SET revision = revision + 1, updated_at = ? WHERE collection_id = ?",
        (now_text(), collection_id),
    )
    return _required(connection, collection_id)


def _end(connection: sqlite3.Connection) -> int:
    """Return the place behind the last that is shown."""
    (count,) = connection.execute("SELECT count(*) FROM collections WHERE archived_at IS NULL").fetchone()
    if count >= MOST_COLLECTIONS:
        raise InvalidInput(f"there are {MOST_COLLECTIONS:,} collections already", hint="archive one first")
    return int(count)


def _number(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    connection.executemany(
        "UPDATE collections SET position = ? WHERE collection_id = ?",
        [(position, collection_id) for position, collection_id in enumerate(ids)],
    )


def _rules_json(rules: Sequence[CollectionRule]) -> str:
    return compact([{"kind": rule.kind.value, "value": rule.value} for rule in rules])


def _json(settings: Settings | None) -> str | None:
    return None if settings is None else compact(dict(settings))
