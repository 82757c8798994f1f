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
    GENERATION = "generation"
    SWITCH = "switch"
    PURGE = "purge"
    COMPACT = "compact"
    REPAIR = "repair"
    BACKUP = "backup"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; `percent` is at most 99 until its result is committed.

    Attributes:
        done: of `total`, in what the stage counts.
        files: of `files_total`, over all stages.
        pages: read so far, of documents that have pages.
        sound_seconds: heard so far.
        rate: of what `done` counts, a second, over the last while; None when unknown.
        seconds_left: None when unknown.
    """

    stage: str = ""
    done: int = 0
    total: int = 0
    percent: int = 0
    note: str = ""
    files: int = 0
    files_total: int = 0
    pages: int = 0
    sound_seconds: float = 0.0
    rate: float | None = None
    seconds_left: float | None = None


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
