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
    REPROCESS = "reprocess"
    LINKS = "links"
    EVALUATION = "evaluation"

    @property
    def queues(self) -> bool:
        """Return whether another request for the same thing waits behind the first instead of being refused."""
        return self in {JobKind.INGEST, JobKind.REBUILD, JobKind.REPAIR, JobKind.MERGE, JobKind.EVALUATION}


class Rest(StrEnum):
    """Why a job does nothing for now."""

    ASKED = "asked"
    BATTERY = "battery"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; `percent` is at most 99 until its result is committed.

    Attributes:
        done: of `total`, in what the stage counts.
        files: of `files_total`, over all stages.
        pages: read so far, of documents that have pages.
        sound_seconds: heard so far.
        rate: of what `done` counts, a second, over the last while; None when unknown.
        seconds_left: of this stage, at that rate; None when unknown.
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
    """One piece of long work, as stored.

    Attributes:
        attempts: how often it was begun.
        subject: what it works on; of one kind and subject one request lives at a time.
        request_key: chosen by who asked; the same key is the same job, also when it is over.
        priority: higher ones go first, and go before what a longer job has still to do.
        fencing_token: rises whenever it is taken; who holds an older one can write nothing.
        owner: the process that took it.
        lease_expires_at: until then it is the owner's, unless renewed.
        not_before: when it is tried again after a failure that may pass.
        most_attempts: after as many such failures it has failed.
        rest: why it does nothing for now; None when it may go on.
        dead: it failed `most_attempts` times, or its process was killed as often.
        retry_of: the job that it tries anew.
    """

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
    subject: str = ""
    request_key: str | None = None
    priority: int = 0
    fencing_token: int = 0
    owner: str | None = None
    lease_expires_at: datetime | None = None
    not_before: datetime | None = None
    most_attempts: int = 5
    rest: Rest | None = None
    dead: bool = False
    retry_of: JobId | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a job that runs stands, as the library says now.

    Attributes:
        is_held: it is still who asked that holds it; otherwise nothing of it may be written.
        cancel_requested: it was asked to stop.
        rest: it was asked to rest.
        urgent: a job of higher priority waits.
    """

    is_held: bool
    cancel_requested: bool = False
    rest: Rest | None = None
    urgent: bool = False
