"""Ingest and index reports on the wire, and as kept with their job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kb.contract.index import IndexReport
from kb.contract.ingest import IngestItem, IngestReport
from kb.domain.ids import Json
from kb.ingest.report import IngestReport as Report
from kb.ingest.report import ItemReport


def report_to_json(report: Report, root: str) -> dict[str, Json]:
    """Return the numbers of a run as kept with its job; its items are kept with the run."""
    scope: dict[str, Json] = {
        "root": root,
        "include": list(report.scope.include),
        "exclude": list(report.scope.exclude),
    }
    return {
        "scope": scope,
        "scanned": report.scanned,
        "new": report.new,
        "updated": report.updated,
        "skipped": report.skipped,
        "errors": report.errors,
        "deleted": report.deleted,
        "renamed": report.renamed,
        "unsupported": report.unsupported,
        "embedded": report.embedded,
        "duration_ms": report.duration_ms,
        "canceled": report.canceled,
        "held_back": report.held_back.count if report.held_back else 0,
        "too_many": report.too_many,
        "notices": [[n.reason, n.detail, n.hint] for n in report.notices],
    }


def item_to_json(item: ItemReport) -> dict[str, Json]:
    """Return one file of a run as kept with the run."""
    return {
        "kind": item.kind.value,
        "doc_id": item.doc_id,
        "doc_path": item.doc_path,
        "asset_id": item.asset_id,
        "byte_len": item.byte_len,
        "block_count": item.block_count,
        "chunk_count": item.chunk_count,
        "parser_version": item.parser_version,
        "chunker_version": item.chunker_version,
        "warnings": [{"kind": warning.kind, "note": warning.note} for warning in item.warnings],
        "error": item.error,
        "item_id": item.item_id,
        "renamed_from": item.renamed_from,
        "reason": item.reason,
    }


def report_to_wire(kept: Mapping[str, Json], items: Iterable[Mapping[str, Json]] | None) -> IngestReport:
    """Return a kept run as `ingest_report.v1`."""
    lines = None if items is None else tuple(_item(item) for item in items)
    notices = [{"reason": notice[0], "detail": notice[1], "hint": notice[2]} for notice in _list(kept.get("notices"))]
    return IngestReport.model_validate({**kept, "items": lines, "notices": notices})


def rebuilt_to_wire(kept: Mapping[str, Json]) -> IndexReport:
    """Return a kept rebuild as `index_report.v1`."""
    return IndexReport.model_validate(kept)


def _item(kept: Mapping[str, Json]) -> IngestItem:
    return IngestItem.model_validate(kept)


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - JSON as kept
    return list(value or ())
