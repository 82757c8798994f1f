"""What a person expected to find, and which rule of the gate hides it."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import unicodedata

from kb.adapters.sqlite.connection import Library, Row
from kb.adapters.sqlite.gate import VISIBLE_CHUNKS
from kb.domain.embeddings import ChunkKey
from kb.domain.expected import Expected

_ITEM = "i.item_id, i.workspace_path, i.state, i.reason, i.included, i.archived_at, i.deleted_at, i.active_doc_id"
_LIVE_FIRST = "ORDER BY i.deleted_at IS NOT NULL, i.item_id LIMIT 1"


class SqliteExpected:
    """Wraps the library file."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def look(self, what: str) -> Expected | None:
        """Return what a path, item id, document id or chunk id means, None when nothing has this name."""
        name = unicodedata.normalize("NFC", what)
        item = self._library.row(
            f"SELECT {_ITEM} FROM items i WHERE i.item_id = ? OR i.workspace_path = ? {_LIVE_FIRST}", (name, name)
        )
        if item is not None:
            return self._item(item, doc_id=item[7])
        chunk = self._library.row(
            "SELECT chunk_key, chunk_id, doc_id, enabled, role FROM chunks WHERE chunk_id = ?", (name,)
        )
        doc_id = chunk[2] if chunk else name
        item = self._library.row(
            f"SELECT {_ITEM} FROM items i WHERE i.item_id IN (SELECT item_id FROM document_versions WHERE doc_id = ?)"
            f" OR i.active_doc_id = ? {_LIVE_FIRST}",
            (doc_id, doc_id),
        )
        return None if item is None else self._item(item, doc_id=doc_id, chunk=chunk)

    def _item(self, item: Row, *, doc_id: str | None, chunk: Row | None = None) -> Expected:
        _, path, state, reason, *_ = item
        chunks = [chunk] if chunk else []
        if chunk is None and doc_id is not None:
            chunks = self._library.rows(
                "SELECT chunk_key, chunk_id, doc_id, enabled, role FROM chunks WHERE doc_id = ? AND role <> 'parent'",
                (doc_id,),
            )
        keys = {ChunkKey(row[0]): str(row[1]) for row in chunks}
        seen = self._seen(doc_id, chunk)
        passages = {key: name for key, name in keys.items() if key in seen} or keys
        return Expected(path, state, reason, passages, None if seen else self._rule(item, doc_id, chunks))

    def _seen(self, doc_id: str | None, chunk: Row | None) -> set[ChunkKey]:
        if doc_id is None:
            return set()
        sql = f"SELECT c.chunk_key FROM {VISIBLE_CHUNKS} AND c.doc_id = ?"
        rows = self._library.rows(sql, (doc_id,))
        return {ChunkKey(row[0]) for row in rows if chunk is None or row[0] == chunk[0]}

    def _rule(self, item: Row, doc_id: str | None, chunks: list[Row]) -> str:
        _, _, _, _, included, archived_at, deleted_at, active = item
        privacy = self._library.row("SELECT privacy_state FROM documents WHERE doc_id = ?", (doc_id,))
        rules = (
            ("deleted", deleted_at is not None),
            ("removed", not included),
            ("archived", archived_at is not None),
            ("masking", privacy is not None and privacy[0] != "current"),
            ("older_version", active is not None and doc_id != active),
            ("parent", bool(chunks) and all(row[4] == "parent" for row in chunks)),
            ("disabled", bool(chunks) and not any(row[3] for row in chunks)),
        )
        return next((name for name, holds in rules if holds), "not_ready")
