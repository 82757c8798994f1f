"""A switch between generations, or the way back, is killed at any change it makes to a file: one of them serves, whole.

`dev.py torture` takes every call; the ordinary tests take a seeded sample.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.fault_shim import Control, Mode, build, needs_shim
from tests.robustness.fork_server import ForkServer
from tests.robustness.small_course import Point, SmallCourse

pytestmark = [needs_shim, pytest.mark.slow, pytest.mark.timeout(300)]

_SAMPLE = 3
_FEWER = 10
_OTHER_POLICY = {"KB_CHUNKING_TARGET_CHARACTERS": "400"}
_SEEN = ("documents", "searches")


@dataclass
class Ways:
    """Two libraries of the same files: one before a switch, one before the way back, and what each shows."""

    course: SmallCourse
    starts: Mapping[str, Path]
    seen: Mapping[str, dict[str, Any]]

    def copy(self, command: str, name: str) -> Point:
        folder = self.course.folder / name
        shutil.copytree(self.starts[command], folder)
        return self.course.point(folder)


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    folder = tmp_path_factory.mktemp("switch")
    server = ForkServer(folder, build(folder))
    try:
        course = SmallCourse(folder / "course", server)
        old = course.at("old")
        course.ok(old, "ingest")
        built = server.kb("index", "build", environment={**old.home.environment, **_OTHER_POLICY})
        assert built.code == 0, built
        shutil.copytree(old.folder, course.folder / "new")
        new = course.point(course.folder / "new")
        course.ok(new, "index", "switch", "--yes")
        seen = {"switch": course.observed(old), "rollback": course.observed(new)}
        assert seen["switch"]["documents"] != seen["rollback"]["documents"]
        yield Ways(course, {"switch": old.folder, "rollback": new.folder}, seen)
    finally:
        server.close()


def struck(ways: Ways, command: str, nth: int) -> tuple[Control, Point]:
    """Run a command on a copy; with `nth`, kill it before its n-th change to a file."""
    point = ways.copy(command, f"{command}-{nth}")
    watched = [point.home.data, point.home.folder / "home" / "cache"]
    control = Control(point.folder / "control", watched, nth=nth, mode=Mode.KILL_BEFORE if nth else Mode.OFF)
    arguments = ("index", command, *(["--yes"] if command == "switch" else []))
    ended = ways.course.server.kb(*arguments, environment=point.home.environment, control=control)
    assert ended.code == (-9 if control.fired else 0), (command, nth, ended)
    return control, point


def check(ways: Ways, command: str, nth: int, count: int) -> str:
    """Kill once, and return what serves then: the generation "switch" starts from, or "rollback" does."""
    control, point = struck(ways, command, nth)
    # Some runs make a few changes fewer, such as a checkpoint that has nothing to do.
    assert control.fired or nth > count - _FEWER, (command, nth)
    seen = ways.course.observed(point)
    assert seen["problems"] == [], (command, nth, seen["problems"])
    serves = [one for one, wanted in ways.seen.items() if all(seen[part] == wanted[part] for part in _SEEN)]
    assert len(serves) == 1, (command, nth)
    point.remove()
    return serves[0]


def calls(ways: Ways, command: str) -> int:
    """Count the changes an undisturbed command makes."""
    control, point = struck(ways, command, 0)
    count = control.count
    point.remove()
    return count


@pytest.mark.parametrize("command", ["switch", "rollback"])
def test_some_kills_leave_the_old_or_the_new_generation_whole(ways: Ways, command: str) -> None:
    count = calls(ways, command)
    for nth in random.Random(command).sample(range(1, count + 1), _SAMPLE):
        check(ways, command, nth, count)


@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("command", ["switch", "rollback"])
def test_every_kill_leaves_the_old_or_the_new_generation_whole(
    ways: Ways, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    count = calls(ways, command)
    served = [check(ways, command, nth, count) for nth in range(1, count + 1)]
    with capsys.disabled():
        print(f"\n{command}: {count} calls, of {len(served)} kills {served.count(command)} left the old one")
    assert set(served) == {"switch", "rollback"}
