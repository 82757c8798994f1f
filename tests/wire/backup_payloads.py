"""Examples of backups."""

from __future__ import annotations

from datetime import datetime

from kb.contract.backup import Backup, BackupCounts, Backups, BackupVerify, MergeReport, RestoreReport
from kb.contract.base import Wire
from kb.contract.system import DoctorCheck


def backup_payloads(noon: datetime) -> dict[str, Wire]:
    """Every example by the name of its file."""
    counts = BackupCounts(items=1, documents=1, passages=38, vectors=38, answers=2)
    none = BackupCounts(items=0, documents=0, passages=0, vectors=0, answers=0)
    backup = Backup(
        file="kebab-20260427-154211.kbbackup",
        bytes=1_204_000,
        created_at=noon,
        library_id="0196750b-3a00-7000-8000-0000000000aa",
        library_schema=3,
        version="0.1.0",
        originals=904_000,
        counts=counts,
    )
    checks = (DoctorCheck(name="archive", ok=True, detail="made 2026-04-27 15:42 by Kebab 0.1.0"),)
    kept = "before-restore/20260427-154211-000000"
    return {
        "backup": backup,
        "backups": Backups(backups=(backup,)),
        "backup_verify": BackupVerify(file=backup.file, ok=True, checks=checks),
        "restore_report": RestoreReport(
            file=backup.file,
            library_id=backup.library_id,
            counts=counts,
            kept_as=kept,
            embedded=0,
            duration_ms=310,
        ),
        "merge_report": MergeReport(
            file=backup.file, added=none, same=1, kept=("notes/plan.md",), embedded=0, duration_ms=120
        ),
    }
