"""Reading one document to show it, in its shown version or an earlier kept one."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import KEPT_MAY_BE_SEEN, SqliteGatedChunks
from kb.adapters.sqlite.ledger import masked_from
from kb.adapters.sqlite.payloads import payload_from, warnings_from
from kb.adapters.sqlite.rows import ORIGINAL, STORED_CHUNK, as_the_file_says, stored_chunk
from kb.domain.blocks import BlockKind
from kb.domain.chunks import StoredChunk
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from kb.domain.placed import span_from_json
from kb.domain.reading import DocumentDetails, KeptBlock, KeptChunk, Original, OutlineHeading
from kb.domain.recipes import BlockId, ChunkId, DocumentId
from kb.domain.spans import PartSpan

# A kept version may belong to an item whose file is gone: the last item that had it names it.
_KEPT = f"""
SELECT {STORED_CHUNK} FROM chunks c JOIN documents d ON d.doc_id = c.doc_id
JOIN document_versions v ON v.doc_id = c.doc_id AND v.chunking_key = c.chunking_key
JOIN items i ON i.item_id = v.item_id JOIN chunkings k ON k.chunking_key = c.chunking_key
WHERE c.chunk_id = ? AND c.enabled = 1 AND {KEPT_MAY_BE_SEEN}
ORDER BY i.deleted_at IS NOT NULL, v.number DESC LIMIT 1
"""
_PASSAGES = f"""
SELECT {STORED_CHUNK} FROM chunks c JOIN documents d ON d.doc_id = c.doc_id
JOIN document_versions v ON v.doc_id = c.doc_id AND v.chunking_key = c.chunking_key
JOIN items i ON i.item_id = v.item_id JOIN chunkings k ON k.chunking_key = c.chunking_key
WHERE c.doc_id = ? AND c.role <> 'parent' AND {KEPT_MAY_BE_SEEN}
AND v.number = (SELECT max(number) FROM document_versions n WHERE n.item_id = v.item_id AND n.doc_id = v.doc_id
  AND n.state NOT IN ('purging','purged'))
ORDER BY c.ordinal
"""
_ORIGINAL = f"""
SELECT i.workspace_path, i.disk_name, d.doc_id, d.media_type, a.checksum, a.storage_kind, a.storage_path,
  i.active_doc_id IS d.doc_id AND i.deleted_at IS NULL
FROM items i JOIN document_versions v ON v.item_id = i.item_id JOIN documents d ON d.doc_id = v.doc_id
JOIN assets a ON a.asset_id = d.asset_id WHERE i.item_id = ? AND {KEPT_MAY_BE_SEEN}
"""
_FORMER = f"""
SELECT i.item_id FROM documents d JOIN document_versions v ON v.doc_id = d.doc_id JOIN items i ON i.item_id = v.item_id
WHERE d.workspace_path = ? AND {KEPT_MAY_BE_SEEN} ORDER BY i.deleted_at IS NOT NULL, v.number DESC LIMIT 1
"""
_UNPARSED = """
SELECT i.workspace_path, i.disk_name, NULL, coalesce(i.media_type, a.media_type), coalesce(i.checksum, ''),
  coalesce(a.storage_kind, 'reference'), coalesce(a.storage_path, i.workspace_path), 1
