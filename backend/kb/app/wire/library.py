"""Documents, items and coverage on the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from kb.app.next_steps import needs_attention, next_step
from kb.contract import coverage as wire_coverage
from kb.contract import items as wire_items
from kb.contract import library as wire
from kb.contract import masked as wire_masked
from kb.contract.ingest import IngestWarning
from kb.domain.accounting import totals, unread
from kb.domain.catalogue import ItemRow
from kb.domain.citations import cite
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import DocumentSummary, ParseWarning
from kb.domain.masking import MaskedSecret
from kb.domain.paths import WorkspacePath
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
        nothing_searchable=_is_nothing(summary.chunk_count, summary.searchable),
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


def item_to_wire(row: ItemRow) -> wire_items.ItemEntry:
    """Return one file of the workspace."""
    item = row.item
    return wire_items.ItemEntry(
        item_id=item.item_id,
        doc_path=item.path,
        state=item.state.value,
        reason=item.reason,
        coverage=wire_coverage.CoverageTotals(**row.totals),
        doc_id=item.active_doc_id,
        byte_len=item.identity.size,
        media_type=row.media_type.value if row.media_type else None,
        coverage_kinds=row.kinds,
        unread=tuple(map(_unit, row.unread)),
        needs_attention=needs_attention(item, row.unread),
        next_step=next_step(item, row.unread),
        included=row.included,
        nothing_searchable=_is_nothing(row.chunk_count, row.searchable),
    )


def coverage_to_wire(row: ItemRow, units: Iterable[CoverageUnit]) -> wire_coverage.Coverage:
    """Return the coverage ledger of a file as `coverage.v1`."""
    listed = tuple(units)
    item, missing = row.item, unread(listed)
    return wire_coverage.Coverage(
        doc_path=item.path,
        doc_id=item.active_doc_id if row.is_of_document else None,
        units=tuple(map(_unit, listed)),
        totals=totals_to_wire(listed),
        item_id=item.item_id,
        state=item.state.value,
        reason=item.reason,
        needs_attention=needs_attention(item, missing),
        next_step=next_step(item, missing),
    )


def totals_to_wire(units: Iterable[CoverageUnit]) -> wire_coverage.CoverageTotals:
    """Return how many units are in each state."""
    return wire_coverage.CoverageTotals(**totals(units))


def masked_to_wire(path: WorkspacePath, doc_id: str, masked: Iterable[MaskedSecret]) -> wire_masked.Masked:
    """Return what was masked in a document as `masked.v1`."""
    places = [
        wire_masked.MaskedPlace(
            kind=secret.kind,
            placeholder=secret.placeholder,
            where=secret.where,
            uri=cite(path, [secret.span], None).to_uri() if secret.span else None,
        )
        for secret in masked
    ]
    return wire_masked.Masked(doc_path=path, doc_id=doc_id, masked=tuple(places))


def _is_nothing(chunks: int, searchable: int | None) -> bool | None:
    """Return True when a document has passages and people took out every one of them."""
    return True if chunks and searchable == 0 else None


def _unit(unit: CoverageUnit) -> wire_coverage.CoverageUnit:
    return wire_coverage.CoverageUnit(
        kind=unit.kind,
        start=unit.start,
        end=unit.end,
        state=unit.state,
        confidence=unit.confidence,
        reason=unit.reason,
    )
