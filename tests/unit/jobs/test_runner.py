"""Jobs run one after another, say how far they are, stop when asked and survive their server."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress
from kb.jobs.runner import Finished, Handler, JobContext, JobRunner
from tests.fakes.jobs import FakeJobs


def runner(jobs: FakeJobs, handler: Handler, now: Callable[[], float] | None = None) -> JobRunner:
    handlers = {JobKind.INGEST: handler}
    return JobRunner(jobs, handlers, now=now) if now else JobRunner(jobs, handlers)


def test_all_pending_jobs_are_run_in_their_order() -> None:
    jobs = FakeJobs()
    for name in ("a", "b"):
        jobs.enqueue(JobKind.INGEST, {"path": name})
    done: list[object] = []

    def handler(job: Job, context: JobContext) -> Finished:
        done.append(job.payload["path"])
        return Finished({"read": 1})

    assert runner(jobs, handler).run_until_idle() == 2
    assert done == ["a", "b"]
    assert [job.status for job in jobs.jobs.values()] == [JobStatus.SUCCEEDED] * 2
    assert jobs.jobs[JobId("job-1")].result == {"read": 1}


def test_what_a_dead_process_left_running_is_run_again() -> None:
    jobs = FakeJobs()
    jobs.enqueue(JobKind.INGEST, {})
    jobs.claim("a dead process", 60.0)
    assert runner(jobs, lambda job, context: Finished()).run_until_idle() == 1


@pytest.mark.parametrize(
    ("error", "status", "code", "message"),
    [
        (StorageFailed("the disk is full", hint="free some space"), JobStatus.FAILED, "storage_failed", "free some"),
        (Unreadable("no"), JobStatus.FAILED, "unreadable", "no"),
        (Cancelled("stopped"), JobStatus.CANCELED, "cancelled", "stopped"),
        (ZeroDivisionError("secret content"), JobStatus.FAILED, "internal", "see the log"),
    ],
)
def test_an_error_ends_the_job_with_its_code(error: Exception, status: JobStatus, code: str, message: str) -> None:
    jobs = FakeJobs()
    jobs.enqueue(JobKind.INGEST, {}, most_attempts=1)

    def handler(job: Job, context: JobContext) -> Finished:
        raise error

    runner(jobs, handler).run_until_idle()
    job = jobs.jobs[JobId("job-1")]
    assert (job.status, job.error_code) == (status, code)
    assert not job.dead
    assert message in str(job.error_message)
    assert "secret" not in str(job.error_message)


@pytest.mark.parametrize("error", [None, Unreadable("no"), RuntimeError("bug"), Cancelled("enough")])
def test_the_end_of_a_job_is_told_once_the_store_has_it(error: Exception | None) -> None:
    jobs = FakeJobs()
    job = jobs.enqueue(JobKind.INGEST, {}, most_attempts=1)
    told: list[tuple[str, bool]] = []

    def handler(_job: Job, _context: object) -> Finished:
        if error is not None:
            raise error
        return Finished({})

    def ended(job_id: JobId) -> None:
        found = jobs.get(job_id)
        assert found is not None
        told.append((job_id, found.status in {JobStatus.PENDING, JobStatus.RUNNING}))

    JobRunner(jobs, {JobKind.INGEST: handler}, ended=ended).run_until_idle()
    assert told == [(job.job_id, False)]


def test_a_kind_nobody_handles_fails_and_the_next_job_runs() -> None:
    jobs = FakeJobs()
    jobs.enqueue(JobKind.REBUILD, {})
    jobs.enqueue(JobKind.INGEST, {})
    runner(jobs, lambda job, context: Finished()).run_until_idle()
    assert [job.status for job in jobs.jobs.values()] == [JobStatus.FAILED, JobStatus.SUCCEEDED]


def test_a_canceled_job_keeps_what_it_has_to_say() -> None:
    jobs = FakeJobs()
    job = jobs.enqueue(JobKind.INGEST, {})
    clock = iter(range(100))

    def handler(job: Job, context: JobContext) -> Finished:
        assert not context.should_stop()
        jobs.request_cancel(job.job_id)
        assert context.should_stop()
        return Finished({"kept": 3}, canceled=True)

    runner(jobs, handler, lambda: float(next(clock))).run_until_idle()
    ended = jobs.jobs[job.job_id]
    assert (ended.status, ended.result) == (JobStatus.CANCELED, {"kept": 3})


def test_progress_goes_to_the_store_now_and_then_and_to_the_listener_always() -> None:
    jobs = FakeJobs()
    jobs.enqueue(JobKind.INGEST, {})
    heard: list[int] = []
    time = 0.0

    def handler(job: Job, context: JobContext) -> Finished:
        nonlocal time
        for done in range(100):
            time += 0.01
            context.report(Progress("read", done, 100, done))
        return Finished()

    JobRunner(
        jobs,
        {JobKind.INGEST: handler},
        listener=lambda job, progress: heard.append(progress.done),
        now=lambda: time,
    ).run_until_idle()
    assert heard == list(range(100))
    assert 2 <= len(jobs.reports) <= 4


def test_ctrl_c_marks_the_job_canceled_and_goes_on_up() -> None:
    jobs = FakeJobs()
    jobs.enqueue(JobKind.INGEST, {})

    def handler(job: Job, context: JobContext) -> Finished:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner(jobs, handler).run_until_idle()
    assert jobs.jobs[JobId("job-1")].status is JobStatus.CANCELED


def test_a_server_runs_jobs_that_come_later_and_outlives_a_busy_store() -> None:
    jobs = FakeJobs(broken_claims=1)
    server = runner(jobs, lambda job, context: Finished())
    server.start()
    try:
        jobs.enqueue(JobKind.INGEST, {})
        server.wake()
        assert jobs.ended.wait(10)
        assert jobs.jobs[JobId("job-1")].status is JobStatus.SUCCEEDED
    finally:
        assert server.stop()


def test_a_listener_that_breaks_does_not_end_the_thread_that_others_wait_for() -> None:
    jobs = FakeJobs()
    told: list[JobId] = []

    def ended(job_id: JobId) -> None:
        told.append(job_id)
        if len(told) == 1:
            raise RuntimeError("a bug")

    server = JobRunner(jobs, {JobKind.INGEST: lambda job, context: Finished()}, ended=ended)
    jobs.enqueue(JobKind.INGEST, {})
    server.start()
    try:
        assert jobs.ended.wait(10)
        jobs.ended.clear()
        jobs.enqueue(JobKind.INGEST, {})
        server.wake()
        assert jobs.ended.wait(10)
    finally:
        assert server.stop()


def test_a_job_under_way_when_the_server_ends_goes_on_at_the_next_start() -> None:
    jobs = FakeJobs()
    jobs.enqueue(JobKind.INGEST, {})
    begun = threading.Event()

    def handler(job: Job, context: JobContext) -> Finished:
        begun.set()
        while not context.should_stop():
            threading.Event().wait(0.005)
        return Finished(canceled=True)

    server = runner(jobs, handler)
    server.start()
    assert begun.wait(10)
    assert server.stop()
    waiting = jobs.jobs[JobId("job-1")]
    assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
    assert runner(jobs, lambda job, context: Finished()).run_until_idle() == 1
    assert jobs.jobs[JobId("job-1")].status is JobStatus.SUCCEEDED


def test_stopping_a_runner_that_never_started_is_nothing() -> None:
    assert runner(FakeJobs(), lambda job, context: Finished()).stop()
