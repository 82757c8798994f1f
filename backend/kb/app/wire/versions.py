"""Versions, differences and purges on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.contract import versions as wire
from kb.domain.catalogue import ItemRow
from kb.domain.diffing import Difference
from kb.domain.ids import Json
from kb.domain.items import ItemState
from kb.domain.versions import Purged, Version


def versions_to_wire(row: ItemRow, versions: Sequence[Version]) -> wire.Versions:
    """Return the versions of an item as `versions.v1`."""
    item = row.item
    stale = item.reason if item.active_doc_id and not row.is_of_document and item.state is not ItemState.READY else None
    return wire.Versions(item_id=item.item_id, doc_path=item.path, stale=stale, versions=tuple(map(_version, versions)))


def difference_to_wire(row: ItemRow, before: int, after: int, found: Difference) -> wire.VersionDiff:
    """Return what changed as `version_diff.v1`."""
    return wire.VersionDiff(
        item_id=row.item.item_id,
        doc_path=row.item.path,
        before=before,
        after=after,
        added=found.added,
        removed=found.removed,
        hunks=tuple(
            tuple(wire.DiffLine(kind=line.kind, before=line.before, after=line.after, text=line.text) for line in hunk)
            for hunk in found.hunks
        ),
        truncated=found.is_cut,
    )


def purged_to_wire(found: Purged, *, dry_run: bool = False) -> wire.PurgeReport:
    """Return what a purge let go of as `purge_report.v1`."""
    return wire.PurgeReport(
        versions=found.versions, pinned=found.pinned, freed_bytes=found.freed_bytes, dry_run=dry_run
    )


def purged_to_json(found: Purged) -> dict[str, Json]:
    """Return what a job keeps of it."""
    return {"versions": found.versions, "pinned": found.pinned, "freed_bytes": found.freed_bytes}


def purged_from_json(result: Mapping[str, Json]) -> wire.PurgeReport:
    """Return what a job kept of it."""
    return wire.PurgeReport.model_validate(dict(result))


def _version(version: Version) -> wire.Version:
    return wire.Version(
        number=version.number,
        doc_id=version.doc_id,
        state=version.state.value,
        title=version.title,
        created_at=version.created_at,
        activated_at=version.activated_at,
        superseded_at=version.superseded_at,
        parser_version=version.parser_version,
        chunker_version=version.chunker_version,
        chunk_count=version.chunk_count,
        generation=version.generation,
        openable=version.is_openable,
        pinned_by=tuple(pin.value for pin in version.pins),
    )
