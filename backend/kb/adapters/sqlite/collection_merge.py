"""Collections and kept searches of another library, taken in where there are none of their names here."""

from __future__ import annotations

import sqlite3

_ARCHIVED = "archived_at IS NOT NULL"
_COLUMNS = (
    "collection_id, name, name_key, position, revision, archived_at, rules_json, chunking_json, retrieval_json,"
    " created_at, updated_at"
)
_INSERT = f"INSERT OR IGNORE INTO collections ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)"  # noqa: S608 - our own


def take_collections(view: sqlite3.Connection, connection: sqlite3.Connection) -> None:
    """Write collections that are not here behind those that are, with the items of theirs that are here.

    One whose id or shown name is here already stays as it is here. To be called when all items are taken in.
    """
    rows = view.execute(f"SELECT {_COLUMNS} FROM collections ORDER BY {_ARCHIVED}, position").fetchall()  # noqa: S608
    (end,) = connection.execute(
        "SELECT coalesce(max(position), -1) + 1 FROM collections WHERE archived_at IS NULL"
    ).fetchone()
    for row in rows:
        # The index of shown names refuses a second one; it is ignored, as is a known id.
        taken = connection.execute(_INSERT, (*row[:3], end, *row[4:])).rowcount
        if not taken:
            continue
        end += row[5] is None
        members = view.execute("SELECT * FROM collection_items WHERE collection_id = ?", row[:1]).fetchall()
        connection.executemany(
            "INSERT OR IGNORE INTO collection_items SELECT ?1, ?2, ?3, ?4 WHERE ?2 IN (SELECT item_id FROM items)",
            members,
        )


def take_saved_searches(view: sqlite3.Connection, connection: sqlite3.Connection) -> None:
    """Write kept searches whose names are not here."""
    rows = view.execute("SELECT search_id, name, name_key, request_json, created_at, updated_at FROM saved_searches")
    connection.executemany("INSERT OR IGNORE INTO saved_searches VALUES (?,?,?,?,?,?)", rows.fetchall())
