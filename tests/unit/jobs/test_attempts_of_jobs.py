"""Failures that may pass are tried again, later and later, then the job is dead; a person's mistakes are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kb.domain.errors import Conflict, InvalidInput, NotFound, Unreadable
from kb.domain.failures import Busy, ModelUnavailable, StorageFailed, Unreachable
from kb.domain.jobs import Job, JobKind, JobStatus
from kb.jobs.runner import Finished, JobContext, JobRunner
from tests.contracts.jobs import WallClock
from tests.fakes.jobs import FakeJobs


def raising(error: Exception) -> object:
    def handler(_job: Job, _context: JobContext) -> Finished:
        raise error

    return handler


def run(jobs: FakeJobs, handler: object) -> int:
    return JobRunner(jobs, {JobKind.INGEST: handler}).run_until_idle()  # type: ignore[dict-item]


@pytest.mark.parametrize("error", [StorageFailed("full"), Busy("held"), Unreachable("away"), ZeroDivisionError("bug")])
def test_a_failure_that_may_pass_is_tried_again_later_and_later_and_then_the_job_is_dead(error: Exception) -> None:
    clock = WallClock(datetime.now(UTC))
    jobs = FakeJobs(now=clock)
    job = jobs.enqueue(JobKind.INGEST, {}, most_attempts=3)
    waits: list[float] = []
    for _ in range(2):
        assert run(jobs, raising(error)) == 1
        waiting = jobs.jobs[job.job_id]
        assert (waiting.status, waiting.dead) == (JobStatus.PENDING, False)
        assert waiting.not_before is not None
        waits.append((waiting.not_before - datetime.now(UTC)).total_seconds())
        assert run(jobs, raising(error)) == 0
        clock.moment = waiting.not_before
    assert 0 < waits[0] < 2 < waits[1] < 8
    assert run(jobs, raising(error)) == 1
    ended = jobs.jobs[job.job_id]
    assert (ended.status, ended.attempts, ended.dead) == (JobStatus.FAILED, 3, True)


@pytest.mark.parametrize(
    "error",
    [NotFound("gone"), InvalidInput("no"), Conflict("busy"), Unreadable("odd"), ModelUnavailable("missing")],
)
def test_what_a_person_has_to_change_fails_at_once_and_is_not_dead(error: Exception) -> None:
    jobs = FakeJobs()
    job = jobs.enqueue(JobKind.INGEST, {}, most_attempts=5)
    run(jobs, raising(error))
    ended = jobs.jobs[job.job_id]
    assert (ended.status, ended.attempts, ended.dead) == (JobStatus.FAILED, 1, False)


def test_a_job_that_fails_while_it_is_being_canceled_is_canceled() -> None:
    jobs = FakeJobs()
    job = jobs.enqueue(JobKind.INGEST, {})

    def handler(job: Job, context: JobContext) -> Finished:
        jobs.request_cancel(job.job_id)
        assert context.should_stop()
        raise StorageFailed("full")

    run(jobs, handler)
    assert jobs.jobs[job.job_id].status is JobStatus.CANCELED


def test_a_job_that_succeeds_in_the_end_carries_no_error() -> None:
    clock = WallClock(datetime.now(UTC))
    jobs = FakeJobs(now=clock)
    job = jobs.enqueue(JobKind.INGEST, {})
    run(jobs, raising(StorageFailed("full")))
    clock.advance(timedelta(minutes=1).total_seconds())
    run(jobs, lambda _job, _context: Finished({"new": 1}))
    ended = jobs.jobs[job.job_id]
    assert (ended.status, ended.error_code, ended.attempts) == (JobStatus.SUCCEEDED, None, 2)
