"""A real disk that is too small, at twenty sizes: said in words, nothing lost, and all is well once there is room."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.robustness.fork_server import ForkServer
from tests.robustness.small_course import Point, SmallCourse

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to mount a small disk"),
    pytest.mark.slow,
]

_PAGE = 4096
_ROOM = 64 << 20
_STEP_PAGES = 5  # twenty of them are about what the ingest takes


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCourse]:
    folder = tmp_path_factory.mktemp("full")
    server = ForkServer(folder, None)
    yield SmallCourse(folder / "course", server)
    server.close()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a memory disk of 64 MB at a folder."""
    folder.mkdir(parents=True)
    mounted = _mount("-t", "tmpfs", "-o", f"size={_ROOM}", "kebab-test", str(folder))
    if mounted.returncode != 0:
        pytest.skip("memory disks cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def _mount(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True)


def leave(folder: Path, pages: int | None) -> None:
    """Let a disk have so many pages left; None for plenty."""
    facts = os.statvfs(folder)
    used = (facts.f_blocks - facts.f_bfree) * facts.f_frsize
    size = _ROOM if pages is None else used + pages * _PAGE
    assert _mount("-o", f"remount,size={size}", str(folder)).returncode == 0


def run_out(course: SmallCourse, folder: Path, pages: int) -> int | None:
    """Let an ingest run with so much room, look, give it room, let it finish; return how the first one ended."""
    with small_disk(folder):
        before = course.folder / "start" / "home"
        shutil.copytree(before, folder / "home")
        point = course.point(folder)
        leave(folder, pages)
        ended = course.server.kb("ingest", environment=point.home.environment)
        assert ended.code in {0, 2}, (pages, ended)
        if ended.code:
            assert ended.err.startswith("error: "), (pages, ended)
            assert "\nhint: " in ended.err, (pages, ended)
            assert "unforeseen" not in ended.err, (pages, ended)
            assert "unexpected" not in ended.err, (pages, ended)
        check_search(course, point, pages)
        leave(folder, None)
        wrong = course.is_between(course.observed(point, whole=False))
        assert not wrong, (pages, wrong)
        course.finish(point)
        return ended.code


def check_search(course: SmallCourse, point: Point, pages: int) -> None:
    """A search on the full disk answers, or says in words why not."""
    found = course.server.kb("search", "paragraph of the first note", environment=point.home.environment)
    assert found.code in {0, 2}, (pages, found)
    if found.code:
        assert found.err.startswith("error: "), (pages, found)
        assert "unforeseen" not in found.err, (pages, found)


@pytest.mark.parametrize("pages", [3 * _STEP_PAGES, 12 * _STEP_PAGES])
def test_a_disk_that_runs_full_costs_nothing(course: SmallCourse, tmp_path: Path, pages: int) -> None:
    assert run_out(course, tmp_path / "disk", pages) == 2


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_a_disk_of_any_of_twenty_sizes_costs_nothing(
    course: SmallCourse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = [run_out(course, tmp_path / f"disk-{step}", step * _STEP_PAGES) for step in range(20)]
    with capsys.disabled():
        print(f"\n20 sizes of disk, 0 losses: {ends.count(2)} ran full and said so, {ends.count(0)} had room")
    assert 2 in ends
