"""`backup.v1`, `backup_verify.v1`, `restore_report.v1`, `merge_report.v1`: a library in one file, and back."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Request, Wire
from kb.contract.system import DoctorCheck


class BackupCounts(Wire):
    """What a library holds."""

    items: int
    documents: int
    passages: int
    vectors: int
    answers: int


class Backup(Wire):
    """One backup file: where it is, how large, what it holds; `originals` are the kept copies of files, in bytes."""

    schema_version: Literal["backup.v1"] = "backup.v1"
    file: str
    bytes: int
    created_at: AwareDatetime
    library_id: str
    library_schema: int
    version: str
    originals: int
    counts: BackupCounts


class Backups(Wire):
    """The backups in the library's own folder, newest first."""

    schema_version: Literal["backups.v1"] = "backups.v1"
    backups: tuple[Backup, ...]


class BackupCreateRequest(Request):
    """Write everything into one file while the library is in use; by default into its own `backups` folder."""

    file: str | None = Field(default=None, min_length=1, max_length=4_000)
    originals: bool = True


class BackupRequest(Request):
    """A backup file by its path, or by its name in the library's own folder."""

    file: str = Field(min_length=1, max_length=4_000)


class BackupVerify(Wire):
    """Whether everything in a backup is whole."""

    schema_version: Literal["backup_verify.v1"] = "backup_verify.v1"
    file: str
    ok: bool
    checks: tuple[DoctorCheck, ...]


class RestoreReport(Wire):
    """What a restore put in place; `kept_as` is where the library that was there before is kept."""

    schema_version: Literal["restore_report.v1"] = "restore_report.v1"
    file: str
    library_id: str
    counts: BackupCounts
    kept_as: str | None
    embedded: int
    duration_ms: int


class MergeReport(Wire):
    """What came in from a backup: `added` was not here, `same` was; `kept` differs here and stayed as it was."""

    schema_version: Literal["merge_report.v1"] = "merge_report.v1"
    file: str
    added: BackupCounts
    same: int
    kept: tuple[str, ...]
    embedded: int
    duration_ms: int
