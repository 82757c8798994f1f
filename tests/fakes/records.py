"""Answers and jobs in memory, held to the same promises as the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kb.answering.ports import AnswerRecord
from kb.domain.errors import NotFound
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress
from tests.fakes.library import FakeLibrary


@dataclass
class FakeAnswerStore:
    library: FakeLibrary = field(default_factory=FakeLibrary)
    kept: dict[str, AnswerRecord] = field(default_factory=dict)

    def keep(self, record: AnswerRecord) -> None:
        self.kept.pop(record.answer.retrieval.trace_id, None)
        self.kept[record.answer.retrieval.trace_id] = record
        self.library.pinned |= {cited.doc_id for cited in record.answer.citations}
        self.library.pinned |= {packed.doc_id for packed in record.packed}

    def get(self, trace_id: str) -> AnswerRecord | None:
        return self.kept.get(trace_id)

    def recent(self, limit: int) -> list[AnswerRecord]:
        return list(reversed(self.kept.values()))[:limit]


@dataclass
class FakeQueue:
    """What the store and the control of jobs share."""

    jobs: dict[JobId, Job] = field(default_factory=dict)
    cancel: set[JobId] = field(default_factory=set)

    def change(self, job: Job, **values: object) -> Job:
        self.jobs[job.job_id] = replace(job, updated_at=datetime.now(UTC), **values)  # type: ignore[arg-type]
        return self.jobs[job.job_id]


@dataclass
class FakeJobStore:
    queue: FakeQueue = field(default_factory=FakeQueue)

    def enqueue(self, kind: JobKind, payload: Mapping[str, Json]) -> Job:
        for job in self.queue.jobs.values():
            if not job.status.is_final and (job.kind, _key(job.payload)) == (kind, _key(payload)):
                return job
        now = datetime.now(UTC)
        job_id = JobId(f"job-{len(self.queue.jobs) + 1}")
        job = Job(job_id, kind, JobStatus.PENDING, dict(payload), Progress(), 0, None, None, None, now, now, None)
        self.queue.jobs[job_id] = job
        return job

    def claim(self) -> Job | None:
        for job in self.queue.jobs.values():
            if job.status is JobStatus.PENDING:
                return self.queue.change(job, status=JobStatus.RUNNING, attempts=job.attempts + 1)
        return None

    def report(self, job_id: JobId, progress: Progress) -> bool:
        job = self.queue.jobs.get(job_id)
        if job is None or job.status is not JobStatus.RUNNING:
            return False
        self.queue.change(job, progress=replace(progress, percent=min(progress.percent, 99)))
        return job_id not in self.queue.cancel

    def finish(
        self,
        job_id: JobId,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
    ) -> None:
        job = self.queue.jobs.get(job_id)
        if job is None:
            raise NotFound("there is no such job")
        if not job.status.is_final:
            percent = 100 if status is JobStatus.SUCCEEDED else job.progress.percent
            self.queue.change(
                job,
                status=status,
                progress=replace(job.progress, percent=percent),
                result=result,
                error_code=error[0] if error else None,
                error_message=error[1] if error else None,
                finished_at=datetime.now(UTC),
            )


@dataclass
class FakeJobControl:
    queue: FakeQueue

    def get(self, job_id: JobId) -> Job | None:
        return self.queue.jobs.get(job_id)

    def recent(self, limit: int) -> list[Job]:
        return list(reversed(self.queue.jobs.values()))[:limit]

    def request_cancel(self, job_id: JobId) -> Job | None:
        job = self.queue.jobs.get(job_id)
        if job is None or job.status.is_final:
            return job
        self.queue.cancel.add(job_id)
        if job.status is JobStatus.PENDING:
            return self.queue.change(job, status=JobStatus.CANCELED, finished_at=datetime.now(UTC))
        return job

    def requeue_orphans(self) -> int:
        running = [job for job in self.queue.jobs.values() if job.status is JobStatus.RUNNING]
        for job in running:
            if job.job_id in self.queue.cancel:
                self.queue.change(job, status=JobStatus.CANCELED, finished_at=datetime.now(UTC))
            else:
                self.queue.change(job, status=JobStatus.PENDING)
        return sum(job.job_id not in self.queue.cancel for job in running)


def _key(payload: Mapping[str, Json]) -> str:
    return json.dumps(payload, sort_keys=True)
