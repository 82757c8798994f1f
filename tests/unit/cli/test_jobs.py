"""`kb jobs` says how far each job is, why it rests or waits, and steers one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kb.app.wire.jobs import job_to_wire
from kb.cli.progress import duration
from kb.contract.jobs import JobRequest, JobsPage
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROGRESS = Progress("embed", 300, 1000, 55, "", 40, 40, 120, 3700.0, 12.5, 56.0)
RUNNING = Job(JobId("job_1"), JobKind.INGEST, JobStatus.RUNNING, {}, PROGRESS, 1, None, None, None, NOON, NOON, None)
FULL = replace(RUNNING, error_code="storage_failed", error_message="the disk is full\nfree some space")


def listed(kb: Kb, facade: FakeFacade, *jobs: Job) -> list[str]:
    facade.replies["jobs", "recent"] = JobsPage(jobs=tuple(map(job_to_wire, jobs)))
    ran = kb("jobs")
    assert ran.code == (0 if jobs else 1)
    return ran.out.splitlines()


def test_a_running_job_says_how_far_how_fast_and_what_is_left(kb: Kb, facade: FakeFacade) -> None:
    first, second = listed(kb, facade, RUNNING)
    assert first.startswith("job_1  ingest     running    2026-03-01")
    assert second.strip() == (
        "55 %  making vectors 300 of 1,000  12.5 a second, 56 s left, 40 of 40 files, 120 pages, 1 h 1 min of sound"
    )


def test_what_is_not_known_is_not_said(kb: Kb, facade: FakeFacade) -> None:
    _, second = listed(kb, facade, replace(RUNNING, progress=Progress("scan", 256)))
    assert second.strip() == "0 %  looking through the workspace"


def test_a_job_that_rests_says_why_and_how_it_goes_on(kb: Kb, facade: FakeFacade) -> None:
    asked = replace(RUNNING, status=JobStatus.PENDING, rest=Rest.ASKED)
    assert listed(kb, facade, asked)[1].strip() == "paused: `kb jobs --resume job_1` lets it go on"
    battery = listed(kb, facade, replace(RUNNING, rest=Rest.BATTERY))
    assert battery[1].strip() == "resting: the computer runs on its battery"
    assert battery[2].strip().startswith("55 %  making vectors")


def test_a_job_that_waits_for_another_attempt_says_when_and_why(kb: Kb, facade: FakeFacade) -> None:
    waiting = replace(FULL, status=JobStatus.PENDING, attempts=2, not_before=NOON + timedelta(seconds=8))
    first, second = listed(kb, facade, waiting)
    assert first.endswith("  the disk is full")
    assert second.strip().startswith("attempt 3 of 5 at ")
    assert second.endswith("`kb jobs --retry job_1`: now")


def test_a_dead_job_says_how_often_it_was_tried(kb: Kb, facade: FakeFacade) -> None:
    dead = replace(FULL, status=JobStatus.FAILED, attempts=5, dead=True, finished_at=NOON)
    (line,) = listed(kb, facade, dead)
    assert line.endswith("  given up after 5 attempts  the disk is full")


def test_no_jobs_is_no_hit(kb: Kb, facade: FakeFacade) -> None:
    assert listed(kb, facade) == ["no jobs yet"]


@pytest.mark.parametrize("how", ["cancel", "pause", "resume", "retry"])
def test_one_job_is_steered(kb: Kb, facade: FakeFacade, how: str) -> None:
    assert kb("jobs", f"--{how}", "job_9").code == 0
    assert facade.calls == [("jobs", how, JobRequest(job_id="job_9"))]


@pytest.mark.parametrize("how", ["cancel", "pause", "resume"])
def test_who_steers_a_job_that_is_over_hears_so(kb: Kb, facade: FakeFacade, how: str) -> None:
    facade.replies["jobs", how] = job_to_wire(replace(RUNNING, status=JobStatus.SUCCEEDED, finished_at=NOON))
    assert f"it was over before: there is nothing to {how}" in kb("jobs", f"--{how}", "job_1").err
    canceled = replace(RUNNING, status=JobStatus.CANCELED, finished_at=NOON)
    facade.replies["jobs", "cancel"] = job_to_wire(canceled)
    assert kb("jobs", "--cancel", "job_1").err == ""


def test_a_paused_job_has_no_rate(kb: Kb, facade: FakeFacade) -> None:
    assert listed(kb, facade, replace(RUNNING, rest=Rest.ASKED))[2].strip() == "55 %  making vectors 300 of 1,000"


def test_a_job_is_steered_in_one_way_at_a_time(kb: Kb, facade: FakeFacade) -> None:
    ran = kb("jobs", "--pause", "a", "--resume", "b")
    assert (ran.code, ran.err) == (
        2,
        "error: --pause and --resume do not go together\nhint: give one of them at a time\n",
    )
    assert facade.calls == []


def test_who_asks_for_paused_work_again_lets_it_go_on(kb: Kb, facade: FakeFacade) -> None:
    paused = replace(RUNNING, status=JobStatus.PENDING, rest=Rest.ASKED)
    done = replace(RUNNING, status=JobStatus.SUCCEEDED, finished_at=NOON)
    facade.replies["library", "ingest"] = job_to_wire(paused)
    facade.replies["jobs", "resume"] = job_to_wire(done)
    ran = kb("ingest")
    assert ("jobs", "resume", JobRequest(job_id="job_1")) in facade.calls
    assert "it was paused, and goes on now" in ran.err


@pytest.mark.parametrize(("minutes", "told"), [(2, True), (0, False)])
def test_nobody_waits_minutes_for_another_attempt(kb: Kb, facade: FakeFacade, minutes: int, told: bool) -> None:
    again = datetime.now(UTC) + timedelta(minutes=minutes)
    waiting = replace(FULL, status=JobStatus.PENDING, not_before=again)
    done = replace(RUNNING, status=JobStatus.SUCCEEDED, finished_at=NOON)
    facade.replies["library", "ingest"] = job_to_wire(waiting)
    facade.replies["jobs", "get"] = job_to_wire(done)
    ran = kb("ingest")
    assert (ran.code == 2) is told
    assert ("error: the disk is full\nhint: free some space" in ran.err) is told
    assert ("it is tried again at" in ran.err) is told


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min"), (3599, "59 min"), (7322, "2 h 2 min")]
)
def test_a_time_is_as_exact_as_it_deserves(seconds: float, text: str) -> None:
    assert duration(seconds) == text
