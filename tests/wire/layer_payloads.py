"""Examples of what people change in passages."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from kb.app.wire.chunks import layer_to_wire
from kb.contract.base import Wire
from kb.contract.chunks import ChunkInspection
from kb.contract.layers import ChunkChange, ChunkLayers
from kb.domain.catalogue import LayerRow

_NOON = datetime(2026, 4, 27, 15, 42, 11, tzinfo=timezone(timedelta(hours=9)))


def layer_payloads(chunk: ChunkInspection, mended: str) -> dict[str, Wire]:
    """An edit of a chunk, and one that fits no more."""
    said = {"text": mended, "manually_edited": True, "original_text": chunk.text, "text_hash": "7" * 64}
    layer = LayerRow(
        layer_id="lay_4a8b2c1e",
        item_id="0196750b-3a00-7000-8000-000000000001",
        path=chunk.doc_path,
        kind="text",
        section="§14 Chunking",
        source_text=chunk.text,
        new_text=mended,
        chunk_ids=(),
        lost="the text it changed does not stand in the file any more",
        created_at=_NOON,
        updated_at=_NOON,
    )
    return {
        "chunk_change": ChunkChange(chunk=chunk.model_copy(update=said), keyword="done", vector="waiting", masked=1),
        "chunk_layers": ChunkLayers(layers=(layer_to_wire(layer),), next=None),
    }
