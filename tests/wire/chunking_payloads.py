"""Examples of chunking on the wire."""

from __future__ import annotations

from kb.contract.base import Wire
from kb.contract.chunking import Chunking, ChunkingPending, ChunkingPendingItem
from kb.contract.chunking_preview import ChunkingPreview, PreviewedChunk
from kb.contract.collection_settings import CollectionChunking
from kb.contract.reprocessing import ReprocessFailure, ReprocessReport


def chunking_payloads() -> dict[str, Wire]:
    """Return one of each."""
    served = CollectionChunking(
        mode="structure", target_characters=1600, overlap_characters=160, parent_characters=4800, child_characters=900
    )
    wanted = served.model_copy(update={"mode": "parent-child"})
    waiting = ChunkingPendingItem(
        item_id="0193", path="ops/backup.md", source="collection", collection="Ops", wanted=wanted, served=served
    )
    parent = PreviewedChunk(
        ordinal=0, role="parent", parent=None, heading_path=("Ops",), text="Ops\nThe backup runs on Sunday.",
        char_count=30, token_estimate=8,
    )  # fmt: skip
    child = parent.model_copy(update={"ordinal": 1, "role": "child", "parent": 0})
    return {
        "chunking": Chunking(
            doc_path="ops/backup.md", wanted=wanted, source="collection", collection="Ops", served=served, pending=True
        ),
        "chunking_pending": ChunkingPending(count=1, items=(waiting,)),
        "chunking_report": ReprocessReport(
            asked=3,
            replaced=1,
            failed=1,
            failures=(
                ReprocessFailure(item_id="0194", path="gone.md", reason="changed", message="no copy of it is kept"),
            ),
            left=1,
            pending=2,
            passages=7,
            embedded=3,
            lagging=(),
            canceled=True,
            duration_ms=120,
        ),
        "chunking_preview": ChunkingPreview(
            doc_path="ops/backup.md", settings=wanted, passages=1, parents=1, shortest=30, longest=30,
            chunks=(parent, child),
        ),
    }  # fmt: skip
