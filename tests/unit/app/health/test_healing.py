"""Healing: one repair at a time, none while nothing is lost, and less and less often when it does not help."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kb.app.health.healing import URGENT, Healing
from kb.app.health.projections import REBUILD
from kb.contract.index import IndexCheck
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
SOUND = IndexCheck(name="text", ok=True, expected=3, found=3, detail="3 passages")
LOST = IndexCheck(name="text", ok=False, expected=3, found=None, detail="damaged", hint=REBUILD)
BEHIND = IndexCheck(name="text", ok=False, expected=3, found=None, detail="behind by 1 changes", hint="run `kb ingest`")


@dataclass
class Desk:
    """A queue that keeps what was started; jobs stay pending until `end`."""

    jobs: list[Job] = field(default_factory=list)
    priorities: list[int] = field(default_factory=list)

    def start(
        self,
        kind: JobKind,
        payload: Mapping[str, Json],
        *,
        password: str | None = None,
        subject: str = "",
        request_key: str | None = None,
        priority: int = 0,
    ) -> Job:
        del password, subject, request_key
        number = JobId(f"job-{len(self.jobs)}")
        pending = JobStatus.PENDING
        job = Job(number, kind, pending, payload, Progress(), 0, None, None, None, MOMENT, MOMENT, None)
        self.jobs.append(job)
        self.priorities.append(priority)
        return job

    def get(self, job_id: JobId) -> Job | None:
        return next((job for job in self.jobs if job.job_id == job_id), None)

    def recent(self, limit: int) -> list[Job]:
        return self.jobs[-limit:]

    def end(self) -> None:
        self.jobs = [replace(job, status=JobStatus.SUCCEEDED) for job in self.jobs]


class Course:
    """A library whose state and time a test says."""

    def __init__(self, *checks: IndexCheck) -> None:
        self.checks: list[IndexCheck] = list(checks)
        self.error: KebabError | None = None
        self.looks = 0
        self.time = 100.0
        self.desk = Desk()
        self.waiting: list[tuple[float, Callable[[], object]]] = []
        self.healing = Healing(
            self._look,
            self.desk,
            self.desk,
            now=lambda: self.time,
            later=lambda seconds, call: self.waiting.append((seconds, call)),
        )

    def _look(self) -> list[IndexCheck]:
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.checks

    def notice(self) -> int:
        """Notice damage, wait for the look, and return how many repairs were started so far."""
        self.healing.notice()
        return self.looked()

    def looked(self) -> int:
        """Wait for the look that is under way, and return how many repairs were started so far."""
        for thread in threading.enumerate():
            if thread.name == "healing":
                thread.join(10)
        return len(self.desk.jobs)


def test_a_lost_index_starts_an_urgent_repair() -> None:
    course = Course(SOUND, LOST)
    assert course.notice() == 1
    assert (course.desk.jobs[0].kind, course.desk.priorities) == (JobKind.REPAIR, [URGENT])


def test_an_index_that_is_sound_or_only_behind_starts_none() -> None:
    assert Course(SOUND, BEHIND).notice() == 0


def test_while_a_repair_is_under_way_no_other_starts() -> None:
    course = Course(LOST)
    course.notice()
    course.time += 10
    assert course.notice() == 1


def test_a_search_in_quick_succession_does_not_look_again() -> None:
    course = Course(SOUND)
    course.notice()
    course.notice()
    assert course.looks == 1
    course.time += 2.1
    course.notice()
    assert course.looks == 2


def test_damage_noticed_right_after_a_look_is_looked_at_later_though_nobody_asks_again() -> None:
    course = Course(SOUND)
    course.notice()
    course.checks = [LOST]
    course.time += 0.5
    assert course.notice() == 0
    course.notice()
    ((seconds, call),) = course.waiting
    assert seconds == 1.5
    course.time += seconds
    call()
    assert course.looked() == 1


def test_damage_that_comes_back_is_repaired_less_and_less_often() -> None:
    course = Course(LOST)
    starts = []
    for _ in range(200):
        before = len(course.desk.jobs)
        if course.notice() > before:
            starts.append(course.time)
        course.desk.end()
        course.time += 1.0
    pauses = [later - earlier for earlier, later in itertools.pairwise(starts)]
    assert len(pauses) >= 2
    assert all(later >= 2 * earlier for earlier, later in itertools.pairwise(pauses)), pauses


def test_a_repair_that_helped_is_forgotten() -> None:
    course = Course(LOST)
    course.notice()
    course.desk.end()
    course.checks = [SOUND]
    course.time += 10
    course.notice()
    course.checks = [LOST]
    course.time += 3
    assert course.notice() == 2


def test_a_look_that_fails_is_tried_again_later() -> None:
    course = Course(LOST)
    course.error = StorageFailed("the disk is full")
    assert course.notice() == 0
    course.error = None
    course.time += 10
    assert course.notice() == 1


def test_closed_it_looks_no_more() -> None:
    course = Course(LOST)
    course.healing.close(0)
    assert course.notice() == 0
