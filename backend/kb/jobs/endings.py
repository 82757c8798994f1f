"""Ends of jobs that could not be stored: on a full disk, whoever waits must hear of them all the same."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest, Standing
from kb.jobs.ports import JobControl, JobStore

_LONG_ENOUGH_S = 60.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _End:
    job: Job
    write: Callable[[Job], bool]
    shown: Callable[[Job], Job]


class RememberedEnds:
    """A job store and control in one that remembers what the queue could not take, and tries again.

    A process that dies before it succeeds leaves the job as running: the next start puts it back. An end that can be
    stored only after the lease has run out takes the job anew first, as long as nobody else had it.
    """

    def __init__(self, store: JobStore, control: JobControl) -> None:
        self._store = store
        self._control = control
        self._ends: dict[JobId, _End] = {}
        self._lock = threading.Lock()
        self._refusal: StorageFailed | None = None

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
        """Add a pending job; the same kind, subject and payload while one is live return that one."""
        self._store_ends()
        return self._store.enqueue(
            kind,
            payload,
            subject=subject,
            request_key=request_key,
            priority=priority,
            most_attempts=most_attempts,
        )

    def claim(self, owner: str, lease_s: float, *, above: int | None = None) -> Job | None:
        """Take the pending job that is due next, after storing ends that wait for it.

        While none can be taken, `get` says of a job that is tried only once that it failed: somebody waits for it.
        In the queue it stays, and is the one that the same request gets next time.
        """
        try:
            self._store_ends()
            job = self._store.claim(owner, lease_s, above=above)
        except StorageFailed as failed:
            self._refusal = failed
            raise
        self._refusal = None
        return job

    def heartbeat(self, job: Job, lease_s: float) -> bool:
        """Hold the job for `lease_s` seconds from now."""
        return self._store.heartbeat(job, lease_s)

    def reclaim(self, job: Job, lease_s: float) -> Job | None:
        """Take a job anew whose lease ran out."""
        return self._store.reclaim(job, lease_s)

    def look(self, job: Job) -> Standing:
        """Return how the job stands."""
        return self._store.look(job)

    def set_rest(self, job: Job, rest: Rest | None) -> None:
        """Say that the job rests by itself or goes on."""
        self._store.set_rest(job, rest)

    def report(self, job: Job, progress: Progress) -> bool:
        """Store progress; return False when the job should stop."""
        return self._store.report(job, progress)

    def finish(
        self,
        job: Job,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> bool:
        """End a job; what cannot be stored is remembered, and `get` says it."""
        now = datetime.now(UTC)

        def ended(kept: Job) -> Job:
            code, message = error or (None, None)
            shown = replace(kept, status=status, result=result, error_code=code, error_message=message, dead=dead)
            return replace(shown, updated_at=now, finished_at=now)

        return self._write(
            job,
            lambda held: self._store.finish(held, status, result=result, error=error, dead=dead),
            ended,
        )

    def put_back(
        self, job: Job, *, not_before: datetime | None = None, error: tuple[str, str] | None = None, counts: bool = True
    ) -> bool:
        """Let a job wait again; when that cannot be stored it is remembered, too."""

        def waits(kept: Job) -> Job:
            code, message = error or (None, None)
            pending = JobStatus.PENDING
            return replace(kept, status=pending, not_before=not_before, error_code=code, error_message=message)

        return self._write(
            job,
            lambda held: self._store.put_back(held, not_before=not_before, error=error, counts=counts),
            waits,
        )

    def requeue_orphans(self, owner: str) -> int:
        """At start: put back what other processes left running; return how many."""
        return self._store.requeue_orphans(owner)

    def get(self, job_id: JobId) -> Job | None:
        """Return a job."""
        job = self._control.get(job_id)
        return self._as_it_ended(job) if job else None

    def recent(self, limit: int) -> list[Job]:
        """Return the newest jobs first."""
        return [self._as_it_ended(job) for job in self._control.recent(limit)]

    def request_cancel(self, job_id: JobId) -> Job | None:
        """Ask a live job to stop: a pending one is canceled at once."""
        return self.get(job_id) if job_id in self._ends else self._control.request_cancel(job_id)

    def pause(self, job_id: JobId) -> Job | None:
        """Let a live job rest at its next safe point, or not begin, until it is resumed."""
        return self.get(job_id) if job_id in self._ends else self._control.pause(job_id)

    def resume(self, job_id: JobId) -> Job | None:
        """Let a job go on that rests."""
        return self.get(job_id) if job_id in self._ends else self._control.resume(job_id)

    def retry(self, job_id: JobId) -> Job | None:
        """Add a failed or canceled job anew, as another job."""
        self._store_ends()
        return self._control.retry(job_id)

    def _write(self, job: Job, write: Callable[[Job], bool], shown: Callable[[Job], Job]) -> bool:
        try:
            return write(job)
        except StorageFailed as failed:
            _log.warning("the end of job %s waits to be stored: %s", job.job_id, failed.message)
            with self._lock:
                self._ends[job.job_id] = _End(job, write, shown)
            return True

    def _store_ends(self) -> None:
        for job_id, end in list(self._ends.items()):
            job = end.job
            if not self._store.look(job).is_held:
                job = self._store.reclaim(job, _LONG_ENOUGH_S) or job
            end.write(job)
            with self._lock:
                self._ends.pop(job_id, None)

    def _as_it_ended(self, job: Job) -> Job:
        end, refusal = self._ends.get(job.job_id), self._refusal
        if end is not None and not job.status.is_final:
            return end.shown(job)
        if refusal is not None and job.status is JobStatus.PENDING and job.most_attempts <= 1:
            message = f"{refusal.message}\n{refusal.hint}"
            failed = replace(job, status=JobStatus.FAILED, error_code=refusal.code, error_message=message)
            return replace(failed, finished_at=datetime.now(UTC))
        return job
