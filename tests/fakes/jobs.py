"""The job queue in memory, held to the same promises as the file."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from kb.domain.errors import Conflict
from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest, Standing

MOST_INTERRUPTIONS = 5


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class FakeJobs:
    """Store and control in one.

    Attributes:
        now: the clock of the wall.
        broken_claims: so many claims fail before one works.
        reports: all progress that was stored.
        ended: set whenever a job is over.
    """

    jobs: dict[JobId, Job] = field(default_factory=dict)
    cancels: set[JobId] = field(default_factory=set)
    now: Callable[[], datetime] = utc_now
    broken_claims: int = 0
    reports: list[Progress] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.RLock = field(default_factory=threading.RLock)

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
        with self.lock:
            for job in self.jobs.values():
                if request_key is not None and job.request_key == request_key:
                    if (job.kind, _key(job.payload)) != (kind, _key(payload)):
                        raise Conflict("this request key was used for another request")
                    return job
            for job in self.jobs.values():
                if not job.status.is_final and (job.kind, job.subject) == (kind, subject):
                    if _key(job.payload) == _key(payload):
                        return self.change(job, priority=max(priority, job.priority))
                    if not kind.queues:
                        raise Conflict(f"another {kind.value} is under way")
            now = self.now()
            job_id = JobId(f"job-{len(self.jobs) + 1}")
            job = Job(job_id, kind, JobStatus.PENDING, dict(payload), Progress(), 0, None, None, None, now, now, None)
            return self.change(
                job, subject=subject, request_key=request_key, priority=priority, most_attempts=most_attempts
            )

    def claim(self, owner: str, lease_s: float, *, above: int | None = None) -> Job | None:
        with self.lock:
            if self.broken_claims:
                self.broken_claims -= 1
                raise StorageFailed("the library is busy")
            due = [job for job in self.jobs.values() if self._is_due(job) and (above is None or job.priority > above)]
            if not due:
                return None
            first = max(due, key=lambda job: job.priority)
            return self.change(
                first,
                status=JobStatus.RUNNING,
                attempts=first.attempts + 1,
                fencing_token=first.fencing_token + 1,
                owner=owner,
                lease_expires_at=self.now() + timedelta(seconds=lease_s),
                not_before=None,
            )

    def heartbeat(self, job: Job, lease_s: float) -> bool:
        with self.lock:
            held = self._held(job)
            if held is not None:
                self.change(held, lease_expires_at=self.now() + timedelta(seconds=lease_s))
            return held is not None

    def reclaim(self, job: Job, lease_s: float) -> Job | None:
        with self.lock:
            known = self.jobs.get(job.job_id)
            if known is None or known.status is not JobStatus.RUNNING:
                return None
            if (known.fencing_token, known.owner) != (job.fencing_token, job.owner):
                return None
            until = self.now() + timedelta(seconds=lease_s)
            return self.change(known, fencing_token=known.fencing_token + 1, lease_expires_at=until)

    def look(self, job: Job) -> Standing:
        with self.lock:
            held = self._held(job)
            if held is None:
                return Standing(is_held=False)
            urgent = any(
                other.status is JobStatus.PENDING and self._is_due(other) and other.priority > job.priority
                for other in self.jobs.values()
            )
            return Standing(is_held=True, cancel_requested=job.job_id in self.cancels, rest=held.rest, urgent=urgent)

    def set_rest(self, job: Job, rest: Rest | None) -> None:
        with self.lock:
            held = self._held(job)
            if held is not None and held.rest is not Rest.ASKED:
                self.change(held, rest=rest)

    def report(self, job: Job, progress: Progress) -> bool:
        with self.lock:
            held = self._held(job)
            if held is None:
                return False
            self.reports.append(progress)
            self.change(held, progress=replace(progress, percent=min(progress.percent, 99)))
            return job.job_id not in self.cancels

    def finish(
        self,
        job: Job,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> bool:
        with self.lock:
            held = self._held(job)
            if held is None:
                return False
            percent = 100 if status is JobStatus.SUCCEEDED else held.progress.percent
            self._over(held, status, error, dead=dead, result=result, progress=replace(held.progress, percent=percent))
            return True

    def put_back(
        self, job: Job, *, not_before: datetime | None = None, error: tuple[str, str] | None = None, counts: bool = True
    ) -> bool:
        with self.lock:
            held = self._held(job)
            if held is None:
                return False
            code, message = error or (None, None)
            attempts = held.attempts - (not counts)
            changes = {"not_before": not_before, "error_code": code, "error_message": message, "attempts": attempts}
            self.change(held, status=JobStatus.PENDING, **_idle(held), **changes)
            return True

    def requeue_orphans(self, owner: str) -> int:
        with self.lock:
            left = [job for job in self.jobs.values() if job.status is JobStatus.RUNNING and job.owner != owner]
            count = 0
            for job in left:
                if job.job_id in self.cancels:
                    self._over(job, JobStatus.CANCELED, None)
                elif job.attempts >= max(job.most_attempts, MOST_INTERRUPTIONS):
                    self._over(job, JobStatus.FAILED, ("internal", "the program ended while it ran"), dead=True)
                else:
                    self.change(job, status=JobStatus.PENDING, **_idle(job))
                    count += 1
            return count

    def get(self, job_id: JobId) -> Job | None:
        return self.jobs.get(job_id)

    def recent(self, limit: int) -> list[Job]:
        return list(reversed(self.jobs.values()))[:limit]

    def request_cancel(self, job_id: JobId) -> Job | None:
        with self.lock:
            job = self.jobs.get(job_id)
            if job is None or job.status.is_final:
                return job
            self.cancels.add(job_id)
            if job.status is JobStatus.PENDING:
                return self._over(job, JobStatus.CANCELED, None)
            return job

    def pause(self, job_id: JobId) -> Job | None:
        return self._rest(job_id, Rest.ASKED)

    def resume(self, job_id: JobId) -> Job | None:
        return self._rest(job_id, None)

    def retry(self, job_id: JobId) -> Job | None:
        with self.lock:
            job = self.jobs.get(job_id)
            if job is None:
                return None
            if job.status is JobStatus.PENDING and job.not_before is not None:
                return self.change(job, not_before=None)
            if job.status not in {JobStatus.FAILED, JobStatus.CANCELED}:
                raise Conflict(f"the job is {job.status.value}")
            again = self.enqueue(
                job.kind,
                job.payload,
                subject=job.subject,
                priority=job.priority,
                most_attempts=job.most_attempts,
            )
            return self.change(again, retry_of=again.retry_of or job.job_id)

    def change(self, job: Job, **values: object) -> Job:
        with self.lock:
            self.jobs[job.job_id] = replace(job, updated_at=self.now(), **values)  # type: ignore[arg-type]
            return self.jobs[job.job_id]

    def _over(
        self, job: Job, status: JobStatus, error: tuple[str, str] | None, *, dead: bool = False, **values: object
    ) -> Job:
        code, message = error or (None, None)
        end = {"status": status, "error_code": code, "error_message": message, "dead": dead, "rest": None}
        over = self.change(job, finished_at=self.now(), lease_expires_at=None, **end, **values)
        self.ended.set()
        return over

    def _rest(self, job_id: JobId, rest: Rest | None) -> Job | None:
        with self.lock:
            job = self.jobs.get(job_id)
            return job if job is None or job.status.is_final else self.change(job, rest=rest)

    def _held(self, job: Job) -> Job | None:
        known = self.jobs.get(job.job_id)
        if known is None or known.status is not JobStatus.RUNNING or known.fencing_token != job.fencing_token:
            return None
        return known if known.lease_expires_at and known.lease_expires_at > self.now() else None

    def _is_due(self, job: Job) -> bool:
        lapsed = job.lease_expires_at is not None and job.lease_expires_at <= self.now()
        free = job.status is JobStatus.PENDING or (job.status is JobStatus.RUNNING and lapsed)
        return free and job.rest is None and (job.not_before is None or job.not_before <= self.now())


def _key(payload: Mapping[str, Json]) -> str:
    return json.dumps(payload, sort_keys=True)


def _idle(job: Job) -> dict[str, object]:
    return {"lease_expires_at": None, "rest": None if job.rest is Rest.BATTERY else job.rest}
