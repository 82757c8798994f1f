from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile

import pytest

from kb.adapters.parsers.archive.parser import ArchiveParser
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from tests.fakes.containers import make_tar, make_zip
from tests.fakes.format_reading import ledger, parse, short_id

PARSER = ArchiveParser()
FILES = [("notes/a.md", b"# A"), ("표.csv", b"1,2")]


def members(data: bytes, name: str = "file") -> list[tuple[str, bytes]]:
    return [(member.name, member.data) for member in parse(PARSER, data, name=name).members]


@pytest.mark.parametrize(
    "data",
    [
        make_zip(dict(FILES)),
        make_tar(FILES),
        make_tar(FILES, mode="w:gz"),
        make_tar(FILES, mode="w:bz2"),
        make_tar(FILES, mode="w:xz"),
    ],
    ids=short_id,
)
def test_files_in_an_archive_are_members_and_accounted_for(data: bytes) -> None:
    assert members(data) == FILES
    assert ledger(parse(PARSER, data)) == [(1, 2, "text", None)]
    assert parse(PARSER, data).blocks == ()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=short_id)
def test_a_single_packed_file_is_one_member_called_without_the_last_suffix(pack: object) -> None:
    packed = pack(b"a,b") + pack(b"\n1,2")  # type: ignore[operator]
    assert members(packed, "data/table.csv.gz") == [("table.csv", b"a,b\n1,2")]


def test_names_are_cleaned_and_no_two_alike() -> None:
    data = make_tar(
        [("../../etc/passwd", b"1"), ("/abs/a.md", b"2"), ("..\\b.md", b"3"), ("C:\\b.md", b"4"), ("B.MD", b"5")]
    )
    assert members(data) == [
        ("etc/passwd", b"1"),
        ("abs/a.md", b"2"),
        ("b.md", b"3"),
        ("b (2).md", b"4"),
        ("B (3).MD", b"5"),
    ]


def test_links_and_devices_are_not_followed() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    document = parse(PARSER, buffer.getvalue())
    assert document.members == ()
    assert ledger(document) == [(1, 2, "skipped", "link"), (3, 3, "skipped", "special_file")]


def test_a_link_in_a_zip_is_not_a_file() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.md", "# A")
    assert members(buffer.getvalue()) == [("a.md", b"# A")]
    assert ledger(parse(PARSER, buffer.getvalue())) == [(1, 1, "skipped", "link"), (2, 2, "text", None)]


def test_what_systems_put_into_archives_is_left_out() -> None:
    data = make_zip({"a.md": "# A", "__MACOSX/._a.md": "x", "sub/.DS_Store": "x", "Thumbs.db": "x"})
    assert members(data) == [("a.md", b"# A")]
    assert ledger(parse(PARSER, data)) == [(1, 1, "text", None), (2, 4, "skipped", "system_file")]


def test_a_tar_cut_short_gives_what_is_whole_and_says_the_rest_failed() -> None:
    data = make_tar([("a.md", b"# A"), ("b.md", b"x" * 5_000)])[:2_500]
    document = parse(PARSER, data)
    assert [member.name for member in document.members] == ["a.md"]
    assert ledger(document) == [(1, 1, "text", None), (2, 2, "failed", "damaged")]


def test_a_sparse_file_that_claims_a_terabyte_fails_at_once() -> None:
    entry = tarfile.TarInfo("sparse")
    entry.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    header[386 : 386 + 24] = b"%011o\0" % 0 + b"%011o\0" % 0
    header[483:495] = b"%011o\0" % (1 << 32)
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    with pytest.raises(Unreadable) as caught:
        parse(PARSER, bytes(header) + b"\0" * 1_024)
    assert caught.value.reason == "expands_too_much"


def test_a_damaged_entry_of_a_zip_costs_itself_only() -> None:
    data = bytearray(make_zip({"a.md": "# A", "b.md": "words that are whole " * 9, "c.md": "# C", "d.md": "# D"}))
    at = data.index(b"b.md") + 8
    data[at : at + 4] = b"\xff\xff\xff\xff"
    directory = data.index(b"c.md", data.index(b"PK\1\2"))
    data[directory - 46 + 10] = 97  # a method nobody knows
    document = parse(PARSER, bytes(data))
    assert [(member.name, member.data) for member in document.members] == [("a.md", b"# A"), ("d.md", b"# D")]
    assert ledger(document) == [
        (1, 1, "text", None),
        (2, 2, "failed", "damaged"),
        (3, 3, "failed", "unsupported"),
        (4, 4, "text", None),
    ]