FROM items i LEFT JOIN assets a ON a.asset_id = i.asset_id AND a.checksum = i.checksum
WHERE i.item_id = ? AND i.deleted_at IS NULL AND i.included = 1 AND i.archived_at IS NULL
"""


class SqliteReading:
    """Wraps the library file: one document, chunk or original at a time."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._gate = SqliteGatedChunks(library)

    def details(self, doc_id: DocumentId) -> DocumentDetails | None:
        """Return what is known about a kept document."""
        row = self._library.row(
            "SELECT metadata_json, warnings_json, line_count, masked_json FROM documents WHERE doc_id = ?", (doc_id,)
        )
        if row is None:
            return None
        metadata: dict[str, Any] = json.loads(row[0])
        headings = self._library.rows(
            "SELECT payload_json, heading_path_json, source_span_json FROM blocks"
            " WHERE doc_id = ? AND kind = 'heading' ORDER BY ordinal",
            (doc_id,),
        )
        return DocumentDetails(
            outline=tuple(heading for row in headings if (heading := _heading(row)) is not None),
            aliases=tuple(metadata.get("aliases", ())),
            user=metadata.get("user", {}),
            warnings=warnings_from(row[1]),
            line_count=row[2],
            masked=masked_from(row[3]),
        )

    def kept_chunk(self, chunk_id: ChunkId) -> KeptChunk | None:
        """Return a chunk of a shown or superseded version."""
        row = self._library.row(_KEPT, (chunk_id,))
        if row is None:
            return None
        stored = stored_chunk(row)
        original = self._original_of(stored) if stored.is_edited else None
        return KeptChunk(stored, stored.key in self._gate.visible([stored.key]), original)

    def passages(self, doc_id: DocumentId) -> tuple[StoredChunk, ...]:
        """Return the passages of a shown or superseded version as the file says them, in order."""
        chunks = {row[0]: stored_chunk(row) for row in self._library.rows(_PASSAGES, (doc_id,))}
        return tuple(self._original_of(stored) if stored.is_edited else stored for stored in chunks.values())

    def _original_of(self, stored: StoredChunk) -> StoredChunk:
        return as_the_file_says(stored, self._library.row(ORIGINAL, (stored.key,)))

    def blocks(self, doc_id: DocumentId) -> tuple[KeptBlock, ...]:
        """Return the blocks of a kept document, in order."""
        rows = self._library.rows(
            "SELECT block_id, kind, heading_path_json, source_span_json, payload_json FROM blocks"
            " WHERE doc_id = ? ORDER BY ordinal",
            (doc_id,),
        )
        return tuple(
            KeptBlock(
                BlockId(block_id),
                BlockKind(kind),
                tuple(json.loads(headings)),
                span_from_json(json.loads(span)),
                payload_from(payload),
            )
            for block_id, kind, headings, span, payload in rows
        )

    def parts(self, doc_id: DocumentId) -> tuple[PartSpan, ...]:
        """Return the slides, sheets, messages, sections or cells that a kept document has text of, each once."""
        rows = self._library.rows(
            "SELECT DISTINCT source_span_json ->> '$.part', source_span_json ->> '$.number',"
            " coalesce(source_span_json ->> '$.name', '')"
            " FROM blocks WHERE doc_id = ? AND source_span_json ->> '$.kind' = 'part'",
            (doc_id,),
        )
        return tuple(PartSpan(part, number, name) for part, number, name in rows)

    def former_item(self, path: WorkspacePath) -> str | None:
        """Return the item that had a document at a path where now there is none; its file may be gone."""
        row = self._library.row(_FORMER, (path,))
        return str(row[0]) if row else None

    def original(self, item_id: str, doc_id: str | None) -> Original | None:
        """Return where the bytes of an item's shown version are, or of the kept version `doc_id`."""
        if doc_id is None:
            shown = "AND d.doc_id = i.active_doc_id AND i.deleted_at IS NULL"
            row = self._library.row(f"{_ORIGINAL} {shown} LIMIT 1", (item_id,))
            row = row or self._library.row(_UNPARSED, (item_id,))
        else:
            row = self._library.row(f"{_ORIGINAL} AND d.doc_id = ? LIMIT 1", (item_id, doc_id))
        return _original(row) if row else None


def _heading(row: Sequence[Any]) -> OutlineHeading | None:
    path = json.loads(row[1])
    level = json.loads(row[0]).get("level", 1)
    return OutlineHeading(level, path[-1], span_from_json(json.loads(row[2]))) if path else None


def _original(row: Sequence[Any]) -> Original:
    path, disk_name, doc_id, media, checksum, kind, storage_path, current = row
    return Original(
        path=WorkspacePath(path),
        disk_name=disk_name,
        doc_id=DocumentId(doc_id) if doc_id else None,
        media=MediaType(media) if media else None,
        checksum=checksum,
        storage_kind=kind,
        storage_path=storage_path,
        is_current=bool(current),
    )
