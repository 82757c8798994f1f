from __future__ import annotations

import json
import stat
import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from blake3 import blake3

from kb.adapters.files.archive import ZipBackup, ZipBackupWriter
from kb.app.backup.checking import contents_of
from kb.app.backup.manifest import manifest_bytes, manifest_of
from kb.domain.backups import BackupMember, LibraryCounts, LibraryFacts, Manifest, is_member
from kb.domain.errors import InvalidInput, NotFound, Unreadable
from kb.domain.failures import Cancelled

FACTS = LibraryFacts("lib", 3, datetime(2026, 4, 27, tzinfo=UTC), LibraryCounts(1, 1, 1, 0, 0))
ASSET = "assets/ab/" + "ab" + "0" * 30
LIBRARY = b"SQLite format 3\0" + b"x" * 500


def member(name: str, data: bytes) -> BackupMember:
    return BackupMember(name, len(data), blake3(data).hexdigest())


def manifest(*members: BackupMember) -> bytes:
    return manifest_bytes(Manifest(datetime(2026, 4, 27, tzinfo=UTC), "0.1.0", FACTS, members))


HONEST = manifest(member("kb.sqlite", LIBRARY))


def written(
    path: Path,
    entries: list[tuple[str | zipfile.ZipInfo, bytes]],
    said: bytes = HONEST,
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    with zipfile.ZipFile(path, "w", method) as out:
        for name, data in entries:
            out.writestr(name, data)
        out.writestr("manifest.json", said)
    return path


def read(path: Path, target: Path) -> None:
    """What a restore does: look through, compare, unpack every member."""
    with ZipBackup(path) as backup:
        for one in contents_of(backup).members:
            backup.copy(one, target / one.name, lambda _count: None)


def a_link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def with_field(path: Path, offset: int, form: str, value: int) -> Path:
    """Change a field of the first entry of the central directory."""
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, data.index(b"PK\x01\x02") + offset, value)
    path.write_bytes(data)
    return path


def overlapping(path: Path) -> Path:
    """Two names over the same bytes, as a bomb has a thousand."""
    other = ASSET
    said = manifest(member("kb.sqlite", LIBRARY), member(other, LIBRARY))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        out.writestr("kb.sqlite", LIBRARY * 40)
        twin = zipfile.ZipInfo(other)
        first = out.filelist[0]
        for field in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
            setattr(twin, field, getattr(first, field))
        out.filelist.append(twin)
        out.NameToInfo[other] = twin
        out.writestr("manifest.json", said)
    return path


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def flipped(path: Path) -> Path:
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    return path


def garbage(path: Path) -> Path:
    path.write_bytes(b"\x00\x01not a zip at all" * 100)
    return path


def empty(path: Path) -> Path:
    path.touch()
    return path


