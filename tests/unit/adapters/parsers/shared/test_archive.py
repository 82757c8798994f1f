"""ZIP containers within limits: honest ones are read, bombs and tricks are refused by what they really hold."""

from __future__ import annotations

import io
import struct
import zipfile
from dataclasses import replace

import pytest

from kb.adapters.parsers.shared.archive import Budget, open_zip
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits

LIMITS = ReadingLimits()
SMALL = ReadingLimits(expanded_mb=1)


def packed(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, zip64: bool = False) -> bytes:
    """A ZIP container of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in files:
            with file.open(zipfile.ZipInfo(name), "w", force_zip64=zip64) as entry:
                entry.write(data)
    return buffer.getvalue()


def compressed(name: str, data: bytes, method: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        file.writestr(name, data)
    return buffer.getvalue()


def reason_of(data: bytes, limits: ReadingLimits = LIMITS, *, distinct: bool = False, password: str = "") -> str:
    with pytest.raises(Unreadable) as caught:
        open_zip(data, limits, distinct=distinct, password=password)
    return caught.value.reason


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_entry_is_read_whatever_its_method(method: int) -> None:
    content = "안녕 세계\n".encode() * 20_000
    package = open_zip(compressed("a/b.txt", content, method), LIMITS)
    assert package.names == ("a/b.txt",)
    assert package.entries[0].size == len(content)
    assert package.read("a/b.txt") == content
    assert "a/b.txt" in package
    assert "b.txt" not in package


def test_a_small_honest_zip64_container_is_read() -> None:
    package = open_zip(packed(("a.txt", b"hello"), zip64=True), LIMITS)
    assert package.read("a.txt") == b"hello"


def test_a_folder_is_no_entry_and_a_date_is_kept() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.mkdir("folder")
        file.writestr(zipfile.ZipInfo("folder/new.txt", (2024, 5, 6, 7, 8, 10)), b"x")
        file.writestr(zipfile.ZipInfo("old.txt"), b"x")
    entries = open_zip(buffer.getvalue(), LIMITS).entries
    assert [(entry.name, entry.modified_ns) for entry in entries] == [
        ("folder/new.txt", 1_714_979_290_000_000_000),
        ("old.txt", None),
    ]


def test_a_megabyte_that_stands_for_a_gigabyte_is_refused() -> None:
    buffer = io.BytesIO()
    piece = bytes(1 << 20)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file, file.open("word/document.xml", "w") as entry:
        for _ in range(1024):
            entry.write(piece)
    assert len(buffer.getvalue()) < 2 << 20
    assert reason_of(buffer.getvalue()) == "expands_too_much"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_header_that_lies_about_the_size_does_not_get_a_bomb_in(method: int) -> None:
    data = compressed("a.xml", bytes(8 << 20), method)
    lying = data.replace(struct.pack("<L", 8 << 20), struct.pack("<L", 100))
    assert lying != data
    assert reason_of(lying, SMALL) == "expands_too_much"


def test_a_header_that_lies_a_little_is_refused_too() -> None:
    data = compressed("a.txt", b"seven!!" * 100, zipfile.ZIP_DEFLATED)
    assert reason_of(data.replace(struct.pack("<L", 700), struct.pack("<L", 99))) == "damaged"


def test_a_small_file_may_expand_to_a_megabyte_at_any_ratio() -> None:
    assert open_zip(compressed("a", bytes(1 << 20), zipfile.ZIP_DEFLATED), LIMITS).entries[0].size == 1 << 20
    assert reason_of(compressed("a", bytes((1 << 20) + 1), zipfile.ZIP_DEFLATED)) == "expands_too_much"


def test_all_entries_together_count() -> None:
    files = [(f"{n}.bin", bytes(range(256)) * 1600) for n in range(3)]
    assert reason_of(packed(*files, method=zipfile.ZIP_STORED), SMALL) == "expands_too_much"


def test_too_many_entries_are_refused() -> None:
    data = packed(*((f"{n}.txt", b"") for n in range(11)))
    assert reason_of(data, replace(LIMITS, entries=10)) == "too_many_entries"
    assert len(open_zip(data, replace(LIMITS, entries=11)).entries) == 11


def test_entries_that_share_their_bytes_are_refused() -> None:
    data = bytearray(packed(("a.txt", b"a" * 50), ("b.txt", b"b" * 50), method=zipfile.ZIP_STORED))
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, second + 42, 0)
    assert reason_of(bytes(data)) == "damaged"


def test_two_parts_of_one_name_are_refused_in_a_package_and_numbered_in_an_archive() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = packed(("a.xml", b"1"), ("a.xml", b"2"))
    assert reason_of(data, distinct=True) == "damaged"
    assert reason_of(packed(("a.xml", b"1"), ("A.XML", b"2")), distinct=True) == "damaged"
    package = open_zip(data, LIMITS)
    assert [package.read(name) for name in ("a.xml", "a (2).xml")] == [b"1", b"2"]


def test_a_ciphered_entry_is_locked() -> None:
    data = bytearray(packed(("a.txt", b"secret" * 9)))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert reason_of(bytes(data)) == "locked"
    assert reason_of(bytes(data), password="guess") in {"locked", "damaged"}


def test_broken_containers_are_damaged() -> None:
    data = packed(("a.txt", b"hello world " * 50))
    assert reason_of(b"") == "damaged"
    assert reason_of(b"PK\x03\x04 and nothing more") == "damaged"
    assert reason_of(data[: len(data) // 2]) == "damaged"
    middle = data.index(b"a.txt") + 12
    assert reason_of(data[:middle] + b"\xff\xff\xff" + data[middle + 3 :]) == "damaged"


def test_a_name_in_utf8_without_a_flag_for_it_is_read_as_utf8() -> None:
    data = packed(("x" * 12, b"1"), method=zipfile.ZIP_STORED).replace(b"x" * 12, "회의록.a".encode()[:10] + b".a")
    assert open_zip(data, LIMITS).names == ("회의록.a.a",) or open_zip(data, LIMITS).names[0].startswith("회의록")


def test_a_budget_gives_at_least_a_megabyte_and_at_most_the_limit() -> None:
    assert Budget(LIMITS, 10).left == 1 << 20
    assert Budget(LIMITS, 1 << 20).left == 100 << 20
    assert Budget(LIMITS, 1 << 30).left == 256 << 20
