"""The id recipes: which facts make each id (`contracts` section 2).

Change a recipe and every stored id changes: golden vectors in `tests/` hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NewType

from kb.domain.ids import Json, id_from
from kb.domain.paths import WorkspacePath

AssetId = NewType("AssetId", str)
DocumentId = NewType("DocumentId", str)
BlockId = NewType("BlockId", str)
ChunkId = NewType("ChunkId", str)
EmbeddingId = NewType("EmbeddingId", str)
IndexId = NewType("IndexId", str)
ItemId = NewType("ItemId", str)


def asset_id(asset_blake3: str) -> AssetId:
    """Name the bytes whose full blake3 (64 hex digits) is given."""
    return AssetId(id_from({"kind": "asset", "asset_blake3": asset_blake3}))


def document_id(path: WorkspacePath, asset: AssetId, parser_version: str) -> DocumentId:
    """Name one parse of one asset at one path."""
    return DocumentId(
        id_from(
            {
                "kind": "doc",
                "workspace_path": path,
                "asset_id": asset,
                "parser_version": parser_version,
            }
        )
    )


def block_id(
    document: DocumentId,
    *,
    block_kind: str,
    heading_path: Sequence[str],
    ordinal: int,
    source_span: Mapping[str, Json],
) -> BlockId:
    """Name a block by its place in its document."""
    return BlockId(
        id_from(
            {
                "kind": "block",
                "doc_id": document,
                "block_kind": block_kind,
                "heading_path": list(heading_path),
                "ordinal": ordinal,
                "source_span": source_span,
            }
        )
    )


def chunk_id(
    document: DocumentId,
    *,
    chunker_version: str,
    block_ids: Sequence[str],
    policy_hash: str,
    part: int | None = None,
) -> ChunkId:
    """Name a chunk by its blocks; `part` (from 0) only when it is a part of split blocks."""
    value: dict[str, Json] = {
        "kind": "chunk",
        "doc_id": document,
        "chunker_version": chunker_version,
        "block_ids": list(block_ids),
        "policy_hash": policy_hash,
    }
    if part is not None:
        value["part"] = part
    return ChunkId(id_from(value))


def embedding_id(chunk: ChunkId, *, model_id: str, model_version: str, dimensions: int) -> EmbeddingId:
    """Name the vector of one chunk under one model."""
    return EmbeddingId(
        id_from(
            {
                "kind": "embedding",
                "chunk_id": chunk,
                "model_id": model_id,
                "model_version": model_version,
                "dimensions": dimensions,
            }
        )
    )


def index_id(
    *,
    collection: str,
    embedding_model: str,
    dimensions: int,
    index_version: str,
    index_kind: str,
    index_params_hash: str,
) -> IndexId:
    """Name one vector index by everything that shapes it."""
    return IndexId(
        id_from(
            {
                "kind": "index",
                "collection": collection,
                "embedding_model": embedding_model,
                "dimensions": dimensions,
                "index_version": index_version,
                "index_kind": index_kind,
                "index_params_hash": index_params_hash,
            }
        )
    )
