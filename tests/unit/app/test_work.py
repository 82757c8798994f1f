"""The desk of jobs: who steers is heard at once, and on battery what takes long rests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import pytest

from kb.app import work
from kb.app.bootstrap import Parts
from kb.app.facade.events import Events
from kb.app.facade.jobs import Jobs
from kb.app.work import JobDesk
from kb.contract.jobs import JobRequest
from kb.domain.errors import Conflict, NotFound
from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobKind, JobStatus, Progress, Rest
from kb.jobs.runner import Finished, JobContext
from tests.fakes.jobs import FakeJobs

INGEST = JobKind.INGEST


@dataclass
class Power:
    battery: bool = False

    def on_battery(self) -> bool:
        return self.battery


class Bench:
    """A desk over the queue in memory, whose ingest works until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, pause_on_battery: bool = False) -> None:
        self.jobs, self.power, self.events = FakeJobs(), Power(), Events()
        self.steps, self.let_go, self.fails = 0, False, False
        indexing = SimpleNamespace(pause_on_battery=pause_on_battery)
        parts = SimpleNamespace(
            job_store=self.jobs, job_control=self.jobs, power=self.power, settings=SimpleNamespace(indexing=indexing)
        )
        monkeypatch.setattr(work, "handlers", lambda *_arguments: {INGEST: self.handle})
        self.desk = JobDesk(cast("Parts", parts), self.events)
        self.facade = Jobs(self.jobs, self.desk.steered)

    def handle(self, job: Job, context: JobContext) -> Finished:
        if self.fails:
            raise StorageFailed("full")
        while not self.let_go:
            context.give_way()
            if context.should_stop():
                return Finished(canceled=True)
            self.steps += 1
            context.report(Progress("read", self.steps, 0))
            time.sleep(0.002)
        return Finished()

    def goes_on(self) -> None:
        before = self.steps
        until(lambda: self.steps > before + 3)

    def status(self, job: Job) -> JobStatus:
        return self.jobs.jobs[job.job_id].status


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def ask(job: Job) -> JobRequest:
    return JobRequest(job_id=job.job_id)


def test_a_job_that_was_asked_to_stop_has_stopped_within_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    job = bench.desk.start(INGEST, {})
    bench.goes_on()
    began = time.monotonic()
    assert bench.facade.cancel(ask(job)).status == "running"
    until(lambda: bench.status(job) is JobStatus.CANCELED)
    assert time.monotonic() - began < 1.0
    bench.desk.close()


def test_a_paused_job_rests_until_it_is_resumed_and_listeners_hear_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    listener = bench.events.subscribe()
    job = bench.desk.start(INGEST, {})
    bench.goes_on()
    paused = bench.facade.pause(ask(job))
    assert (paused.paused, paused.pause_reason) == (True, "asked")

    def still() -> bool:
        before = bench.steps
        time.sleep(0.05)
        return bench.steps == before

    until(still)
    heard = []
    while (event := listener.next(0.0)) is not None:
        heard.append(event)
    assert any(event.job is not None and event.job.paused for event in heard)
    assert any("jobs" in event.changed for event in heard)
    assert not bench.facade.resume(ask(job)).paused
    bench.goes_on()
    bench.let_go = True
    until(lambda: bench.status(job) is JobStatus.SUCCEEDED)
    bench.desk.close()


def test_a_failed_job_is_tried_anew_as_another_and_runs_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    bench.fails = bench.let_go = True
    job = bench.desk.start(INGEST, {})
    until(lambda: bench.status(job) is JobStatus.FAILED)
    bench.fails = False
    again = bench.facade.retry(ask(job))
    assert again.retry_of == job.job_id
    until(lambda: bench.facade.get(JobRequest(job_id=again.id)).status == "succeeded")
    with pytest.raises(Conflict):
        bench.facade.retry(JobRequest(job_id=again.id))
    bench.desk.close()


@pytest.mark.parametrize("method", ["get", "cancel", "pause", "resume", "retry"])
def test_a_job_nobody_knows_is_an_error(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    with pytest.raises(NotFound, match="no job 'x'"):
        getattr(Bench(monkeypatch).facade, method)(JobRequest(job_id="x"))


@pytest.mark.parametrize(
    ("payload", "priority", "rests"),
    [
        ({}, 0, True),
        ({"paths": []}, 0, True),
        ({"paths": ["a", "b", "c", "d", "e", "f"]}, 0, True),
        ({"paths": ["a.md"]}, 0, False),
        ({}, 10, False),
    ],
    ids=["everything", "no paths", "many paths", "a file", "urgent"],
)
def test_on_battery_what_takes_long_rests_and_a_saved_file_is_read(
    monkeypatch: pytest.MonkeyPatch, payload: dict[str, Json], priority: int, rests: bool
) -> None:
    bench = Bench(monkeypatch, pause_on_battery=True)
    bench.power.battery = True
    job = bench.desk.start(INGEST, payload, priority=priority)
    if rests:
        until(lambda: bench.jobs.jobs[job.job_id].rest is Rest.BATTERY)
        assert bench.facade.get(ask(job)).pause_reason == "battery"
        bench.power.battery = False
    bench.goes_on()
    assert bench.jobs.jobs[job.job_id].rest is None
    bench.let_go = True
    until(lambda: bench.status(job) is JobStatus.SUCCEEDED)
    bench.desk.close()


def test_on_battery_all_goes_on_unless_the_person_wants_it_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    bench.power.battery = True
    job = bench.desk.start(INGEST, {})
    bench.goes_on()
    bench.facade.cancel(ask(job))
    until(lambda: bench.status(job) is JobStatus.CANCELED)
    bench.desk.close()
