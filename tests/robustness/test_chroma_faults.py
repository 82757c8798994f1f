"""Faults at what Chroma's child writes: the exact scan answers all the same, and the next ingest makes Chroma whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.robustness.fault_shim import Call, Control, Mode, build, needs_shim
from tests.robustness.fork_server import ForkServer
from tests.robustness.small_course import Point, SmallCourse

pytestmark = [needs_shim, pytest.mark.slow]

_POINTS = 40


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCourse]:
    folder = tmp_path_factory.mktemp("chroma")
    server = ForkServer(folder, build(folder))
    course = SmallCourse(folder / "course", server)
    start = course.point(course.folder / "start")
    rebuilt = server.kb("index", "rebuild", "--vectors", environment=with_chroma(start))
    assert rebuilt.code == 0, rebuilt
    assert (start.home.data / "chroma").is_dir()
    yield course
    server.close()


def with_chroma(point: Point) -> dict[str, str]:
    return {**point.home.environment, "KB_SEARCH_VECTOR_ENGINE": "auto"}


def chroma_calls(course: SmallCourse) -> list[Call]:
    """Return what an undisturbed ingest does to Chroma's folder, the child's part included."""
    point = course.at("counted")
    control = Control(point.folder / "control", [point.home.data / "chroma"])
    ended = course.server.kb("ingest", environment=with_chroma(point), control=control)
    assert ended.code == 0, ended
    calls = control.calls()
    assert len({call.process for call in calls}) > 1
    point.remove()
    return calls


def strike(course: SmallCourse, nth: int, mode: Mode) -> None:
    point = course.at(f"{mode.name}-{nth}")
    control = Control(point.folder / "control", [point.home.data / "chroma"], nth=nth, mode=mode)
    ended = course.server.kb("ingest", environment=with_chroma(point), control=control, seconds=120)
    where = (mode.name, nth)
    if control.fired:  # how often Chroma writes its log differs a little from run to run
        expected = {-9} if mode is Mode.KILL_BEFORE else {0}
        assert ended.code in expected, (where, ended)
    wrong = course.is_between(course.observed(point, whole=False))
    assert not wrong, (where, wrong)
    again = course.server.kb("ingest", environment=with_chroma(point), seconds=120)
    assert again.code == 0, (where, again)
    verified = course.server.kb("index", "verify", environment=with_chroma(point), seconds=120)
    assert verified.code == 0, (where, verified)
    assert point.embedded <= 2 * course.embedded, where
    course.finish(point)
    point.remove()


@pytest.mark.parametrize("mode", [Mode.KILL_BEFORE, Mode.FULL])
def test_a_fault_of_chroma_costs_nothing(course: SmallCourse, mode: Mode) -> None:
    calls = chroma_calls(course)
    strike(course, calls[len(calls) // 2].number, mode)


@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", [Mode.KILL_BEFORE, Mode.FULL, Mode.BROKEN_ONCE])
def test_no_fault_of_chroma_costs_anything(course: SmallCourse, mode: Mode, capsys: pytest.CaptureFixture[str]) -> None:
    calls = chroma_calls(course)
    step = max(1, len(calls) // _POINTS)
    for call in calls[::step]:
        strike(course, call.number, mode)
    with capsys.disabled():
        print(f"\n{mode.name} in Chroma: {len(calls)} calls, {len(calls[::step])} points, 0 losses")
