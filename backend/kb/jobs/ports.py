"""What the job runner needs from outside: a durable queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress


class JobStore(Protocol):
    """Jobs in the library. Each method is one transaction."""

    def enqueue(self, kind: JobKind, payload: Mapping[str, Json]) -> Job:
        """Add a pending job; the same kind and payload while one is live return that one."""

    def claim(self) -> Job | None:
        """Take the oldest pending job and mark it running."""

    def report(self, job_id: JobId, progress: Progress) -> bool:
        """Store progress; return False when the job should stop."""

    def finish(
        self,
        job_id: JobId,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
    ) -> None:
        """End a job; `error` is (code, message)."""


class JobControl(Protocol):
    """Looking at jobs and stopping them."""

    def get(self, job_id: JobId) -> Job | None:
        """Return a job."""

    def recent(self, limit: int) -> list[Job]:
        """Return the newest jobs first."""

    def request_cancel(self, job_id: JobId) -> Job | None:
        """Ask a live job to stop: a pending one is canceled at once."""

    def requeue_orphans(self) -> int:
        """At start: put back what a dead process left running; return how many."""
