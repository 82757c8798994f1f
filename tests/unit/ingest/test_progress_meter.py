"""Progress says how fast it goes and what is left, and never goes backwards."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.jobs import Progress
from kb.ingest.progress import ProgressMeter


@dataclass
class Told:
    time: float = 100.0
    seen: list[Progress] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.meter = ProgressMeter(self.seen.append, lambda: self.time)

    def step(self, done: int, total: int, after_s: float = 1.0) -> Progress:
        self.time += after_s
        self.meter.step(done, total)
        return self.seen[-1]


def test_the_rate_and_the_time_left_are_those_of_the_stage() -> None:
    told = Told()
    told.meter.begin("read", 0, 40)
    assert [told.step(done, 100).rate for done in (0, 4)] == [None, None]
    seen = told.step(8, 100)
    assert (seen.rate, seen.seconds_left) == (4.0, 23.0)
    told.meter.begin("embed", 40, 95)
    assert (told.seen[-1].rate, told.seen[-1].seconds_left) == (None, None)


def test_the_rate_follows_the_last_twenty_seconds() -> None:
    told = Told()
    told.meter.begin("read", 0, 40)
    for second in range(30):
        told.step(second * 10, 1000)
    for second in range(1, 41):
        told.step(290 + second, 1000)
    assert told.seen[-1].rate == pytest.approx(1.0, abs=0.05)


def test_a_rest_is_no_part_of_the_rate() -> None:
    told = Told()
    told.meter.begin("read", 0, 40)
    for done in range(0, 50, 10):
        told.step(done, 100)
    told.step(40, 100, after_s=3600.0)
    told.step(50, 100)
    assert told.step(60, 100).rate == 10.0


def test_without_a_total_nothing_is_said_of_the_time_left() -> None:
    told = Told()
    told.meter.begin("scan", 0, 1)
    for done in range(5):
        told.step(done, 0)
    assert (told.seen[-1].rate, told.seen[-1].seconds_left) == (1.0, None)


def test_files_pages_and_seconds_of_sound_are_kept_over_the_stages() -> None:
    told = Told()
    told.meter.begin("read", 0, 40)
    told.meter.files(1, 3)
    told.meter.read(12, 0)
    told.meter.read(0, 90)
    told.meter.files(3, 3)
    told.meter.begin("embed", 40, 95)
    seen = told.step(1, 9)
    assert (seen.files, seen.files_total, seen.pages, seen.sound_seconds) == (3, 3, 12, 90.0)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 100)), max_size=60))
def test_whatever_comes_percent_never_falls_and_stays_under_a_hundred(steps: list[tuple[int, int, float]]) -> None:
    told = Told()
    told.meter.begin("read", 0, 100)
    for done, total, after_s in steps:
        told.step(done, total, after_s)
    percents = [seen.percent for seen in told.seen]
    assert percents == sorted(percents)
    assert max(percents) <= 99
    assert all(seen.rate is None or seen.rate >= 0 for seen in told.seen)
    assert all(seen.seconds_left is None or seen.seconds_left >= 0 for seen in told.seen)
