"""Items: the files of the workspace as the library knows them."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import now_text
from kb.adapters.sqlite.ledger import coverage_from, coverage_json
from kb.adapters.sqlite.purge import SLICE, let_others_write
from kb.adapters.sqlite.withdrawal import log_text, withdraw
from kb.domain.files import FileIdentity, ScannedFile
from kb.domain.items import Item, ItemState
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ItemId

ITEM_COLUMNS = (
    "i.item_id, i.workspace_path, i.disk_name, i.size, i.mtime_ns, i.file_id, i.state, i.reason, i.asset_id,"
    " i.checksum, i.active_doc_id, i.fingerprint, i.coverage_json, i.included"
)
"""The columns `item_from` reads, in its order."""

_PASSAGES = "SELECT sum(chunk_count) FROM document_versions WHERE item_id = ? AND state IN ('indexing','ready')"
_STATES = {state.value: state for state in ItemState}
_SAVE = """
INSERT INTO items (item_id, workspace_path, disk_name, size, mtime_ns, file_id, state, reason, asset_id, checksum,
                   fingerprint, coverage_json, media_type, deleted_at, created_at, updated_at)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
ON CONFLICT (item_id) DO UPDATE SET
  workspace_path = excluded.workspace_path, disk_name = excluded.disk_name, size = excluded.size,
  mtime_ns = excluded.mtime_ns, file_id = excluded.file_id, state = excluded.state, reason = excluded.reason,
  asset_id = excluded.asset_id, checksum = excluded.checksum, fingerprint = excluded.fingerprint,
  coverage_json = excluded.coverage_json,
  media_type = coalesce(excluded.media_type, media_type), deleted_at = excluded.deleted_at,
  updated_at = excluded.updated_at
