"""Ends of jobs that could not be stored: on a full disk, whoever waits must hear of them all the same."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress
from kb.jobs.ports import JobControl, JobStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _End:
    status: JobStatus
    result: Mapping[str, Json] | None
    error: tuple[str, str] | None


class RememberedEnds:
    """A job store and control in one that remembers what the queue could not take, and tries again.

    A process that dies before it succeeds leaves the job as running: the next start puts it back.
    """

    def __init__(self, store: JobStore, control: JobControl) -> None:
        self._store = store
        self._control = control
        self._ends: dict[JobId, _End] = {}
        self._lock = threading.Lock()

    def enqueue(self, kind: JobKind, payload: Mapping[str, Json]) -> Job:
        """Add a pending job; the same kind and payload while one is live return that one."""
        self._store_ends()
        return self._store.enqueue(kind, payload)

    def claim(self) -> Job | None:
        """Take the oldest pending job and mark it running, after storing ends that wait for it."""
        self._store_ends()
        return self._store.claim()

    def report(self, job_id: JobId, progress: Progress) -> bool:
        """Store progress; return False when the job should stop."""
        return self._store.report(job_id, progress)

    def finish(
        self,
        job_id: JobId,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
    ) -> None:
        """End a job; what cannot be stored is remembered, and `get` says it."""
        try:
            self._store.finish(job_id, status, result=result, error=error)
        except StorageFailed as failed:
            _log.warning("the end of job %s waits to be stored: %s", job_id, failed.message)
            with self._lock:
                self._ends[job_id] = _End(status, result, error)

    def get(self, job_id: JobId) -> Job | None:
        """Return a job."""
        job = self._control.get(job_id)
        return self._as_it_ended(job) if job else None

    def recent(self, limit: int) -> list[Job]:
        """Return the newest jobs first."""
        return [self._as_it_ended(job) for job in self._control.recent(limit)]

    def request_cancel(self, job_id: JobId) -> Job | None:
        """Ask a live job to stop: a pending one is canceled at once."""
        if job_id in self._ends:
            return self.get(job_id)
        return self._control.request_cancel(job_id)

    def requeue_orphans(self) -> int:
        """At start: put back what a dead process left running; return how many."""
        return self._control.requeue_orphans()

    def _store_ends(self) -> None:
        for job_id, end in list(self._ends.items()):
            self._store.finish(job_id, end.status, result=end.result, error=end.error)
            with self._lock:
                self._ends.pop(job_id, None)

    def _as_it_ended(self, job: Job) -> Job:
        end = self._ends.get(job.job_id)
        if end is None or job.status.is_final:
            return job
        code, message = end.error or (None, None)
        finished = datetime.now(job.updated_at.tzinfo)
        return replace(
            job,
            status=end.status,
            result=end.result,
            error_code=code,
            error_message=message,
            updated_at=finished,
            finished_at=finished,
        )
