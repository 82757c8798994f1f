"""A job that ended has ended, even when the disk is too full to say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus
from kb.jobs.endings import RememberedEnds
from kb.jobs.runner import Finished, JobContext, JobRunner
from tests.unit.jobs.test_runner import MemoryJobs


@dataclass
class FullDisk(MemoryJobs):
    is_full: bool = True

    def finish(
        self,
        job_id: JobId,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
    ) -> None:
        if self.is_full:
            raise StorageFailed("the disk is full")
        super().finish(job_id, status, result=result, error=error)


def fails(_job: Job, _context: JobContext) -> Finished:
    raise StorageFailed("the disk is full")


def succeeds(_job: Job, _context: JobContext) -> Finished:
    return Finished({"new": 1})


@pytest.mark.parametrize(
    ("handler", "status", "message"),
    [(fails, JobStatus.FAILED, "the disk is full"), (succeeds, JobStatus.SUCCEEDED, None)],
)
def test_who_waits_hears_of_an_end_that_could_not_be_stored(
    handler: object, status: JobStatus, message: str | None
) -> None:
    disk = FullDisk()
    jobs = RememberedEnds(disk, disk)
    job = jobs.enqueue(JobKind.INGEST, {})
    runner = JobRunner(jobs, jobs, {JobKind.INGEST: handler})  # type: ignore[dict-item]
    with pytest.raises(StorageFailed):
        runner.run_until_idle()  # the second look at the queue finds the disk still full
    ended = jobs.get(job.job_id)
    assert ended is not None
    assert (ended.status, ended.error_message) == (status, message)
    assert ended.finished_at is not None
    assert [known.status for known in jobs.recent(5)] == [status]
    assert disk.jobs[job.job_id].status is JobStatus.RUNNING


def test_the_end_is_stored_as_soon_as_there_is_room() -> None:
    disk = FullDisk()
    jobs = RememberedEnds(disk, disk)
    job = jobs.enqueue(JobKind.INGEST, {})
    assert jobs.claim() == disk.jobs[job.job_id]
    jobs.finish(job.job_id, JobStatus.SUCCEEDED, result={"new": 1})
    disk.is_full = False
    assert jobs.claim() is None
    assert (disk.jobs[job.job_id].status, disk.jobs[job.job_id].result) == (JobStatus.SUCCEEDED, {"new": 1})
