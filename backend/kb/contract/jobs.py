"""`job.v1`: long work, how far it is, how it ended."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Open, Request, Wire


class JobProgress(Wire):
    """`percent` is at most 99 until the result is committed."""

    stage: str
    done: int
    total: int
    percent: int
    note: str = ""
    files: int = 0
    files_total: int = 0
    pages: int = 0
    sound_seconds: float = 0.0
    rate: float | None = None
    """Of what `done` counts, a second, over the last while."""
    seconds_left: float | None = None


class JobError(Wire):
    """Why a job failed: the fact and, on a line of its own, what to do."""

    code: str
    message: str


class Job(Wire):
    """One piece of long work; `paused` and `dead` are flags beside its status.

    A paused job is pending or running and does nothing until it is resumed; a dead one failed `most_attempts` times and
    is only tried again as a new job (`retry_of`).
    """

    schema_version: Literal["job.v1"] = "job.v1"
    id: str
    kind: Annotated[
        Literal[
            "ingest",
            "rebuild",
            "generation",
            "switch",
            "purge",
            "compact",
            "repair",
            "backup",
            "merge",
            "reprocess",
            "links",
            "evaluation",
        ],
        Open,
    ]
    status: Annotated[Literal["pending", "running", "succeeded", "failed", "canceled"], Open]
    progress: JobProgress
    attempts: int
    error: JobError | None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    finished_at: AwareDatetime | None
    paused: bool = False
    dead: bool = False
    most_attempts: int | None = None
    next_attempt_at: AwareDatetime | None = None
    pause_reason: Annotated[Literal["asked", "battery"], Open] | None = None
    retry_of: str | None = None
    subject: str = ""


class JobRequest(Request):
    """One job by its id."""

    job_id: str = Field(min_length=1, max_length=64)


class JobsRequest(Request):
    """The newest jobs."""

    limit: int = Field(default=20, ge=1, le=200)


class JobsPage(Wire):
    """Jobs, newest first."""

    schema_version: Literal["jobs.v1"] = "jobs.v1"
    jobs: tuple[Job, ...]