def unlisted(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("kb.sqlite", LIBRARY)
    return path


def deep(path: Path) -> Path:
    return written(path, [("kb.sqlite", LIBRARY)], b"[" * 200_000)


def of_members(**changed: object) -> bytes:
    value = json.loads(HONEST)
    value.update(changed)
    return json.dumps(value).encode()


HOSTILE: dict[str, Callable[[Path], Path]] = {
    "leads up": lambda p: written(p, [("kb.sqlite", LIBRARY), ("../../evil.txt", b"x")]),
    "leads up from inside": lambda p: written(p, [("kb.sqlite", LIBRARY), ("assets/../../evil", b"x")]),
    "absolute": lambda p: written(p, [("kb.sqlite", LIBRARY), ("/etc/evil", b"x")]),
    "a drive": lambda p: written(p, [("kb.sqlite", LIBRARY), ("C:/evil", b"x")]),
    "back slashes": lambda p: written(p, [("kb.sqlite", LIBRARY), ("..\\..\\evil", b"x")]),
    "a device": lambda p: written(p, [("kb.sqlite", LIBRARY), (f"artifacts/{'a' * 32}/con", b"x")]),
    "a stream": lambda p: written(p, [("kb.sqlite", LIBRARY), ("kb.sqlite:evil", b"x")]),
    "a folder": lambda p: written(p, [("kb.sqlite", LIBRARY), ("assets/", b"")]),
    "the lock": lambda p: written(p, [("kb.sqlite", LIBRARY), ("lock", b"x")]),
    "a journal of SQLite": lambda p: written(p, [("kb.sqlite", LIBRARY), ("kb.sqlite-wal", b"x")]),
    "a large file of another name": lambda p: written(p, [("kb.sqlite", LIBRARY), ("notes.json", bytes(1 << 22))]),
    "a link": lambda p: written(p, [(a_link("kb.sqlite"), LIBRARY)]),
    "a link among the copies": lambda p: written(p, [("kb.sqlite", LIBRARY), (a_link(ASSET), b"/etc/passwd")]),
    "not in the list": lambda p: written(p, [("kb.sqlite", LIBRARY), (ASSET, b"x")]),
    "missing": lambda p: written(p, [], HONEST),
    "no list": unlisted,
    "another size": lambda p: written(p, [("kb.sqlite", LIBRARY + b"more")]),
    "other bytes": lambda p: written(p, [("kb.sqlite", LIBRARY[:-1] + b"y")]),
    "a bomb": lambda p: written(
        p, [("kb.sqlite", bytes(200 << 20))], manifest(BackupMember("kb.sqlite", 200 << 20, "0" * 64))
    ),
    "a lying size": lambda p: with_field(written(p, [("kb.sqlite", bytes(1 << 22))]), 24, "<I", len(LIBRARY)),
    "locked": lambda p: with_field(written(p, [("kb.sqlite", LIBRARY)]), 8, "<H", 1),
    "packed oddly": lambda p: written(p, [("kb.sqlite", LIBRARY)], method=zipfile.ZIP_BZIP2),
    "overlapping": overlapping,
    "cut": lambda p: cut(written(p, [("kb.sqlite", LIBRARY)])),
    "flipped": lambda p: flipped(written(p, [("kb.sqlite", LIBRARY)], method=zipfile.ZIP_STORED)),
    "garbage": garbage,
    "empty": empty,
    "a deep list": deep,
    "a list that is none": lambda p: written(p, [("kb.sqlite", LIBRARY)], b'{"format": 1}'),
    "a list of a later program": lambda p: written(p, [("kb.sqlite", LIBRARY)], of_members(format=2)),
    "counts that are none": lambda p: written(p, [("kb.sqlite", LIBRARY)], of_members(counts={"items": -1})),
    "sizes that are none": lambda p: written(
        p, [("kb.sqlite", LIBRARY)], of_members(members={"kb.sqlite": [True, "0" * 64]})
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_nothing_leaves_the_folder(tmp_path: Path, name: str) -> None:
    target = tmp_path / "a" / "b" / "target"
    target.mkdir(parents=True)
    path = HOSTILE[name](tmp_path / "x.kbbackup")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Unreadable) as caught:
        read(path, target)
    assert caught.value.hint
    assert str(tmp_path) not in caught.value.message
    outside = [file for file in sorted(tmp_path.rglob("*")) if not file.is_relative_to(target)]
    assert outside == [file for file in before if not file.is_relative_to(target)]
    assert sum(file.stat().st_size for file in target.rglob("*")) <= 2 * len(LIBRARY) + (1 << 12)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = written(tmp_path / "x.kbbackup", [("kb.sqlite", LIBRARY), ("kb.sqlite", LIBRARY)])
    with pytest.raises(Unreadable, match="twice"):
        read(path, tmp_path)


def test_an_honest_archive_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "out"
    source.write_bytes(LIBRARY)
    path = tmp_path / "x.kbbackup"
    with ZipBackupWriter(path) as writer:
        one = writer.add("kb.sqlite", source, packs=True)
        two = writer.add(ASSET, source, packs=False)
        size = writer.finish(manifest(one, two))
    assert (one, two) == (member("kb.sqlite", LIBRARY), member(ASSET, LIBRARY))
    read(path, target)
    assert (target / "kb.sqlite").read_bytes() == (target / ASSET).read_bytes() == LIBRARY
    assert (target / ASSET).stat().st_mode & 0o777 == 0o600
    assert (path.stat().st_size, path.stat().st_mode & 0o777) == (size, 0o600)


def test_work_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(LIBRARY)

    def stop(_count: int) -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled), ZipBackupWriter(tmp_path / "out" / "x.kbbackup", stop) as writer:
        writer.add("kb.sqlite", source, packs=True)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_backup_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        ZipBackup(tmp_path / "none.kbbackup")
    with pytest.raises(NotFound):
        ZipBackup(tmp_path)


def test_a_list_too_long_to_be_read_again_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="too many"), ZipBackupWriter(tmp_path / "x.kbbackup") as writer:
        writer.finish(bytes((64 << 20) + 1))


def test_a_manifest_comes_back_as_it_was() -> None:
    made = Manifest(datetime(2026, 4, 27, tzinfo=UTC), "0.1.0", FACTS, (member("kb.sqlite", b"x"),), ("assets/gone",))
    assert manifest_of(manifest_bytes(made)) == made


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kb.sqlite", True),
        (ASSET, True),
        (f"artifacts/{'0' * 32}/pdf-text", True),
        (f"artifacts/{'0' * 32}/pdf-text.blake3", True),
        ("assets/cd/" + "ab" + "0" * 30, False),
        (f"artifacts/{'0' * 32}/..", False),
        (f"artifacts/{'0' * 32}/aux.txt", False),
        ("kb.sqlite\n", False),
        ("manifest.json", False),
    ],
)
def test_a_member_is_a_file_a_library_can_have(name: str, expected: bool) -> None:
    assert is_member(name) is expected
