"""Reading: whole or not at all, never from outside, never a pipe, never a changed file."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from blake3 import blake3

from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.errors import Unreadable
from kb.domain.files import FileIdentity, ScannedFile, Scope
from kb.domain.ids import content_hash
from kb.domain.paths import WorkspacePath
from tests.unit.adapters.files.helpers import only_file, put

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs POSIX links and pipes")


def named(path: str, size: int = 1) -> ScannedFile:
    """What a scan said before the disk was changed."""
    return ScannedFile(WorkspacePath(path), path, FileIdentity(size, 0, ""))


def reason_of(work: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        work()
    return caught.value.reason, caught.value.message


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, (5 << 20) + 7])
def test_all_bytes_come_with_their_hash(tmp_path: Path, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    put(tmp_path, "a/b.md", data)
    content = WorkspaceFiles(tmp_path).read(only_file(WorkspaceFiles(tmp_path)))
    assert content.data == data
    assert content.checksum == content_hash(data)


def test_a_file_that_is_gone_has_vanished(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md")
    files = WorkspaceFiles(tmp_path)
    file = only_file(files)
    (tmp_path / "a/b.md").unlink()
    assert reason_of(lambda: files.read(file)) == ("vanished", "a/b.md is gone")
    shutil.rmtree(tmp_path / "a")
    assert reason_of(lambda: files.read(file))[0] == "vanished"
    put(tmp_path, "a")
    assert reason_of(lambda: files.read(file))[0] == "vanished"


def test_a_file_that_changes_once_while_read_is_read_again(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "first")
    changes = iter([lambda: path.write_text("second, longer")])

    def read(handle: int, size: int) -> bytes:
        data = os.read(handle, size)
        next(changes, lambda: None)()
        return data

    files = WorkspaceFiles(tmp_path, read_piece=read)
    content = files.read(only_file(files))
    assert content.data == b"second, longer"
    assert content.identity.mtime_ns == path.stat().st_mtime_ns


def test_a_file_that_keeps_changing_is_left_for_later(tmp_path: Path) -> None:
    path = put(tmp_path, "log.txt", "0")
    tick = iter(range(1, 100))

    def read(handle: int, size: int) -> bytes:
        data = os.read(handle, size)
        os.utime(path, ns=(0, next(tick)))
        return data

    files = WorkspaceFiles(tmp_path, read_piece=read)
    assert reason_of(lambda: files.read(only_file(files))) == (
        "changed",
        "log.txt kept changing while it was read",
    )


def test_a_file_that_grows_without_end_is_not_read_without_end(tmp_path: Path) -> None:
    put(tmp_path, "log.txt", "0")
    calls = []

    def read(handle: int, size: int) -> bytes:
        calls.append(size)
        return b"0" * size

    files = WorkspaceFiles(tmp_path, read_piece=read)
    assert reason_of(lambda: files.read(only_file(files)))[0] == "changed"
    assert len(calls) == 2


def test_a_file_just_written_is_read_after_the_clock_of_the_disk_has_moved_on(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "one")
    files = WorkspaceFiles(tmp_path)
    content = files.read(only_file(files))
    assert time.time_ns() - content.identity.mtime_ns >= 10_000_000
    path.write_text("two")
    assert only_file(files).identity != content.identity, "same size, but the next scan must see it"


def test_a_file_over_the_limit_is_not_opened(tmp_path: Path) -> None:
    put(tmp_path, "big.md", b"x" * (3 << 20))

    def read(handle: int, size: int) -> bytes:
        raise AssertionError

    files = WorkspaceFiles(tmp_path, max_file_bytes=2 << 20, read_piece=read)
    with pytest.raises(Unreadable) as caught:
        files.read(only_file(files))
    assert caught.value.reason == "too_big"
    assert caught.value.message == "big.md has 3.0 MB, more than the 2 MB of indexing.max_file_mb"
    assert "indexing.max_file_mb" in caught.value.hint
    assert reason_of(lambda: files.read(named("big.md")))[0] == "too_big", "it grew after the scan"


@pytest.mark.parametrize(
    ("number", "reason"), [(13, "permission"), (1, "permission"), (5, "unreadable"), (2, "vanished")]
)
def test_what_the_system_refuses_is_translated(tmp_path: Path, number: int, reason: str) -> None:
    put(tmp_path, "a.md")

    def read(handle: int, size: int) -> bytes:
        raise OSError(number, os.strerror(number))

    files = WorkspaceFiles(tmp_path, read_piece=read)
    word, message = reason_of(lambda: files.read(only_file(files)))
    assert word == reason
    assert str(tmp_path) not in message


def test_a_folder_is_not_an_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    assert reason_of(lambda: WorkspaceFiles(tmp_path).read(named("a.md")))[0] == "special_file"


@posix_only
def test_a_pipe_put_in_a_files_place_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert reason_of(lambda: WorkspaceFiles(tmp_path).read(named("a.md")))[0] == "special_file"


@posix_only
@pytest.mark.parametrize(("link", "path"), [("a.md", "a.md"), ("sub", "sub/a.md")])
@pytest.mark.parametrize("target", ["../outside", "{absolute}"])
def test_a_link_put_in_a_files_place_after_the_scan_leads_nowhere(
    tmp_path: Path, link: str, path: str, target: str
) -> None:
    root = tmp_path / "kb"
    root.mkdir()
    put(tmp_path, "outside/a.md", "secret")
    place = target.format(absolute=tmp_path / "outside")
    (root / link).symlink_to(place if link == "sub" else f"{place}/a.md")
    assert reason_of(lambda: WorkspaceFiles(root).read(named(path, 6)))[0] == "outside_root"


@posix_only
def test_a_link_swapped_in_between_check_and_opening_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "kb"
    put(root, "real/a.md", "ours")
    put(tmp_path, "outside/a.md", "secret")
    (root / "link").symlink_to("real")
    checked = os.path.realpath

    def check_then_swap(path: str) -> str:
        answer = checked(path)
        if answer.endswith("real/a.md"):
            shutil.rmtree(root / "real")
            (root / "real").symlink_to("../outside")
        return answer

    files = WorkspaceFiles(root)
    assert files.read(named("link/a.md", 4)).data == b"ours"
    monkeypatch.setattr(os.path, "realpath", check_then_swap)
    assert reason_of(lambda: files.read(named("link/a.md", 4)))[0] in {"changed", "vanished", "outside_root"}


@posix_only
@pytest.mark.parametrize(
    "path", ["../outside/a.md", "sub/../../outside/a.md", "..", "sub//b.md", "/etc/passwd", "a.md\0.md"]
)
def test_a_path_that_climbs_is_refused_also_where_nobody_should_get_one(tmp_path: Path, path: str) -> None:
    root = tmp_path / "kb"
    put(root, "sub/b.md")
    put(tmp_path, "outside/a.md", "secret")
    assert reason_of(lambda: WorkspaceFiles(root).read(named(path)))[0] in {"outside_root", "vanished"}


@posix_only
def test_reading_leaves_no_trace_in_the_workspace(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "text")
    os.utime(path, ns=(1, 1))
    before = path.stat()
    files = WorkspaceFiles(tmp_path)
    files.read(only_file(files))
    after = path.stat()
    assert (after.st_mtime_ns, after.st_ctime_ns, after.st_mode) == (
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_mode,
    )
    if hasattr(os, "O_NOATIME"):
        assert after.st_atime_ns == 1
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.md"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become someone else")
def test_files_and_folders_of_someone_else_are_a_matter_of_permission() -> None:
    # pytest's own folders are closed to others, so this one stands beside them.
    with TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        put(root, "a.md", "text").chmod(0o600)
        put(root, "closed/b.md").parent.chmod(0o700)
        files = WorkspaceFiles(root)
        os.seteuid(65534)
        try:
            found = {entry.path: getattr(entry, "reason", "file") for entry in files.scan(Scope())}
            reason, message = reason_of(lambda: files.read(named("a.md", 4)))
        finally:
            os.seteuid(0)
    assert found == {"a.md": "file", "closed": "permission"}
    assert (reason, message) == ("permission", "no permission to read a.md")


def test_a_large_recording_stays_on_the_disk_and_is_hashed_whole(tmp_path: Path) -> None:
    sound = b"OggS\0\2" + bytes(3 << 20)
    put(tmp_path, "talk.ogg", sound)
    files = WorkspaceFiles(tmp_path, max_file_bytes=1 << 20, max_recording_bytes=8 << 20)
    content = files.read(only_file(files))
    assert content.disk_path is not None
    assert Path(content.disk_path).read_bytes() == sound
    assert (len(content.data), content.size) == (1 << 16, len(sound))
    assert content.checksum == blake3(sound).hexdigest()


def test_what_is_no_recording_or_too_large_for_one_has_its_limit_all_the_same(tmp_path: Path) -> None:
    put(tmp_path, "notes.md", b"x" * (3 << 20))
    put(tmp_path, "talk.ogg", b"OggS\0\2" + bytes(9 << 20))
    files = WorkspaceFiles(tmp_path, max_file_bytes=1 << 20, max_recording_bytes=8 << 20)
    for name in ("notes.md", "talk.ogg"):
        assert reason_of(lambda name=name: files.read(named(name)))[0] == "too_big"  # type: ignore[misc]
