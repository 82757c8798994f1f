"""Making a generation beside the serving one: its documents, texts without a vector, and what its indexes hold."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library, Row
from kb.adapters.sqlite.documents import chunking_key, put_chunks, put_document
from kb.adapters.sqlite.generations import ACTIVE_VERSION
from kb.adapters.sqlite.items import ITEM_COLUMNS, item_from
from kb.adapters.sqlite.layering import carry
from kb.adapters.sqlite.snapshots import entry_sql, last_position, text_snapshot_of, vector_snapshot_of
from kb.domain.chunks import Chunk, ChunkRole
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.generations import GenerationId, ShownItem
from kb.domain.index import TextSnapshot, VectorSnapshot
from kb.domain.items import MediaType, RawAsset
from kb.domain.recipes import AssetId, ItemId
from kb.ingest.library_ports import PendingText

OUTDATED = f"""
FROM items i CROSS JOIN document_versions v ON {ACTIVE_VERSION} CROSS JOIN documents d ON d.doc_id = v.doc_id
LEFT JOIN generation_documents g ON g.generation_id = ? AND g.item_id = i.item_id
LEFT JOIN documents e ON e.doc_id = g.doc_id
WHERE i.deleted_at IS NULL AND (e.doc_id IS NULL OR e.asset_id <> d.asset_id OR e.workspace_path <> d.workspace_path)
"""
"""FROM and WHERE over items i that show other bytes than a generation holds of them."""

_SHOWN = (
    f"SELECT {ITEM_COLUMNS}, a.asset_id, a.checksum, a.byte_len, a.media_type, a.storage_kind, a.storage_path,"
    f" a.discovered_at {OUTDATED.replace('WHERE', 'JOIN assets a ON a.asset_id = d.asset_id WHERE', 1)}"
    " ORDER BY i.workspace_path"
)
_ONE = (
    f"SELECT {ITEM_COLUMNS}, a.asset_id, a.checksum, a.byte_len, a.media_type, a.storage_kind, a.storage_path,"
    f" a.discovered_at FROM items i CROSS JOIN document_versions v ON {ACTIVE_VERSION}"
    " CROSS JOIN documents d ON d.doc_id = v.doc_id JOIN assets a ON a.asset_id = d.asset_id"
    " WHERE i.deleted_at IS NULL AND i.item_id = ?"
)
_TAKE_OVER = f"""
INSERT OR REPLACE INTO generation_documents
SELECT ?, i.item_id, i.checksum, v.doc_id, v.chunking_key, v.chunk_count, CASE WHEN ? THEN i.fingerprint END
FROM items i CROSS JOIN document_versions v ON {ACTIVE_VERSION} WHERE i.item_id = ?
"""
# Its indexes do not hold this yet, also when the process dies now.
_SPOIL = "UPDATE generations SET ready_at = NULL WHERE generation_id = ?"
_MEMBERS = (
    "generation_documents g CROSS JOIN items i ON i.item_id = g.item_id"
    " CROSS JOIN chunks c ON c.doc_id = g.doc_id AND c.chunking_key = g.chunking_key AND c.role <> 'parent'"
)
_LIVE = "i.deleted_at IS NULL AND i.active_doc_id IS NOT NULL"
_PENDING = f"""
SELECT c.text_hash, c.text FROM (
  SELECT c.char_count, c.text_hash, min(c.chunk_key) AS chunk_key FROM {_MEMBERS}
  WHERE g.generation_id = ?1 AND {_LIVE} AND NOT EXISTS (SELECT 1 FROM vectors x WHERE x.text_hash = c.text_hash
    AND x.model_key = (SELECT model_key FROM embedding_models WHERE fingerprint = ?2))
  GROUP BY c.char_count, c.text_hash ORDER BY c.char_count, c.text_hash LIMIT ?3) r
