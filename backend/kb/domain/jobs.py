"""Jobs: long work with progress, and the states it may pass through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from kb.domain.ids import Json

JobId = NewType("JobId", str)


class JobStatus(StrEnum):
    """pending → running → succeeded, failed or canceled; running → pending when requeued."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def is_final(self) -> bool:
        """Return whether the job is over."""
        return self in {JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELED}


class JobKind(StrEnum):
    """What a job does."""

    INGEST = "ingest"
    REBUILD = "rebuild"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; `percent` is at most 99 until its result is committed."""

    stage: str = ""
    done: int = 0
    total: int = 0
    percent: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of long work, as stored."""

    job_id: JobId
    kind: JobKind
    status: JobStatus
    payload: Mapping[str, Json]
    progress: Progress
    attempts: int
    error_code: str | None
    error_message: str | None
    result: Mapping[str, Json] | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
