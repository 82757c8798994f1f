"""Between rows and stored chunks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from kb.adapters.sqlite.segments import LazySegments
from kb.domain.chunks import Chunk, ChunkRole, StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import BlockId, ChunkId, DocumentId

_ROLES = {role.value: role for role in ChunkRole}

STORED_CHUNK = (
    "c.chunk_key, c.chunk_id, c.doc_id, c.ordinal, c.text, c.heading_path_json, c.block_ids_json, c.segments_json,"
    " c.token_estimate, k.chunker_version, k.policy_hash, c.role, c.parent_chunk_id, c.lang,"
    " i.item_id, i.workspace_path, d.title, d.lang, d.media_type,"
    " i.state <> 'ready' AND i.active_doc_id IS c.doc_id, c.manually_edited"
)
"""The columns `stored_chunk` reads, in its order."""


@lru_cache(maxsize=256)
def _strings(text: str) -> tuple[str, ...]:
    """Read a JSON list of strings; the chunks of a section have the same heading path."""
    return tuple(json.loads(text))


def _ids(text: str) -> tuple[BlockId, ...]:
    """Read what `ids_json` wrote: ids hold nothing to escape."""
    return tuple(map(BlockId, text[2:-2].split('","'))) if len(text) > len("[]") else ()


ORIGINAL = "SELECT text, segments_json, token_estimate FROM chunk_originals WHERE chunk_key = ?"
"""What a chunk said before any layer, for `as_the_file_says`."""


def as_the_file_says(stored: StoredChunk, row: Sequence[Any] | None) -> StoredChunk:
    """Return a chunk with the row of `ORIGINAL`, which is None for one that nobody edited."""
    if row is None:
        return stored
    chunk = replace(stored.chunk, text=row[0], segments=LazySegments(row[1]), token_estimate=row[2])
    return replace(stored, chunk=chunk)


def stored_chunk(row: Sequence[Any]) -> StoredChunk:
    """Read a row of the columns `STORED_CHUNK`."""
    chunk = Chunk(
        chunk_id=ChunkId(row[1]),
        doc_id=DocumentId(row[2]),
        ordinal=row[3],
        text=row[4],
        heading_path=_strings(row[5]),
        block_ids=_ids(row[6]),
        segments=LazySegments(row[7]),
        token_estimate=row[8],
        chunker_version=row[9],
        policy_hash=row[10],
        role=_ROLES[row[11]],
        parent_chunk_id=row[12],
        lang=row[13],
    )
    return StoredChunk(
        key=ChunkKey(row[0]),
        chunk=chunk,
        item_id=row[14],
        path=WorkspacePath(row[15]),
        title=row[16],
        lang=row[17],
        media=row[18],
        is_stale=bool(row[19]),
        is_edited=bool(row[20]),
    )