"""


def item_from(row: Sequence[Any]) -> Item:
    """Read a row of the columns `ITEM_COLUMNS`."""
    return Item(
        row[0],
        WorkspacePath(row[1]),
        row[2],
        FileIdentity(row[3], row[4], row[5]),
        _STATES[row[6]],
        row[7],
        row[8],
        row[9],
        row[10],
        row[11],
        coverage_from(row[12]),
        bool(row[13]),
    )


def put_item(connection: sqlite3.Connection, item: Item, media_type: str | None) -> None:
    """Add or replace an item, keeping its active document; whoever had its path before is hidden."""
    displaced = connection.execute(
        "SELECT item_id FROM items WHERE workspace_path = ? AND deleted_at IS NULL AND item_id <> ?",
        (item.path, item.item_id),
    ).fetchall()
    if displaced:
        hide_items(connection, [item_id for (item_id,) in displaced])
    moved = connection.execute(
        "SELECT active_doc_id FROM items WHERE item_id = ? AND workspace_path <> ? AND active_doc_id IS NOT NULL",
        (item.item_id, item.path),
    ).fetchone()
    if item.state is ItemState.DELETED:
        hide_items(connection, [item.item_id])
    now = now_text()
    values = (item.item_id, item.path, item.disk_name, *item.identity, item.state.value, item.reason, item.asset_id)
    deleted = now if item.state is ItemState.DELETED else None
    rest = (item.checksum, item.fingerprint, coverage_json(item.coverage), media_type, deleted, now, now)
    connection.execute(_SAVE, (*values, *rest))
    if moved:
        _log_again(connection, [moved[0]])


def hide_items(connection: sqlite3.Connection, item_ids: Iterable[str]) -> None:
    """Mark items deleted, their versions superseded, and withdraw their documents from the indexes."""
    now = now_text()
    for item_id in item_ids:
        connection.execute(
            "UPDATE items SET deleted_at = ?, updated_at = ?, state = 'deleted', active_doc_id = NULL"
            " WHERE item_id = ? AND deleted_at IS NULL",
            (now, now, item_id),
        )
        shown = connection.execute(
            "UPDATE document_versions SET state = 'superseded', superseded_at = ?"
            " WHERE item_id = ? AND state IN ('indexing','ready') RETURNING doc_id",
            (now, item_id),
        ).fetchall()
        withdraw(connection, [doc_id for (doc_id,) in shown])


def _log_again(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> None:
    # The text index holds the path of the item, which has just changed.
    log_text(connection, "remove", doc_ids)
    log_text(connection, "add", doc_ids)


class SqliteItemStore:
    """Wraps the library file: items."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def live_items(self) -> dict[WorkspacePath, Item]:
        """Return every item whose file was there at the last scan, by path."""
        rows = self._library.rows(f"SELECT {ITEM_COLUMNS} FROM items i WHERE i.deleted_at IS NULL")
        return {row[1]: item_from(row) for row in rows}

    def gone_items(self) -> dict[WorkspacePath, Item]:
        """Return, by path, the item whose file was there last and is gone now."""
        # Deleted items keep their row: rising times leave the last one under each path.
        sql = f"SELECT {ITEM_COLUMNS} FROM items i WHERE i.deleted_at IS NOT NULL ORDER BY i.deleted_at, i.item_id"
        return {row[1]: item_from(row) for row in self._library.rows(sql)}

    def save_item(self, item: Item) -> None:
        """Add or replace an item; its active document stays as stored."""
        with self._library.transaction() as connection:
            put_item(connection, item, None)

    def touch(self, files: Sequence[tuple[ItemId, ScannedFile]]) -> None:
        """Record new stat identities and paths on disk of items whose content is unchanged."""
        with self._library.transaction() as connection:
            moved = [
                (item_id, file.path, row[0])
                for item_id, file in files
                if (row := _other_path(connection, item_id, file.path)) is not None
            ]
            # Two files may have changed names with each other: all step aside before any takes its place.
            connection.executemany(
                "UPDATE items SET workspace_path = char(0) || item_id WHERE item_id = ?",
                ((item_id,) for item_id, _, _ in moved),
            )
            for item_id, path, _ in moved:
                rivals = connection.execute(
                    "SELECT item_id FROM items WHERE workspace_path = ? AND deleted_at IS NULL", (path,)
                ).fetchall()
                hide_items(connection, [rival for (rival,) in rivals if rival != item_id])
                connection.execute("UPDATE items SET workspace_path = ? WHERE item_id = ?", (path, item_id))
            now = now_text()
            connection.executemany(
                "UPDATE items SET disk_name = ?, size = ?, mtime_ns = ?, file_id = ?, updated_at = ?"
                " WHERE item_id = ? AND deleted_at IS NULL",
                ((file.disk_name, *file.identity, now, item_id) for item_id, file in files),
            )
            _log_again(connection, [doc_id for _, _, doc_id in moved if doc_id])

    def delete_items(self, item_ids: Sequence[ItemId]) -> None:
        """Hide items whose file is gone and log the removal of their index entries.

        Of many some go in each transaction: who else writes is not kept waiting, and a kill leaves the rest to the
        next run.
        """
        held: list[ItemId] = []
        passages = 0
        for item_id in item_ids:
            row = self._library.row(_PASSAGES, (item_id,))
            held.append(item_id)
            passages += 1 + ((row[0] if row else 0) or 0)
            if passages >= SLICE:
                self._hide(held)
                held, passages = [], 0
        self._hide(held)

    def include(self, item_id: ItemId, *, included: bool) -> None:
        """Take an item in or out, with what is inside it; its text stays, hidden by the gate."""
        with self._library.transaction() as connection:
            connection.execute(
                "UPDATE items SET included = ?1 WHERE deleted_at IS NULL AND (item_id = ?2 OR substr(workspace_path, 1,"
                " (SELECT length(workspace_path) + 2 FROM items WHERE item_id = ?2)) ="
                " (SELECT workspace_path || '!/' FROM items WHERE item_id = ?2))",
                (int(included), item_id),
            )

    def _hide(self, item_ids: Sequence[ItemId]) -> None:
        if item_ids:
            with self._library.transaction() as connection:
                hide_items(connection, item_ids)
            let_others_write()


def _other_path(connection: sqlite3.Connection, item_id: ItemId, path: WorkspacePath) -> tuple[str | None] | None:
    """Return the active document of a live item that is stored under another path."""
    row: tuple[str | None] | None = connection.execute(
        "SELECT active_doc_id FROM items WHERE item_id = ? AND workspace_path <> ? AND deleted_at IS NULL",
        (item_id, path),
    ).fetchone()
    return row
