"""Examples of versions, and of what is let go of."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from kb.app.wire.versions import difference_to_wire, purged_to_wire, versions_to_wire
from kb.contract.base import Wire
from kb.contract.index import CompactReport
from kb.domain.catalogue import ItemRow
from kb.domain.diffing import difference
from kb.domain.recipes import DocumentId
from kb.domain.versions import Pin, Purged, Version, VersionState


def version_payloads(row: ItemRow, doc_id: DocumentId, noon: datetime) -> dict[str, Wire]:
    """Every example by the name of its file."""
    old = DocumentId("0" * 32)
    shown = Version(
        item_id=row.item.item_id,
        number=2,
        doc_id=doc_id,
        state=VersionState.READY,
        title="아키텍처",
        created_at=noon,
        activated_at=noon,
        superseded_at=None,
        parser_version="markdown-v1",
        chunker_version="structure-v1",
        chunk_count=38,
        generation=1,
        is_openable=True,
        pins=(Pin.SERVING,),
    )
    earlier = replace(
        shown, number=1, doc_id=old, state=VersionState.SUPERSEDED, superseded_at=noon, pins=(Pin.ANSWER,)
    )
    found = difference(["# Chunking", "", "By size."], ["# Chunking", "", "By structure."])
    sizes = {"library": 52_000_000, "text_index": 9_000_000, "copies": 4_000_000, "total": 65_000_000}
    smaller = {"library": 31_000_000, "text_index": 6_000_000, "copies": 4_000_000, "total": 41_000_000}
    return {
        "versions": versions_to_wire(row, [shown, earlier]),
        "version_diff": difference_to_wire(row, 1, 2, found),
        "purge_report": purged_to_wire(Purged(3, 1, 52_400), dry_run=True),
        "compact_report": CompactReport(before=sizes, after=smaller, duration_ms=2_140),
    }
