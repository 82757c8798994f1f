"""Chunks on the wire."""

from __future__ import annotations

from collections.abc import Sequence

from kb.contract import chunks as wire
from kb.contract.layers import ChunkLayer
from kb.domain.catalogue import ChunkInspection, LayerRow
from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import EmbeddingModel
from kb.domain.placed import span_to_json
from kb.domain.recipes import embedding_id
from kb.domain.spans import SourceSpan


def chunk_to_wire(
    stored: StoredChunk, embeddings: Sequence[wire.ChunkEmbedding] = (), *, enabled: bool = True
) -> wire.ChunkInspection:
    """Return a chunk as `chunk_inspection.v1`."""
    chunk = stored.chunk
    return wire.ChunkInspection(
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        doc_path=stored.path,
        heading_path=chunk.heading_path,
        text=chunk.text,
        source_spans=tuple(map(span_to_wire, chunk.source_spans)),
        block_ids=chunk.block_ids,
        token_estimate=chunk.token_estimate,
        chunker_version=chunk.chunker_version,
        embeddings=tuple(embeddings),
        ordinal=chunk.ordinal,
        title=stored.title,
        char_count=len(chunk.text),
        enabled=enabled,
        role=chunk.role.value,
        parent_chunk_id=chunk.parent_chunk_id,
    )


def embedding_to_wire(stored: StoredChunk, model: EmbeddingModel) -> wire.ChunkEmbedding:
    """Return the vector a chunk has under `model`, by its id."""
    name = embedding_id(
        stored.chunk.chunk_id, model_id=model.id, model_version=model.version, dimensions=model.dimensions
    )
    return wire.ChunkEmbedding(model=model.id, dimensions=model.dimensions, embedding_id=name)


def span_to_wire(span: SourceSpan) -> wire.SourceSpan:
    """Return a place in the original."""
    return wire.SourceSpan.model_validate(span_to_json(span))


def inspection_to_wire(found: ChunkInspection) -> wire.ChunkInspection:
    """Return a chunk with all that is known of it as `chunk_inspection.v1`."""
    embeddings = [
        wire.ChunkEmbedding.model_validate(
            {
                "model": info.model_id,
                "dimensions": info.dimensions,
                "embedding_id": info.embedding_id,
                "state": info.state,
            }
        )
        for info in found.embeddings
    ]
    state = "deleted" if found.is_deleted else "enabled" if found.enabled else "disabled"
    said = {
        "manually_edited": found.manually_edited,
        "updated_at": found.updated_at,
        "state": state,
        "text_hash": found.text_hash or None,
        "original_text": found.original,
    }
    return chunk_to_wire(found.stored, embeddings, enabled=found.enabled).model_copy(update=said)


def layer_to_wire(layer: LayerRow) -> ChunkLayer:
    """Return one change that a person made."""
    return ChunkLayer.model_validate(
        {
            "layer_id": layer.layer_id,
            "item_id": layer.item_id,
            "doc_path": layer.path,
            "kind": layer.kind,
            "section": layer.section,
            "source_text": layer.source_text,
            "new_text": layer.new_text if layer.kind == "text" else None,
            "chunk_ids": layer.chunk_ids,
            "lost": layer.lost,
            "created_at": layer.created_at,
            "updated_at": layer.updated_at,
        }
    )
