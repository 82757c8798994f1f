"""Backups on the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from kb.app.backup.checking import Finding
from kb.contract.backup import Backup, BackupCounts, BackupVerify
from kb.contract.base import Wire
from kb.contract.system import DoctorCheck
from kb.domain.backups import LibraryCounts, Manifest
from kb.domain.ids import Json


def backup_to_wire(file: str, size: int, manifest: Manifest) -> Backup:
    """Return a backup as `backup.v1`; `size` is that of the file, in bytes."""
    return Backup(
        file=file,
        bytes=size,
        created_at=manifest.created_at,
        library_id=manifest.facts.library_id,
        library_schema=manifest.facts.schema,
        version=manifest.version,
        originals=manifest.originals,
        counts=counts_to_wire(manifest.facts.counts),
    )


def counts_to_wire(counts: LibraryCounts) -> BackupCounts:
    """Return what a library holds, in numbers."""
    return BackupCounts(
        items=counts.items,
        documents=counts.documents,
        passages=counts.passages,
        vectors=counts.vectors,
        answers=counts.answers,
    )


def findings_to_wire(file: str, findings: Sequence[Finding]) -> BackupVerify:
    """Return a checked backup as `backup_verify.v1`."""
    checks = tuple(
        DoctorCheck(name=found.name, ok=found.ok, detail=found.detail, hint=found.hint) for found in findings
    )
    return BackupVerify(file=file, ok=all(check.ok for check in checks), checks=checks)


def result_of(reply: Wire) -> Mapping[str, Json]:
    """Return a reply as the result of a job."""
    return cast("Mapping[str, Json]", json.loads(reply.model_dump_json()))