def test_an_archive_behind_the_program_that_unpacks_it_is_read() -> None:
    assert members(b"#!/bin/sh\nexit 0\n" + make_zip(dict(FILES))) == FILES
    inner = make_zip({"a.md": "# A"})
    assert members(make_tar([("inner.zip", inner)])) == [("inner.zip", inner)]


def test_names_in_old_encodings_are_letters_in_zip_and_tar() -> None:
    name = "회의록.md"
    raw = name.encode("cp949")
    zipped = make_zip({"x" * len(raw): "# A"}).replace(b"x" * len(raw), raw)
    assert members(zipped) == [(name, b"# A")]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", encoding="cp949", format=tarfile.GNU_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"# A"))
    assert members(buffer.getvalue()) == [(name, b"# A")]


def locked_zip(words: bytes, password: bytes) -> bytes:
    """A ZIP with one file in the old cipher, which the standard library reads but does not write."""
    plain = make_zip({"a.md": words.decode()})
    with zipfile.ZipFile(io.BytesIO(plain)) as archive:
        info = archive.infolist()[0]
        start = 30 + len(info.filename)
        raw = plain[start : start + info.compress_size]
    cipher = _encrypted(b"\0" * 11 + bytes([info.CRC >> 24]) + raw, password)
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 1, 8, 0, 33, info.CRC, len(cipher), len(words), 4, 0) + b"a.md"
    central = struct.pack(
        "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 1, 8, 0, 33, info.CRC, len(cipher), len(words), 4, 0, 0, 0, 0, 0, 0
    )
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(central) + 4, len(local) + len(cipher), 0)
    return local + cipher + central + b"a.md" + end


def _encrypted(data: bytes, password: bytes) -> bytes:
    table = [_crc(n) for n in range(256)]
    keys = [0x12345678, 0x23456789, 0x34567890]

    def update(byte: int) -> None:
        keys[0] = table[(keys[0] ^ byte) & 255] ^ keys[0] >> 8
        keys[1] = ((keys[1] + (keys[0] & 255)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = table[(keys[2] ^ keys[1] >> 24) & 255] ^ keys[2] >> 8

    for byte in password:
        update(byte)
    result = bytearray()
    for byte in data:
        half = keys[2] | 2
        result.append(byte ^ (half * (half ^ 1) >> 8 & 255))
        update(byte)
    return bytes(result)


def _crc(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ 0xEDB88320 * (value & 1)
    return value


def test_a_locked_archive_opens_with_its_password_only() -> None:
    data = locked_zip(b"# Secret", b"open sesame")
    document = parse(PARSER, data, password="open sesame")
    assert [(member.name, member.data) for member in document.members] == [("a.md", b"# Secret")]
    for password in (None, "wrong"):
        with pytest.raises(Unreadable) as caught:
            parse(PARSER, data, password=password)
        assert caught.value.reason == "locked"
        assert "sesame" not in str(caught.value)


def overlapping() -> bytes:
    plain = make_zip({"a": "x" * 1_000, "b": "x" * 1_000})
    at = plain.index(b"PK\1\2", plain.index(b"PK\1\2") + 1)
    return plain[: at + 42] + b"\0\0\0\0" + plain[at + 46 :]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_zip({"bomb": b"\0" * 20_000_000}), "expands_too_much"),
        (gzip.compress(b"\0" * 20_000_000), "expands_too_much"),
        (bz2.compress(b"\0" * 20_000_000), "expands_too_much"),
        (lzma.compress(b"\0" * 20_000_000), "expands_too_much"),
        (overlapping(), "damaged"),
        (make_zip({f"{n}": "" for n in range(60)}), "too_many_entries"),
        (make_tar([(f"{n}", b"") for n in range(60)]), "too_many_entries"),
        (b"7z\xbc\xaf'\x1c" + b"\0" * 100, "unsupported"),
        (b"Rar!\x1a\x07\x01\x00", "unsupported"),
        (b"(\xb5/\xfd\0\0", "unsupported"),
        (make_zip(dict(FILES))[:60], "damaged"),
        (gzip.compress(b"words" * 100)[:-9], "damaged"),
        (gzip.compress(b"words") + b"tail", "damaged"),
        (b"no archive", "damaged"),
        (b"", "damaged"),
    ],
    ids=short_id,
)
def test_what_is_no_honest_archive_fails_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(PARSER, data, limits=ReadingLimits(entries=50))
    assert caught.value.reason == reason


def test_an_archive_in_an_archive_is_a_member_and_not_opened_here() -> None:
    inner = make_zip({"a.md": "# A"})
    assert members(make_zip({"inner.zip": inner})) == [("inner.zip", inner)]
