"""What a library says, without when and under which row numbers it says it.

Two libraries with equal logical states answer every question alike, whatever happened on the way.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from kb.domain.ids import content_hash

# Items are named by their path, chunks by their chunk id, models by their fingerprint.
_QUERIES = {
    "items": """
        SELECT workspace_path, disk_name, size, state, reason, included, archived_at IS NOT NULL, asset_id, checksum,
          media_type, active_doc_id, fingerprint, coverage_json
        FROM items WHERE deleted_at IS NULL""",
    "assets": "SELECT asset_id, media_type, byte_len, checksum, storage_kind, storage_path FROM assets",
    "documents": """
        SELECT d.doc_id, d.asset_id, d.workspace_path, title, lang, source_type, trust_level, d.media_type,
          parser_version, privacy_state, line_count, block_count, text_lines_json, warnings_json, metadata_json,
          d.coverage_json, masked_json
        FROM documents d JOIN items i ON i.active_doc_id = d.doc_id AND i.deleted_at IS NULL""",
    "tags": """
        SELECT t.doc_id, tag FROM document_tags t
        JOIN items i ON i.active_doc_id = t.doc_id AND i.deleted_at IS NULL""",
    "versions": """
        SELECT i.workspace_path, v.doc_id, v.state, k.chunker_version, k.policy_hash, v.chunk_count
        FROM document_versions v JOIN items i ON i.item_id = v.item_id
        JOIN chunkings k ON k.chunking_key = v.chunking_key
        WHERE i.deleted_at IS NULL AND v.state IN ('indexing','ready')""",
    "blocks": """
        SELECT b.doc_id, ordinal, block_id, kind, heading_path_json, source_span_json, payload_json
        FROM blocks b JOIN items i ON i.active_doc_id = b.doc_id AND i.deleted_at IS NULL""",
    "chunks": """
        SELECT c.chunk_id, c.doc_id, c.ordinal, role, enabled, k.chunker_version, k.policy_hash, parent_chunk_id,
          c.lang, token_estimate, char_count, hex(text_hash), section_label, heading_path_json, block_ids_json,
          source_spans_json, segments_json, text
        FROM chunks c JOIN items i ON i.active_doc_id = c.doc_id AND i.deleted_at IS NULL
        JOIN document_versions v ON v.item_id = i.item_id AND v.doc_id = c.doc_id AND v.state = 'ready'
          AND v.chunking_key = c.chunking_key
        JOIN chunkings k ON k.chunking_key = c.chunking_key""",
    # written or committed is how far the indexes have followed, not what the library says
    "embeddings": """
        SELECT c.chunk_id, m.fingerprint, r.state = 'pending', hex(v.vector)
        FROM embedding_records r JOIN chunks c ON c.chunk_key = r.chunk_key
        JOIN embedding_models m ON m.model_key = r.model_key
        LEFT JOIN vectors v ON v.text_hash = r.text_hash AND v.model_key = r.model_key""",
    "settings": "SELECT key, value FROM settings",
}


def logical_state(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Return what can be seen or will be, sorted; times, random ids and row numbers left out."""
    return {name: sorted(set(connection.execute(sql)), key=repr) for name, sql in _QUERIES.items()}


def logical_hash(connection: sqlite3.Connection) -> str:
    """Return the blake3 of the logical state."""
    return content_hash(json.dumps(logical_state(connection)).encode())
