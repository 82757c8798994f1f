"""The n-th change to a file is the last, or fails: nothing is lost, nothing wrong is seen, the next ingest heals.

For n = 1 to the last call of an ingest, so every commit and every moment between two stores has its turn: the write
and the flush of SQLite's log, Tantivy's `meta.json`, the stamps of the indexes, copies of originals, artifacts.
`dev.py torture` takes every n; the ordinary tests take a seeded sample.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.robustness.fault_shim import Call, Control, Mode, build, needs_shim
from tests.robustness.fork_server import Ended, ForkServer
from tests.robustness.small_course import Point, SmallCourse

pytestmark = [needs_shim, pytest.mark.slow]

_SAMPLE = 3
_BATCH = 64  # vectors that are saved in one transaction
_KILLS = {Mode.KILL_BEFORE, Mode.KILL_HALF, Mode.KILL_AFTER}


@dataclass
class Figures:
    """What an enumeration came to."""

    tried: int = 0
    other_dead_entries: int = 0
    reembedded: Counter[int] = field(default_factory=Counter)
    endings: Counter[int | None] = field(default_factory=Counter)

    def __str__(self) -> str:
        most = max(self.reembedded, default=0)
        return (
            f"{self.tried} points, passages embedded again at most {most}, "
            f"other dead entries in the text index {self.other_dead_entries}, endings {dict(self.endings)}"
        )


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCourse]:
    folder = tmp_path_factory.mktemp("faults")
    server = ForkServer(folder, build(folder))
    yield SmallCourse(folder / "course", server)
    server.close()


def watched(point: Point) -> list[Path]:
    """Return the folders whose changes count: all that the program writes, without its log."""
    return [point.home.data, point.home.folder / "home" / "cache"]


def strike(course: SmallCourse, nth: int, mode: Mode, figures: Figures) -> bool:
    """Let an ingest meet a fault, look, let another finish; return whether there was an n-th call."""
    point = course.at(f"{mode.name}-{nth}")
    control = Control(point.folder / "control", watched(point), nth=nth, mode=mode)
    ended = course.server.kb("ingest", environment=point.home.environment, control=control)
    if not control.fired:
        point.remove()
        return False
    where = f"{mode.name} at call {nth}, {called(control, nth)}"
    check_end(ended, mode, where)
    wrong = course.is_between(course.observed(point, whole=False))
    assert not wrong, (where, wrong)
    try:
        same = course.finish(point)
    except AssertionError as error:
        raise AssertionError(where, *error.args) from error
    again = point.embedded - course.embedded
    assert again <= _BATCH, (where, again)
    figures.tried += 1
    figures.other_dead_entries += not same
    figures.reembedded[again] += 1
    figures.endings[ended.code] += 1
    point.remove()
    return True


def called(control: Control, nth: int) -> str:
    """Return the n-th call in words."""
    call = next((call for call in control.calls() if call.number == nth), None)
    return f"{call.operation} of {'/'.join(Path(call.path).parts[-2:])}" if call else "unknown"


def check_end(ended: Ended, mode: Mode, where: str) -> None:
    """A killed program is dead; one whose disk fails says so in words and ends by itself."""
    if mode in _KILLS:
        assert ended.code == -9, (where, ended)
        return
    assert ended.code in {0, 2}, (where, ended)
    assert "Traceback" not in ended.err, (where, ended)
    assert "unforeseen" not in ended.err, (where, ended)
    assert "unexpected" not in ended.err, (where, ended)
    if ended.code == 2:
        assert ended.err.startswith("error: "), (where, ended)
        assert "\nhint: " in ended.err, (where, ended)


def calls_of(course: SmallCourse) -> list[Call]:
    """Return the calls of an undisturbed ingest, first to last."""
    point = course.at("counted")
    control = Control(point.folder / "control", watched(point))
    course.server.kb("ingest", environment=point.home.environment, control=control)
    calls = control.calls()
    point.remove()
    return calls


def is_worth_it(call: Call, mode: Mode) -> bool:
    """Return whether a fault at this call can differ from one at the next, or from another mode's."""
    if mode is Mode.KILL_HALF:
        return call.operation in {"write", "copy"} and call.bytes > 1
    if mode is Mode.KILL_AFTER:  # nothing happens between a call and the next
        return call.number % 10 == 0
    if mode is Mode.FULL:
        return call.operation in {"write", "copy", "create", "mkdir", "link", "allocate"}
    return True


def test_the_seams_between_all_stores_are_among_the_calls(course: SmallCourse) -> None:
    point = course.at("seams")
    control = Control(point.folder / "control", watched(point))
    assert course.server.kb("ingest", environment=point.home.environment, control=control).code == 0
    calls = control.calls()
    assert [call.number for call in calls] == list(range(1, control.count + 1))
    seen = {(call.operation, Path(call.path).name) for call in calls}
    assert {("fsync", "kb.sqlite-wal"), ("fsync", "kb.sqlite"), ("rename", "stamp.json"), ("write", "lock")} <= seen
    # Tantivy renames its meta.json past the C library, between the flush of the new one and that of the folder.
    assert any(call.operation == "fsync" and "/tantivy/.tmp" in call.path for call in calls)
    assert ("fsync", "tantivy") in seen
    for end, operation in ((".stamp", "rename"), (".scan", "fsync"), (".scan", "write")):
        assert any(call.operation == operation and call.path.endswith(end) for call in calls), (end, operation)
    for folder in ("assets", "artifacts"):
        assert any(call.operation == "rename" and f"/{folder}/" in call.path for call in calls), folder
    point.remove()


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.OFF])
def test_some_faults_cost_nothing(course: SmallCourse, mode: Mode) -> None:
    figures = Figures()
    numbers = [call.number for call in calls_of(course) if is_worth_it(call, mode)]
    # one early, one late, the others anywhere
    for nth in (numbers[8], numbers[-8], *random.Random(int(mode)).sample(numbers, _SAMPLE)):
        strike(course, nth, mode, figures)
    assert figures.tried >= _SAMPLE


@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.OFF])
def test_no_fault_costs_anything(course: SmallCourse, mode: Mode, capsys: pytest.CaptureFixture[str]) -> None:
    figures = Figures()
    calls = calls_of(course)
    failed = []
    for call in calls:
        if is_worth_it(call, mode):
            try:
                strike(course, call.number, mode, figures)
            except AssertionError as error:
                failed.append(error.args)
    with capsys.disabled():
        print(f"\n{mode.name}: {len(calls)} calls, {figures}, {len(failed)} failed")
    assert not failed
    assert figures.tried > len(calls) // 20


@pytest.mark.parametrize("seed", [1, 2, pytest.param(range(3, 60), marks=pytest.mark.torture, id="many")])
def test_a_kill_while_a_killed_ingest_is_mended_costs_nothing(course: SmallCourse, seed: int | range) -> None:
    for number in [seed] if isinstance(seed, int) else seed:
        chance = random.Random(number)
        calls = [call.number for call in calls_of(course)]
        point = course.at(f"twice-{number}")
        for _ in range(3):
            control = Control(point.folder / "control", watched(point), nth=chance.choice(calls), mode=Mode.KILL_HALF)
            course.server.kb("ingest", environment=point.home.environment, control=control)
            assert not course.is_between(course.observed(point, whole=False)), number
        course.finish(point)
        point.remove()
