"""The system's own events, as editors and file managers cause them."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers import Observer

from kb.adapters.watch.observer import Told, WatchdogEvents


class Heard:
    """What was told, to be waited for."""

    def __init__(self) -> None:
        self.changes: list[Told] = []
        self._more = threading.Condition()

    def __call__(self, told: Told) -> None:
        with self._more:
            self.changes.append(told)
            self._more.notify_all()

    def until(self, *paths: str, timeout_s: float = 20.0) -> None:
        """Wait until something was told of each path."""
        with self._more:
            assert self._more.wait_for(lambda: set(paths) <= self.paths(), timeout_s), (paths, self.changes)

    def paths(self) -> set[str]:
        return {told.path for told in self.changes}

    def forget(self) -> None:
        with self._more:
            self.changes.clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "kb"
    folder.mkdir()
    return folder


@pytest.fixture
def heard(root: Path) -> Iterator[Heard]:
    (root / "sub").mkdir()
    (root / "old.md").write_text("old")
    heard = Heard()
    events = WatchdogEvents(root)
    assert events.start(heard) is None
    assert events.listens()
    yield heard
    events.stop()
    assert not events.listens()


def write_in_place(file: Path) -> None:
    file.write_text("truncated and written")


def vim(file: Path) -> None:
    """Rename the old one away, write the new one, remove the old one."""
    backup = file.with_name(file.name + "~")
    file.rename(backup)
    file.write_text("from vim")
    backup.unlink()


def emacs(file: Path) -> None:
    """Keep a copy, write in place."""
    file.with_name(f".#{file.name}").symlink_to("someone@somewhere")
    file.with_name(file.name + "~").write_text(file.read_text())
    file.write_text("from emacs")
    file.with_name(f".#{file.name}").unlink()


def temporary_and_rename(file: Path) -> None:
    """As most others do."""
    new = file.with_name(f".{file.name}.tmp-1234")
    new.write_text("from another editor")
    new.replace(file)


@pytest.mark.parametrize("save", [write_in_place, vim, emacs, temporary_and_rename])
def test_every_way_of_saving_names_the_file(root: Path, heard: Heard, save: Callable[[Path], None]) -> None:
    save(root / "old.md")
    heard.until("old.md")


def test_files_made_moved_and_removed_are_told_by_both_names(root: Path, heard: Heard) -> None:
    (root / "new.md").write_text("new")
    heard.until("new.md")
    (root / "new.md").rename(root / "sub" / "moved.md")
    heard.until("sub/moved.md", "new.md")
    heard.forget()
    (root / "sub" / "moved.md").unlink()
    heard.until("sub/moved.md")


def test_a_folder_moved_in_or_out_is_told_as_a_folder(root: Path, heard: Heard, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "a.md").write_text("a")
    outside.rename(root / "inside")
    heard.until("inside")
    assert Told("inside", True) in heard.changes
    heard.forget()
    (root / "inside").rename(outside)
    heard.until("inside")
    assert Told("inside", True) in heard.changes


@pytest.mark.skipif(sys.platform != "linux", reason="inotify alone watches each folder")
def test_a_folder_that_left_and_came_back_is_followed_without_a_warning(root: Path, tmp_path: Path) -> None:
    inside, outside, heard = root / "inside", tmp_path / "outside", Heard()
    inside.mkdir()
    events = WatchdogEvents(root)
    assert events.start(heard) is None
    try:
        for name in ("one.md", "two.md"):
            inside.rename(outside)
            heard.until("inside")
            heard.forget()
            outside.rename(inside)
            heard.until("inside")
            # Here a warning is an error: it would end watchdog's thread.
            (inside / name).write_text("told")
            heard.until(f"inside/{name}")
            heard.forget()
    finally:
        events.stop()


def test_reading_is_not_told(root: Path, heard: Heard) -> None:
    (root / "old.md").read_text()
    list(os.scandir(root))
    (root / "last.md").write_text("a change that comes after")
    heard.until("last.md")
    assert heard.paths() == {"last.md"}


def test_a_name_in_another_form_is_told_as_it_is_stored(root: Path, heard: Heard) -> None:
    (root / "résumé.md").write_text("NFD on the disk")
    heard.until("r\u00e9sum\u00e9.md")


def test_a_workspace_that_was_replaced_is_not_listened_to_any_more(root: Path, heard: Heard, tmp_path: Path) -> None:
    events = WatchdogEvents(root)
    assert events.start(heard) is None
    try:
        root.rename(tmp_path / "away")
        assert not events.listens()
        root.mkdir()
        assert not events.listens()
        events.stop()
        assert events.start(heard) is None
        (root / "again.md").write_text("told again")
        heard.until("again.md")
    finally:
        events.stop()


def test_a_missing_workspace_is_said(tmp_path: Path) -> None:
    said = WatchdogEvents(tmp_path / "nowhere").start(Heard())
    assert said is not None
    assert "missing" in said


@pytest.mark.parametrize(
    ("number", "word"), [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances"), (errno.EPERM, "not")]
)
def test_a_system_that_lets_nothing_be_watched_is_said_with_the_remedy(root: Path, number: int, word: str) -> None:
    class Full(Observer):  # type: ignore[misc,valid-type]
        def start(self) -> Any:
            raise OSError(number, os.strerror(number))

    events = WatchdogEvents(root, Full)
    said = events.start(Heard())
    assert said is not None
    assert word in said
    assert "every minute" in said
    assert not events.listens()


def test_a_listener_with_a_bug_does_not_end_the_watch(root: Path) -> None:
    heard = Heard()

    def broken(told: Told) -> None:
        heard(told)
        if told.path == "bad.md":
            raise ZeroDivisionError

    events = WatchdogEvents(root)
    assert events.start(broken) is None
    try:
        (root / "bad.md").write_text("bad")
        heard.until("bad.md")
        (root / "good.md").write_text("good")
        heard.until("good.md")
    finally:
        events.stop()


def test_ten_thousand_files_at_once_are_told_or_their_burst_is(root: Path, heard: Heard) -> None:
    began = time.monotonic()
    for number in range(10_000):
        (root / "sub" / f"{number}.md").touch()
    (root / "last.md").write_text("last")
    heard.until("last.md", timeout_s=60)
    # The system may drop some; what is left is far more than makes a burst.
    assert len(heard.changes) > 4096
    assert time.monotonic() - began < 60