JOIN chunks c ON c.chunk_key = r.chunk_key ORDER BY r.char_count, r.text_hash
"""
_VECTORS = f"""
SELECT DISTINCT c.chunk_key, c.text_hash, x.vector, x.checksum, x.dimensions FROM {_MEMBERS}
CROSS JOIN vectors x ON x.text_hash = c.text_hash AND x.model_key = ?2
WHERE g.generation_id = ?1 AND {_LIVE}
"""


class SqliteGenerationBuild:
    """Wraps the library file: a generation that does not serve, while it is made."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def shown_item(self, item_id: str) -> ShownItem | None:
        """Return an item with the bytes its shown document was made of; None when it shows none."""
        row = self._library.row(_ONE, (item_id,))
        return _shown_item(row) if row else None

    def outdated(self, generation: GenerationId) -> Sequence[ShownItem]:
        """Return, by path, what is shown and not in the generation yet, or with other bytes."""
        return [_shown_item(row) for row in self._library.rows(_SHOWN, (generation,))]

    def take_over(self, generation: GenerationId, items: Sequence[ItemId], *, whole: bool = True) -> None:
        """Let the generation hold what these items show; not `whole` marks what should have been made anew."""
        with self._library.transaction() as connection:
            connection.execute(_SPOIL, (generation,))
            connection.executemany(_TAKE_OVER, ((generation, whole, item_id) for item_id in items))

    def stage(
        self,
        generation: GenerationId,
        shown: ShownItem,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        fingerprint: str,
    ) -> None:
        """Write a document and its chunks for the generation alone: no version of it is there to be seen.

        Raises:
            StorageFailed: two chunks have the same id, or SQLite refused; nothing is written.
        """
        with self._library.transaction() as connection:
            connection.execute(_SPOIL, (generation,))
            row = connection.execute("SELECT 1 FROM documents WHERE doc_id = ?", (document.doc_id,)).fetchone()
            if row is None:
                put_document(connection, shown.asset, document)
            chunking = chunking_key(connection, chunks)
            written = put_chunks(connection, chunks, chunking)
            if row is None and written != len(chunks):
                raise StorageFailed(
                    f"{len(chunks)} chunks of a document share {max(written, 0)} ids",
                    hint="this is a fault of Kebab: report it with the kind of file",
                )
            carry(connection, shown.item.item_id, document.doc_id, chunking)
            count = sum(chunk.role is not ChunkRole.PARENT for chunk in chunks)
            connection.execute(
                "INSERT OR REPLACE INTO generation_documents VALUES (?,?,?,?,?,?,?)",
                (generation, shown.item.item_id, shown.asset.checksum, document.doc_id, chunking, count, fingerprint),
            )

    def pending(self, generation: GenerationId, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        """Return texts of the generation without a vector of `model`, each once, shortest first."""
        rows = self._library.rows(_PENDING, (generation, model.fingerprint(), limit))
        return [PendingText(text_hash.hex(), text) for text_hash, text in rows]

    def text_snapshot(self, generation: GenerationId) -> TextSnapshot:
        """Return all entries the text index of the generation should hold."""
        indexed_as = (
            "(SELECT min(i.workspace_path) FROM generation_documents g JOIN items i ON i.item_id = g.item_id"
            f" WHERE g.doc_id = c.doc_id AND g.generation_id = {int(generation)}"
            f" AND g.chunking_key = c.chunking_key AND {_LIVE})"
        )
        return text_snapshot_of(self._library, entry_sql(indexed_as))

    def vector_snapshot(self, generation: GenerationId, model: EmbeddingModel) -> VectorSnapshot:
        """Return all vectors an index of the generation should hold; damaged ones are left out and made again."""
        return vector_snapshot_of(self._library, model, _VECTORS, (generation,))

    def positions(self) -> tuple[int, int]:
        """Return the newest positions of the text and the vector log."""
        with self._library.view() as view:
            return last_position(view, "text"), last_position(view, "vector")


def _shown_item(row: Row) -> ShownItem:
    asset_id, checksum, byte_len, media_type, kind, path, discovered = row[-7:]
    asset: Any = RawAsset(
        asset_id=AssetId(asset_id),
        checksum=checksum,
        byte_len=byte_len,
        media_type=MediaType(media_type),
        storage_kind=kind,
        storage_path=path,
        discovered_at=datetime.fromisoformat(discovered),
    )
    return ShownItem(item_from(row), asset)
