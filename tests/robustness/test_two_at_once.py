"""Two programs on one library, and one that sleeps in the middle: never two writers, never another library."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.robustness.fault_shim import Call, Control, build, needs_shim
from tests.robustness.fork_server import ForkServer
from tests.robustness.small_course import Point, SmallCourse

pytestmark = [needs_shim, pytest.mark.slow]

_OTHERS = (0, 1, 3, 4, 5, 7, 8, 9)
_AHEAD_NS = 30_000_000  # both are forked by then, and wait for the same moment


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCourse]:
    folder = tmp_path_factory.mktemp("two")
    server = ForkServer(folder, build(folder))
    yield SmallCourse(folder / "course", server)
    server.close()


def spans(calls: list[Call]) -> list[tuple[int, int, int]]:
    """Return when each process changed the library, by its start: (first, last, process); the lock's file aside."""
    times: dict[int, list[int]] = {}
    for call in calls:
        if not call.path.endswith(("/data/lock", "/data")):
            times.setdefault(call.process, []).append(call.at_ns)
    return sorted((min(found), max(found), process) for process, found in times.items())


def check_one_writer(control: Control, where: object) -> None:
    """No process changed a file while another was at it."""
    found = spans(control.calls())
    for (_, end, _), (start, _, _) in itertools.pairwise(found):
        assert end < start, (where, found)


def start_both(course: SmallCourse, name: str) -> None:
    """Start two ingests at the same moment."""
    point = course.at(name)
    control = Control(point.folder / "control", [point.home.data])
    moment = time.monotonic_ns() + _AHEAD_NS
    both = [course.server.start(["ingest"], point.home.environment, control=control, at_ns=moment) for _ in range(2)]
    ends = [course.server.wait(process) for process in both]
    assert [end.code for end in ends] == [0, 0], (name, ends)
    assert sum("2 new" in end.out for end in ends) == 1, (name, ends)
    assert sum("nothing changed" in end.out for end in ends) == 1, (name, ends)
    check_one_writer(control, name)
    course.finish(point)
    point.remove()


def test_two_that_start_together_take_turns(course: SmallCourse) -> None:
    for number in range(3):
        start_both(course, f"both-{number}")


@pytest.mark.torture
@pytest.mark.timeout(1200)
def test_two_that_start_together_take_turns_100_times(course: SmallCourse) -> None:
    for number in range(100):
        start_both(course, f"both-{number}")


@pytest.mark.parametrize(
    "tenth", [2, 6, *(pytest.param(n, marks=pytest.mark.torture) for n in (0, 1, 3, 4, 5, 7, 8, 9))]
)
def test_a_second_one_at_any_moment_waits_and_harms_nothing(course: SmallCourse, tenth: int) -> None:
    point = course.at(f"second-{tenth}")
    control = Control(point.folder / "control", [point.home.data])
    first = course.server.start(["ingest"], point.home.environment, control=control)
    wait_for_call(control, 1 + tenth * 45)
    second = course.server.start(["search", "paragraph of the first note"], point.home.environment, control=control)
    assert course.server.wait(second).code == 0, tenth
    end = course.server.wait(first)
    assert end.code == 0, (tenth, end)
    check_one_writer(control, tenth)
    assert course.finish(point), tenth
    point.remove()


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.torture) for n in range(2, 11))])
def test_one_that_was_put_to_sleep_goes_on_where_it_was(course: SmallCourse, seed: int) -> None:
    point = course.at(f"asleep-{seed}")
    control = Control(point.folder / "control", [point.home.data])
    process = course.server.start(["ingest"], point.home.environment, control=control)
    wait_for_call(control, random.Random(seed).randrange(20, 420))
    os.killpg(process, signal.SIGSTOP)
    try:
        wait_until_asleep(process)
        stopped = control.count
        other = course.server.kb("search", "note", environment=point.home.environment)
        assert other.code == 2, (seed, other)
        assert f"`kb ingest` (process {process}) holds the library" in other.err, (seed, other)
        assert control.count == stopped
    finally:
        os.killpg(process, signal.SIGCONT)
    end = course.server.wait(process)
    assert end.code == 0, (seed, end)
    assert course.finish(point), seed
    point.remove()


def wait_until_asleep(process: int) -> None:
    """Wait until every thread has stopped: the signal comes before they do."""
    deadline = time.monotonic() + 10
    while any(_state(thread) not in "TX" for thread in Path(f"/proc/{process}/task").iterdir()):
        assert time.monotonic() < deadline, process
        time.sleep(0.01)


def _state(thread: Path) -> str:
    try:
        return (thread / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
    except OSError:  # it ended meanwhile
        return "X"


def test_a_second_server_is_told_who_has_the_library(course: SmallCourse) -> None:
    point = course.at("served")
    first = course.server.start(["serve", "--json"], point.home.environment)
    wait_until_ready(point)
    began = time.monotonic()
    second = course.server.kb("serve", environment=point.home.environment)
    took = time.monotonic() - began
    assert second.code == 2, second
    assert "`kb serve`" in second.err, second
    assert took < 1.0, took
    # Any other command works through the one that is there.
    assert course.server.kb("search", "note", environment=point.home.environment).code == 0
    os.kill(first, signal.SIGTERM)
    course.server.wait(first)
    course.finish(point)
    point.remove()


def wait_until_ready(point: Point) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            json.loads((point.home.data / "server.json").read_bytes())
        except (OSError, ValueError):
            time.sleep(0.02)
        else:
            return
    pytest.fail("the server did not start")


def wait_for_call(control: Control, number: int) -> None:
    """Wait until the ingest made so many changes, or has ended; it is fast, so this looks often."""
    deadline = time.monotonic() + 5
    while control.count < number and time.monotonic() < deadline:
        time.sleep(0.0005)
