"""Bytes of items come from our own data or the workspace, with the type their content has."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kb.adapters.workers.process import child_environment
from kb.app.originals import Originals, kind_by_name, mime_of
from kb.app.renditions import CachedRenditions
from kb.domain.errors import InvalidInput, NotFound, Unreadable
from kb.domain.ids import content_hash
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from kb.domain.reading import Original

PNG = b"\x89PNG\r\n\x1a\n0000"
SUM = content_hash(b"sound")


def original(path: str, media: MediaType | None, *, copied: str = "", current: bool = True) -> Original:
    kind = "copied" if copied else "reference"
    return Original(WorkspacePath(path), path, None, media, SUM, kind, copied or path, current)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("media", "name", "head", "mime"),
    [
        (MediaType.PDF, "a.bin", b"", "application/pdf"),
        (MediaType.IMAGE, "a.jpg", PNG, "image/png"),
        (MediaType.IMAGE, "a.JPG", b"", "image/jpeg"),
        (MediaType.IMAGE, "a.svg", b"<svg", "image/svg+xml"),
        (MediaType.AUDIO, "a.opus", b"OggS", "audio/ogg"),
        (MediaType.AUDIO, "a.m4a", b"\0\0\0 ftypM4A ", "audio/mp4"),
        (MediaType.VIDEO, "a.mov", b"", "video/quicktime"),
        (MediaType.HTML, "a.html", b"", "text/html"),
        (MediaType.EML, "a.eml", b"", "message/rfc822"),
        (MediaType.CSV, "a.csv", b"", "text/csv; charset=utf-8"),
        (MediaType.OTHER, "a.exe", b"MZ", "application/octet-stream"),
        (None, "locked.pdf", b"", "application/pdf"),
        (None, "nothing", b"", "application/octet-stream"),
    ],
)
def test_a_file_has_the_type_of_its_kind_content_and_name(
    media: MediaType | None, name: str, head: bytes, mime: str
) -> None:
    assert mime_of(media, name, head) == mime


def test_a_kind_is_guessed_from_a_name_only_where_the_name_says_one() -> None:
    assert kind_by_name("a/b.PDF") is MediaType.PDF
    assert kind_by_name("a/b.mp3") is MediaType.AUDIO
    assert kind_by_name("a/b") is None


@pytest.fixture
def originals(tmp_path: Path) -> Originals:
    for folder in ("workspace", "data/assets"):
        (tmp_path / folder).mkdir(parents=True)
    return Originals(tmp_path / "workspace", tmp_path / "data", lambda path, _sum: path.with_suffix(".opus"))


def test_a_member_of_a_file_is_its_copy_and_says_so_when_there_is_none(originals: Originals, tmp_path: Path) -> None:
    (tmp_path / "data/assets/x").write_bytes(PNG)
    found = originals.file(original("mail.eml!/a.png", MediaType.IMAGE, copied="assets/x"))
    assert (found.path.name, found.media_type, found.name, found.etag) == ("x", "image/png", "a.png", SUM)
    with pytest.raises(NotFound, match=r"kept inside mail\.eml only"):
        originals.file(original("mail.eml!/a.png", MediaType.IMAGE))


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link/secret"])
def test_nothing_outside_is_given(originals: Originals, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "workspace/link").symlink_to(tmp_path)
    with pytest.raises(NotFound):
        originals.file(original(path, MediaType.TEXT))
    with pytest.raises(NotFound):
        originals.file(original("a.md", MediaType.TEXT, copied=f"assets/../../{path}"))


def test_only_sound_has_a_rendition(originals: Originals, tmp_path: Path) -> None:
    (tmp_path / "workspace/a.m4a").write_bytes(b"sound")
    found = originals.file(original("a.m4a", MediaType.AUDIO), "opus")
    assert (found.media_type, found.name) == ("audio/ogg", "a.m4a.opus")
    for media, rendition in ((MediaType.AUDIO, "mp3"), (MediaType.PDF, "opus")):
        with pytest.raises(InvalidInput, match="no rendition"):
            originals.file(original("a.m4a", media), rendition)


COUNTING = "import pathlib,sys;p=pathlib.Path(sys.argv[1]);pathlib.Path(sys.argv[2]).write_bytes(p.read_bytes()*2)"


def by(script: str, folder: Path, **limits: float) -> CachedRenditions:
    def command(source: Path, target: Path) -> list[str]:
        return [sys.executable, "-c", script, str(source), str(target)]

    return CachedRenditions(folder, child_environment, command=command, **limits)  # type: ignore[arg-type]


def test_a_rendition_is_made_once_and_kept(tmp_path: Path) -> None:
    source = tmp_path / "a.m4a"
    source.write_bytes(b"one")
    make = by(COUNTING, tmp_path / "cache")
    first = make(source, SUM)
    source.write_bytes(b"another")
    assert make(source, SUM) == first
    assert first.read_bytes() == b"oneone"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [f"{SUM}.opus"]


def test_a_kept_rendition_does_not_wait_for_one_that_is_being_made(tmp_path: Path) -> None:
    source, folder = tmp_path / "a.m4a", tmp_path / "cache"
    source.write_bytes(b"one")
    kept = by(COUNTING, folder)(source, SUM)
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"
    waiting = (
        f"import pathlib, sys, time; pathlib.Path({str(begun)!r}).touch()\n"
        f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)\n"
        "pathlib.Path(sys.argv[2]).write_bytes(b'two')"
    )
    make = by(waiting, folder, seconds=60.0)
    other = content_hash(b"other")
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(make, source, other)
        try:
            while not begun.exists():
                assert not slow.done()
                time.sleep(0.01)
            assert pool.submit(make, source, SUM).result(timeout=30) == kept
            assert not slow.done()
        finally:
            go_on.touch()
        assert slow.result().read_bytes() == b"two"


@pytest.mark.parametrize(
    ("script", "seconds", "reason"),
    [("raise SystemExit(3)", 20.0, "damaged"), ("", 20.0, "damaged"), ("import time;time.sleep(30)", 0.5, "too_slow")],
    ids=["fails", "makes nothing", "hangs"],
)
def test_a_child_that_fails_or_hangs_costs_its_rendition_only(
    tmp_path: Path, script: str, seconds: float, reason: str
) -> None:
    (tmp_path / "a.m4a").write_bytes(b"one")
    with pytest.raises(Unreadable) as caught:
        by(script, tmp_path / "cache", seconds=seconds)(tmp_path / "a.m4a", SUM)
    assert caught.value.reason == reason
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_renditions_asked_for_longest_ago_go_first(tmp_path: Path) -> None:
    (tmp_path / "a.m4a").write_bytes(b"12345")
    make = by(COUNTING, tmp_path / "cache", kept_bytes=25)
    names = [content_hash(bytes([number])) for number in range(3)]
    for age, name in enumerate(names):
        made = make(tmp_path / "a.m4a", name)
        stat = made.stat()
        os.utime(made, (stat.st_atime, 1_000 + age))
    assert sorted(path.stem for path in (tmp_path / "cache").iterdir()) == sorted(names[1:])


@pytest.mark.parametrize("checksum", ["", "../x", "A" * 64])
def test_a_checksum_that_is_none_names_no_file(tmp_path: Path, checksum: str) -> None:
    with pytest.raises(Unreadable):
        by(COUNTING, tmp_path / "cache")(tmp_path / "a.m4a", checksum)
