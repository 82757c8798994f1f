"""Counting that grows with the library takes a bounded share of the time."""

from __future__ import annotations

from dataclasses import dataclass

from kb.adapters.sqlite.pace import Pace


@dataclass
class Clocks:
    now: float = 100.0
    spent: float = 0.0

    def pace(self) -> Pace:
        return Pace(lambda: self.now, lambda: self.spent)

    def work(self, pace: Pace, seconds: float) -> None:
        with pace.timed():
            self.now += seconds
            self.spent += seconds


def test_cheap_work_may_be_done_anew_at_once() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    assert pace.is_due()
    clocks.work(pace, 0.02)
    assert pace.is_due()


def test_dear_work_rests_ten_times_as_long_as_it_took() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    clocks.work(pace, 0.5)
    clocks.now += 4.9
    assert not pace.is_due()
    clocks.now += 0.1
    assert pace.is_due()


def test_waiting_for_a_busy_machine_is_no_cost() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    with pace.timed():
        clocks.now += 3.0
    assert pace.is_due()


def test_a_rest_ends_when_the_work_has_become_cheap() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    clocks.work(pace, 0.5)
    clocks.work(pace, 0.01)
    assert pace.is_due()
