"""A long job lets urgent ones go first, rests when it is to rest, and hears of a stop even then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from kb.domain.failures import StorageFailed
from kb.domain.jobs import Job, JobKind, JobStatus, Progress, Rest, Standing
from kb.jobs.runner import Finished, Handler, JobContext, JobRunner
from tests.contracts.jobs import WallClock
from tests.fakes.jobs import FakeJobs

INGEST = JobKind.INGEST


def runner(jobs: FakeJobs, handler: Handler, rests: Callable[[Job], Rest | None] = lambda _job: None) -> JobRunner:
    handlers: Mapping[JobKind, Handler] = {INGEST: handler}
    return JobRunner(jobs, handlers, rests=rests)


def wait_until(condition: Callable[[], object], within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@dataclass
class Working:
    """A server whose long job gives way all the time until it is let go or asked to stop."""

    jobs: FakeJobs = field(default_factory=FakeJobs)
    rests: Callable[[Job], Rest | None] = lambda _job: None
    steps: int = 0
    let_go: bool = False
    ran: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.job = self.jobs.enqueue(INGEST, {"name": "long"})
        self.runner = runner(self.jobs, self.handle, self.rests)

    def handle(self, job: Job, context: JobContext) -> Finished:
        if job.payload["name"] != "long":
            self.ran.append(str(job.payload["name"]))
            return Finished()
        while not self.let_go:
            self.ran.extend(f"way for {other.payload['name']}" for other in context.give_way())
            if context.should_stop():
                return Finished(canceled=True)
            self.steps += 1
            time.sleep(0.002)
        return Finished()

    def goes_on(self) -> None:
        before = self.steps
        wait_until(lambda: self.steps > before + 3)

    def rests_now(self) -> None:
        wait_until(self.still)

    def still(self) -> bool:
        before = self.steps
        time.sleep(0.05)
        return self.steps == before

    @property
    def status(self) -> JobStatus:
        return self.jobs.jobs[self.job.job_id].status


def test_a_job_under_way_lets_urgent_ones_go_first_and_hears_which_ran() -> None:
    jobs = FakeJobs()
    jobs.enqueue(INGEST, {"name": "long"})
    order: list[object] = []
    gave: list[Job] = []

    def handler(job: Job, context: JobContext) -> Finished:
        name = job.payload["name"]
        order.append(name)
        if name == "long":
            for other, priority in (("calm", 0), ("saved", 10), ("saved too", 10)):
                jobs.enqueue(INGEST, {"name": other}, priority=priority)
            while not gave:
                gave.extend(context.give_way())
            order.append("long goes on")
        if name == "saved too":
            raise StorageFailed("full")
        return Finished()

    runner(jobs, handler).run_until_idle()
    assert order == ["long", "saved", "saved too", "long goes on", "calm"]
    assert [(job.payload["name"], job.status) for job in gave] == [
        ("saved", JobStatus.SUCCEEDED),
        ("saved too", JobStatus.PENDING),
    ]


def test_an_urgent_job_gives_way_only_to_more_urgent_ones() -> None:
    jobs = FakeJobs()
    jobs.enqueue(INGEST, {"name": "urgent"}, priority=10)
    gave: list[tuple[Job, ...]] = []

    def handler(job: Job, context: JobContext) -> Finished:
        if job.payload["name"] == "urgent":
            jobs.enqueue(INGEST, {"name": "as urgent"}, priority=10)
            gave.append(context.give_way())
        return Finished()

    assert runner(jobs, handler).run_until_idle() == 2
    assert gave == [()]


def test_two_jobs_never_write_at_once() -> None:
    """Invariant 15: what gives way stands still until the other has ended."""
    jobs = FakeJobs()
    writes: list[str] = []

    def handler(job: Job, context: JobContext) -> Finished:
        for step in range(3):
            writes.append(job.job_id)
            time.sleep(0.001)
            writes.append(job.job_id)
            if job.priority == 0:
                jobs.enqueue(INGEST, {"n": f"{job.job_id}-{step}"}, priority=10)
                context.give_way()
        return Finished()

    for number in range(3):
        jobs.enqueue(INGEST, {"n": number})
    server = runner(jobs, handler)
    server.start()
    wait_until(lambda: len(jobs.jobs) >= 12 and all(job.status.is_final for job in list(jobs.jobs.values())))
    assert server.stop()
    assert len(writes) == 2 * 3 * len(jobs.jobs) >= 72
    assert writes[::2] == writes[1::2]


def test_giving_way_asks_the_store_at_most_five_times_a_second_unless_woken() -> None:
    @dataclass
    class Counting(FakeJobs):
        looks: int = 0

        def look(self, job: Job) -> Standing:
            self.looks += 1
            return super().look(job)

    jobs = Counting()
    jobs.enqueue(INGEST, {})
    clock = 0.0
    found: list[int] = []

    def handler(_job: Job, context: JobContext) -> Finished:
        nonlocal clock
        for _ in range(100):
            clock += 0.01
            context.give_way()
        found.append(jobs.looks)
        server.wake()
        context.give_way()
        found.append(jobs.looks)
        return Finished()

    server = JobRunner(jobs, {INGEST: handler}, now=lambda: clock)
    server.run_until_idle()
    assert 4 <= found[0] <= 7
    assert found[1] == found[0] + 1


def test_a_paused_job_rests_while_urgent_ones_run_and_goes_on_when_resumed() -> None:
    work = Working()
    work.runner.start()
    try:
        work.goes_on()
        work.jobs.pause(work.job.job_id)
        work.rests_now()
        work.jobs.enqueue(INGEST, {"name": "saved"}, priority=10)
        wait_until(lambda: work.ran == ["saved"])
        assert work.status is JobStatus.RUNNING
        work.jobs.resume(work.job.job_id)
        work.goes_on()
        assert work.ran == ["saved", "way for saved"]
    finally:
        work.let_go = True
        assert work.runner.stop()


@pytest.mark.parametrize("paused", [False, True], ids=["at work", "at rest"])
def test_a_stop_takes_effect_within_a_second(paused: bool) -> None:
    work = Working()
    work.runner.start()
    try:
        work.goes_on()
        if paused:
            work.jobs.pause(work.job.job_id)
            work.rests_now()
        began = time.monotonic()
        work.jobs.request_cancel(work.job.job_id)
        wait_until(lambda: work.status is JobStatus.CANCELED)
        assert time.monotonic() - began < 1.0
    finally:
        work.let_go = True
        assert work.runner.stop()


def test_the_end_of_the_program_ends_a_rest_and_the_job_stays_paused() -> None:
    work = Working()
    work.runner.start()
    work.goes_on()
    work.jobs.pause(work.job.job_id)
    work.rests_now()
    assert work.runner.stop()
    kept = work.jobs.jobs[work.job.job_id]
    assert (kept.status, kept.rest, kept.attempts) == (JobStatus.PENDING, Rest.ASKED, 0)


def test_a_job_rests_on_battery_and_says_so() -> None:
    on_battery = threading.Event()
    work = Working(rests=lambda job: Rest.BATTERY if on_battery.is_set() and job.priority == 0 else None)
    work.runner.start()
    try:
        work.goes_on()
        on_battery.set()
        wait_until(lambda: work.jobs.jobs[work.job.job_id].rest is Rest.BATTERY)
        work.rests_now()
        work.jobs.enqueue(INGEST, {"name": "saved"}, priority=10)
        wait_until(lambda: work.ran == ["saved"])
        on_battery.clear()
        work.goes_on()
        assert work.jobs.jobs[work.job.job_id].rest is None
    finally:
        work.let_go = True
        assert work.runner.stop()


def test_a_long_step_does_not_lose_the_lease() -> None:
    jobs = FakeJobs()
    job = jobs.enqueue(INGEST, {})
    kept: list[bool] = []

    def handler(job: Job, _context: JobContext) -> Finished:
        first = jobs.jobs[job.job_id].lease_expires_at
        assert first is not None
        # Longer than the lease, without asking anything.
        wait_until(lambda: jobs.now() > first)
        kept.append(jobs.look(job).is_held)
        return Finished()

    JobRunner(jobs, {INGEST: handler}, lease_s=0.6).run_until_idle()
    assert kept == [True]
    assert jobs.jobs[job.job_id].status is JobStatus.SUCCEEDED


def test_after_a_sleep_of_the_computer_the_job_goes_on() -> None:
    clock = WallClock()
    jobs = FakeJobs(now=clock)
    job = jobs.enqueue(INGEST, {})

    def handler(_job: Job, context: JobContext) -> Finished:
        clock.advance(100_000)
        assert context.give_way() == ()
        assert not context.should_stop()
        clock.advance(100_000)
        return Finished({"new": 1})

    runner(jobs, handler).run_until_idle()
    ended = jobs.jobs[job.job_id]
    assert (ended.status, ended.result, ended.attempts) == (JobStatus.SUCCEEDED, {"new": 1}, 1)


def test_a_job_that_another_process_took_stops_and_its_end_there_counts() -> None:
    clock = WallClock()
    jobs = FakeJobs(now=clock)
    job = jobs.enqueue(INGEST, {})
    told: list[str] = []

    def handler(_job: Job, context: JobContext) -> Finished:
        clock.advance(100_000)
        other = jobs.claim("another", 60.0)
        assert other is not None
        jobs.finish(other, JobStatus.SUCCEEDED, result={"by": "another"})
        assert context.give_way() == ()
        assert context.should_stop()
        return Finished({"by": "us"})

    JobRunner(jobs, {INGEST: handler}, ended=told.append).run_until_idle()
    assert jobs.jobs[job.job_id].result == {"by": "another"}
    assert told == []


def test_work_ends_as_it_should_when_progress_and_looks_cannot_be_had() -> None:
    """Invariant 9."""

    @dataclass
    class Blind(FakeJobs):
        def report(self, job: Job, progress: Progress) -> bool:
            raise StorageFailed("the disk is full")

        def look(self, job: Job) -> Standing:
            raise StorageFailed("the disk is full")

        def heartbeat(self, job: Job, lease_s: float) -> bool:
            raise StorageFailed("the disk is full")

        def set_rest(self, job: Job, rest: Rest | None) -> None:
            raise StorageFailed("the disk is full")

    jobs = Blind()
    good, bad = jobs.enqueue(INGEST, {"good": True}), jobs.enqueue(INGEST, {"good": False}, most_attempts=1)
    batteries = iter([Rest.BATTERY, None, None])

    def handler(job: Job, context: JobContext) -> Finished:
        context.report(Progress("read", 1, 2))
        assert context.give_way() == ()
        assert not context.should_stop()
        if not job.payload["good"]:
            raise StorageFailed("the disk is full")
        return Finished()

    runner(jobs, handler, lambda _job: next(batteries)).run_until_idle()
    assert (jobs.jobs[good.job_id].status, jobs.jobs[bad.job_id].status) == (JobStatus.SUCCEEDED, JobStatus.FAILED)


def test_urgent_jobs_that_cannot_be_taken_now_are_taken_later() -> None:
    jobs = FakeJobs()
    jobs.enqueue(INGEST, {"name": "long"})

    def handler(job: Job, context: JobContext) -> Finished:
        if job.payload["name"] == "long":
            jobs.enqueue(INGEST, {"name": "saved"}, priority=10)
            jobs.broken_claims = 1
            assert context.give_way() == ()
        return Finished()

    assert runner(jobs, handler).run_until_idle() == 2


def test_a_job_knows_whether_anybody_waits_before_it_puts_its_work_aside() -> None:
    jobs = FakeJobs()
    jobs.enqueue(INGEST, {"name": "long"})
    told: list[bool] = []

    def handler(job: Job, context: JobContext) -> Finished:
        if job.payload["name"] == "long":
            jobs.enqueue(INGEST, {"name": "calm"})
            told.append(context.is_wanted())
            jobs.enqueue(INGEST, {"name": "saved"}, priority=10)
            server.wake()
            told.append(context.is_wanted())
            context.give_way()
            told.append(context.is_wanted())
            jobs.pause(job.job_id)
            server.wake()
            told.append(context.is_wanted())
        return Finished()

    server = runner(jobs, handler)
    server.run_until_idle()
    assert told == [False, True, False, True]
