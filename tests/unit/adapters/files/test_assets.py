"""Copies of originals: whole, once, private, independent of what happens to the original."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb.adapters.files import assets as assets_module
from kb.adapters.files.assets import CopiedAssets
from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.failures import StorageFailed
from kb.domain.items import MediaType, RawAsset
from tests.unit.adapters.files.helpers import only_file, put

fcntl = pytest.importorskip("fcntl", reason="Windows has no reflinks")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Desk:
    """A workspace with one file, a data folder, and copies."""

    def __init__(self, tmp_path: Path, content: str | bytes, **settings: object) -> None:
        self.original = put(tmp_path, "kb/a.md", content)
        self.data = tmp_path / "data"
        self.files = WorkspaceFiles(tmp_path / "kb")
        options = {"copy_threshold_bytes": 10 << 20, "now": lambda: NOON, **settings}
        self.assets = CopiedAssets(self.data, tmp_path / "kb", **options)  # type: ignore[arg-type]

    def keep(self) -> RawAsset:
        file = only_file(self.files)
        return self.assets.keep(file, self.files.read(file), MediaType.MARKDOWN)

    def copies(self) -> list[Path]:
        return [path for path in self.data.rglob("*") if path.is_file()]


def test_a_copy_stands_under_its_id(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "text")
    asset = desk.keep()
    assert asset.storage_kind == "copied"
    assert asset.storage_path == f"assets/{asset.asset_id[:2]}/{asset.asset_id}"
    assert (desk.data / asset.storage_path).read_text() == "text"
    assert (asset.byte_len, asset.discovered_at) == (4, NOON)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_copies_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        desk = Desk(tmp_path, "text")
        asset = desk.keep()
    finally:
        os.umask(before)
    copy = desk.data / asset.storage_path
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (desk.data, *copy.parents[:2])} == {0o700}


def test_the_same_bytes_twice_are_one_copy_that_is_not_written_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "text")
    copy = desk.data / desk.keep().storage_path
    before = copy.stat()
    desk.keep()
    assert desk.copies() == [copy]
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_torn_copy_is_replaced(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "text")
    copy = desk.data / desk.keep().storage_path
    for torn in ("te", "te\0\0"):
        copy.write_text(torn)
        desk.keep()
        assert copy.read_text() == "text"


@pytest.mark.parametrize("size", [5, 3 << 20])
def test_a_copy_outlives_changes_of_its_original(tmp_path: Path, size: int) -> None:
    desk = Desk(tmp_path, b"x" * size)
    copy = desk.data / desk.keep().storage_path
    with desk.original.open("r+b") as original:
        original.write(b"overwritten in place")
    assert copy.read_bytes() == b"x" * size
    assert copy.stat().st_nlink == 1


def test_big_files_are_only_referenced_and_so_is_everything_when_copying_is_off(tmp_path: Path) -> None:
    big = Desk(tmp_path, b"x" * 101, copy_threshold_bytes=100)
    off = Desk(tmp_path, b"x" * 101, copies=False)
    for desk in (big, off):
        asset = desk.keep()
        assert (asset.storage_kind, asset.storage_path) == ("reference", "a.md")
        assert not desk.data.exists()


def test_discarding_removes_copies_and_nothing_else(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "text")
    asset = desk.keep()
    keep = put(tmp_path, "data/kb.sqlite")
    desk.assets.discard(
        ["assets/../kb.sqlite", "assets/kb/../../kb.sqlite", "kb.sqlite", "a.md", "assets/aa/aabb", asset.storage_path]
    )
    assert desk.copies() == [keep]
    assert desk.original.exists()


@pytest.mark.parametrize("step", ["write", "flush"])
def test_a_full_disk_leaves_no_half_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    desk = Desk(tmp_path, "text")

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "write":
        monkeypatch.setattr(Path, "replace", full)
    else:
        monkeypatch.setattr(os, "fsync", full)

    def kept() -> None:
        desk.keep()
        desk.assets.settle()

    with pytest.raises(StorageFailed, match="the disk is full"):
        kept()
    assert desk.copies() == []


def test_a_disk_that_refuses_even_to_remove_is_told_by_its_first_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, "text")
    desk.keep()

    def broken(*_given: object, **_named: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    monkeypatch.setattr(Path, "unlink", broken)
    with pytest.raises(StorageFailed, match=r"a copy of a\.md"):
        desk.assets.settle()


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "text")
    put(tmp_path, "data/assets/.new/half", "te")
    copy = desk.data / desk.keep().storage_path
    assert desk.copies() == [copy]


def test_settling_flushes_each_copy_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []

    def flush(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", flush)
    desk = Desk(tmp_path, "text")
    copies = [desk.data / desk.keep().storage_path]
    desk.keep()
    put(tmp_path, "kb/a.md", "other text")
    copies.append(desk.data / desk.keep().storage_path)
    assert flushed == []
    desk.assets.settle()
    assert sorted(flushed) == sorted(copy.stat().st_ino for copy in copies)
    desk.assets.settle()
    assert len(flushed) == 2


def test_blocks_are_shared_where_the_file_system_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, b"x" * (2 << 20))

    def clone(handle: int, request: int, original: int) -> int:
        assert request == assets_module._FICLONE
        return os.write(handle, os.pread(original, 2 << 20, 0))

    monkeypatch.setattr(fcntl, "ioctl", clone)
    assert (desk.data / desk.keep().storage_path).read_bytes() == b"x" * (2 << 20)


def test_shared_blocks_of_a_file_that_has_changed_meanwhile_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, b"x" * (2 << 20))

    def clone(handle: int, request: int, original: int) -> int:
        desk.original.write_bytes(b"y" * (2 << 20))
        return os.write(handle, os.pread(original, 2 << 20, 0))

    monkeypatch.setattr(fcntl, "ioctl", clone)
    copy = desk.data / desk.keep().storage_path
    assert copy.read_bytes() == b"x" * (2 << 20)


def test_a_file_system_without_shared_blocks_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, b"x" * (2 << 20))
    asked = []

    def clone(handle: int, request: int, original: int) -> int:
        asked.append(request)
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "ioctl", clone)
    for letter in b"xyz":
        desk.original.write_bytes(bytes([letter]) * (2 << 20))
        assert (desk.data / desk.keep().storage_path).read_bytes()[:1] == bytes([letter])
    assert len(asked) == 1
