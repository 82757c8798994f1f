"""What the job runner needs from outside: a durable queue, and whether the computer runs on its battery."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest, Standing


class JobLease(Protocol):
    """A job in the hands of one worker, told by its id and fencing token."""

    def heartbeat(self, job: Job, lease_s: float) -> bool:
        """Hold the job for `lease_s` seconds from now; False when the lease had run out or another has the job."""

    def reclaim(self, job: Job, lease_s: float) -> Job | None:
        """Take a job anew whose lease ran out, under a new token; None when another had it meanwhile."""

    def look(self, job: Job) -> Standing:
        """Return how the job stands; only reads."""

    def set_rest(self, job: Job, rest: Rest | None) -> None:
        """Say that the job rests by itself or goes on; what a person asked for stays."""


class JobOutcome(Protocol):
    """What a worker writes of the job it holds; nothing is written by who no longer holds it."""

    def report(self, job: Job, progress: Progress) -> bool:
        """Store progress, at most 99 %; return False when the job should stop: it is asked to, or no longer held."""

    def finish(
        self,
        job: Job,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> bool:
        """End a job; `error` is (code, message). False when it is no longer held, and nothing is written."""

    def put_back(
        self, job: Job, *, not_before: datetime | None = None, error: tuple[str, str] | None = None, counts: bool = True
    ) -> bool:
        """Let a job wait again, the attempt counted or not; False when it is no longer held."""


class JobStore(JobLease, JobOutcome, Protocol):
    """Jobs in the library. Each method is one transaction."""

    def enqueue(
        self,
        kind: JobKind,
        payload: Mapping[str, Json],
        *,
        subject: str = "",
        request_key: str | None = None,
        priority: int = 0,
        most_attempts: int = 5,
    ) -> Job:
        """Add a pending job; the same kind, subject and payload while one is live return that one.

        Raises:
            Conflict: other work of this kind and subject is under way and the kind does not queue, or `request_key`
                was used for another request.
        """

    def claim(self, owner: str, lease_s: float, *, above: int | None = None) -> Job | None:
        """Take the pending job of the highest priority, above `above`, oldest first, for `lease_s` seconds."""

    def requeue_orphans(self, owner: str) -> int:
        """At start, holding the library: put back what other processes left running; return how many."""


class JobList(Protocol):
    """Looking at jobs."""

    def get(self, job_id: JobId) -> Job | None:
        """Return a job."""

    def recent(self, limit: int) -> list[Job]:
        """Return the newest jobs first."""


class JobControl(JobList, Protocol):
    """Steering jobs."""

    def request_cancel(self, job_id: JobId) -> Job | None:
        """Ask a live job to stop: a pending one is canceled at once."""

    def pause(self, job_id: JobId) -> Job | None:
        """Let a live job rest at its next safe point, or not begin, until it is resumed."""

    def resume(self, job_id: JobId) -> Job | None:
        """Let a job go on that rests."""

    def retry(self, job_id: JobId) -> Job | None:
        """Add a failed or canceled job anew, as another job; one that waits for its next attempt is tried now.

        Raises:
            Conflict: it is under way, or it succeeded.
        """


class PowerSource(Protocol):
    """Where the electricity comes from."""

    def on_battery(self) -> bool:
        """Return whether the computer runs on its battery; False where that cannot be known."""
