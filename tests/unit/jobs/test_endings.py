"""A job that ended has ended, even when the disk is too full to say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobKind, JobStatus
from kb.jobs.endings import RememberedEnds
from kb.jobs.runner import Finished, JobContext, JobRunner
from tests.contracts.jobs import WallClock
from tests.fakes.jobs import FakeJobs


@dataclass
class FullDisk(FakeJobs):
    is_full: bool = True

    def finish(
        self,
        job: Job,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> bool:
        self._need_room()
        return super().finish(job, status, result=result, error=error, dead=dead)

    def put_back(
        self, job: Job, *, not_before: datetime | None = None, error: tuple[str, str] | None = None, counts: bool = True
    ) -> bool:
        self._need_room()
        return super().put_back(job, not_before=not_before, error=error, counts=counts)

    def _need_room(self) -> None:
        if self.is_full:
            raise StorageFailed("the disk is full")


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
    job = jobs.enqueue(JobKind.INGEST, {}, most_attempts=1)
    runner = JobRunner(jobs, {JobKind.INGEST: handler})  # type: ignore[dict-item]
    with pytest.raises(StorageFailed):
        runner.run_until_idle()  # the second look at the queue finds the disk still full
    ended = jobs.get(job.job_id)
    assert ended is not None
    assert (ended.status, ended.error_message) == (status, message)
    assert ended.finished_at is not None
    assert [known.status for known in jobs.recent(5)] == [status]
    assert disk.jobs[job.job_id].status is JobStatus.RUNNING


def test_a_next_attempt_that_could_not_be_stored_is_told_and_made_once_there_is_room() -> None:
    clock = WallClock()
    disk = FullDisk(now=clock)
    jobs = RememberedEnds(disk, disk)
    job = jobs.enqueue(JobKind.INGEST, {})
    with pytest.raises(StorageFailed):
        JobRunner(jobs, {JobKind.INGEST: fails}).run_until_idle()
    waiting = jobs.get(job.job_id)
    assert waiting is not None
    assert (waiting.status, waiting.error_message) == (JobStatus.PENDING, "the disk is full")
    disk.is_full = False
    clock.moment = datetime.now(UTC) + timedelta(minutes=1)
    assert JobRunner(jobs, {JobKind.INGEST: succeeds}).run_until_idle() == 1
    assert disk.jobs[job.job_id].status is JobStatus.SUCCEEDED


@pytest.mark.parametrize("asleep_s", [0, 1_000_000])
def test_the_end_is_stored_as_soon_as_there_is_room_also_after_the_lease(asleep_s: float) -> None:
    clock = WallClock()
    disk = FullDisk(now=clock)
    jobs = RememberedEnds(disk, disk)
    job = jobs.enqueue(JobKind.INGEST, {})
    held = jobs.claim("us", 60.0)
    assert held == disk.jobs[job.job_id]
    assert jobs.finish(held, JobStatus.SUCCEEDED, result={"new": 1})
    assert jobs.request_cancel(job.job_id) == jobs.pause(job.job_id) == jobs.resume(job.job_id)
    disk.is_full = False
    clock.advance(asleep_s)
    assert jobs.claim("us", 60.0) is None
    assert (disk.jobs[job.job_id].status, disk.jobs[job.job_id].result) == (JobStatus.SUCCEEDED, {"new": 1})


def test_an_end_that_another_process_wrote_meanwhile_counts() -> None:
    clock = WallClock()
    disk = FullDisk(now=clock)
    jobs = RememberedEnds(disk, disk)
    jobs.enqueue(JobKind.INGEST, {})
    held = jobs.claim("us", 60.0)
    assert held is not None
    jobs.finish(held, JobStatus.FAILED, error=("internal", "no"))
    disk.is_full = False
    disk.requeue_orphans("another")
    other = disk.claim("another", 60.0)
    assert other is not None
    assert disk.finish(other, JobStatus.SUCCEEDED)
    assert jobs.claim("us", 60.0) is None
    assert disk.jobs[held.job_id].status is JobStatus.SUCCEEDED


@dataclass
class NothingCanBeTaken(FakeJobs):
    is_full: bool = True

    def claim(self, owner: str, lease_s: float, *, above: int | None = None) -> Job | None:
        if self.is_full:
            raise StorageFailed("the disk is full", hint="free some space")
        return super().claim(owner, lease_s, above=above)


def test_who_waits_for_a_job_that_cannot_even_begin_hears_so_and_the_queue_keeps_it() -> None:
    disk = NothingCanBeTaken()
    jobs = RememberedEnds(disk, disk)
    waited_for = jobs.enqueue(JobKind.INGEST, {}, most_attempts=1)
    of_a_server = jobs.enqueue(JobKind.REBUILD, {})
    with pytest.raises(StorageFailed):
        jobs.claim("kb ingest", 60)
    ended = jobs.get(waited_for.job_id)
    assert ended is not None
    assert (ended.status, ended.error_message) == (JobStatus.FAILED, "the disk is full\nfree some space")
    assert ended.finished_at is not None
    patient = jobs.get(of_a_server.job_id)
    assert patient is not None
    assert patient.status is JobStatus.PENDING
    disk.is_full = False
    assert jobs.enqueue(JobKind.INGEST, {}, most_attempts=1).job_id == waited_for.job_id
    taken = jobs.claim("kb ingest", 60)
    assert taken is not None
    assert taken.job_id == waited_for.job_id
    again = jobs.get(of_a_server.job_id)
    assert again is not None
    assert again.error_message is None
