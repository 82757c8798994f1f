"""Documents, items and coverage on the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, cast

from kb.contract import items as wire_items
from kb.contract import library as wire
from kb.contract.ingest import IngestWarning
from kb.domain.citations import cite
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import DocumentSummary, ParseWarning
from kb.domain.items import Item
from kb.domain.reading import DocumentDetails

_Warning = Literal["malformed_frontmatter", "malformed_table", "encoding_fallback", "extract_failed"]
_Trust = Literal["primary", "secondary", "generated"]
_Source = Literal["markdown", "note", "paper", "reference", "inbox"]


def summary_to_wire(summary: DocumentSummary, states: wire.DocStates | None = None) -> wire.DocSummary:
    """Return one row of the document list as `doc_summary.v1`."""
    return wire.DocSummary(
        doc_id=summary.doc_id,
        doc_path=summary.workspace_path,
        title=summary.title,
        lang=summary.lang,
        tags=summary.tags,
        trust_level=cast(_Trust, summary.trust_level),
        source_type=cast(_Source, summary.source_type),
        byte_len=summary.byte_len,
        chunk_count=summary.chunk_count,
        created_at=summary.created_at,
        updated_at=summary.updated_at,
        parser_version=summary.parser_version,
        chunker_version=summary.chunker_version,
        item_id=summary.item_id,
        states=states,
        vector_count=summary.vector_count,
        version=summary.version,
    )


def details_to_wire(
    summary: DocumentSummary, details: DocumentDetails, states: wire.DocStates | None = None
) -> wire.DocumentView:
    """Return a whole document: its row, outline and warnings."""
    return wire.DocumentView(
        document=summary_to_wire(summary, states),
        outline=tuple(
            wire.OutlineEntry(
                level=heading.level,
                text=heading.text,
                uri=cite(summary.workspace_path, [heading.span], None).to_uri(),
            )
            for heading in details.outline
        ),
        warnings=warnings_to_wire(details.warnings),
        aliases=details.aliases,
        user=dict(details.user) or None,
    )


def warnings_to_wire(warnings: Iterable[ParseWarning]) -> tuple[IngestWarning, ...]:
    """Return what a parser had to bend."""
    return tuple(IngestWarning(kind=cast(_Warning, warning.kind), note=warning.note) for warning in warnings)


def item_to_wire(item: Item, coverage: wire_items.CoverageTotals | None = None) -> wire_items.ItemEntry:
    """Return one file of the workspace."""
    return wire_items.ItemEntry(
        item_id=item.item_id,
        doc_path=item.path,
        state=item.state.value,
        reason=item.reason,
        coverage=coverage,
        doc_id=item.active_doc_id,
        byte_len=item.identity.size,
    )


def coverage_to_wire(doc_path: str, doc_id: str | None, units: Iterable[CoverageUnit]) -> wire_items.Coverage:
    """Return the coverage ledger of a document as `coverage.v1`."""
    listed = tuple(units)
    return wire_items.Coverage(
        doc_path=doc_path,
        doc_id=doc_id,
        units=tuple(
            wire_items.CoverageUnit(
                kind=unit.kind,
                start=unit.start,
                end=unit.end,
                state=unit.state,
                confidence=unit.confidence,
                reason=unit.reason,
            )
            for unit in listed
        ),
        totals=totals_to_wire(listed),
    )


def totals_to_wire(units: Iterable[CoverageUnit]) -> wire_items.CoverageTotals:
    """Return how many units are in each state; ranges count every unit in them."""
    counts: Counter[str] = Counter()
    for unit in units:
        counts[unit.state] += unit.end - unit.start + 1
    return wire_items.CoverageTotals(**counts)
