"""Threads that keep working when nobody waits, and do not hold up the end."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from kb.bridge.workers import Workers


def test_a_result_and_an_error_come_back() -> None:
    workers = Workers(2)
    assert workers.submit(lambda: 42).result(10) == 42
    with pytest.raises(ZeroDivisionError):
        workers.submit(lambda: 1 // 0).result(10)
    workers.close(10)


def test_as_many_run_at_once_as_there_are_threads() -> None:
    workers, barrier = Workers(4), threading.Barrier(4)
    futures = [workers.submit(lambda: barrier.wait(10)) for _ in range(4)]
    assert sorted(future.result(10) for future in futures) == [0, 1, 2, 3]
    workers.close(10)


def test_more_work_than_threads_waits_its_turn() -> None:
    workers = Workers(2)
    futures = [workers.submit(lambda n=n: n) for n in range(50)]  # type: ignore[misc]
    assert [future.result(10) for future in futures] == list(range(50))
    assert len(workers._threads) <= 2
    workers.close(10)


def test_closing_waits_no_longer_than_it_was_told() -> None:
    workers, stop = Workers(1), threading.Event()
    workers.submit(stop.wait)
    began = time.monotonic()
    workers.close(0.1)
    assert time.monotonic() - began < 5
    stop.set()


def test_work_in_flight_does_not_hold_up_the_end_of_the_program() -> None:
    code = (
        "import time; from kb.bridge.workers import Workers; Workers(1).submit(lambda: time.sleep(60)); time.sleep(.2)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
