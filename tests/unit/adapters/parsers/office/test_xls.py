"""Workbooks from before 2007, as records of BIFF8 written here ([MS-XLS])."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from kb.adapters.parsers.office.xls import LegacyWorkbookParser
from kb.domain.spans import PartSpan
from tests.unit.adapters.parsers.office.making import LIMITS, lines, read, reason_of

PARSER = LegacyWorkbookParser()
PERCENT, DATE, PLAIN = 1, 2, 0


def record(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def text_cell(row: int, column: int, text: str) -> bytes:
    return record(0x204, struct.pack("<HHHHB", row, column, PLAIN, len(text), 1) + text.encode("utf-16-le"))


def number_cell(row: int, column: int, value: float, style: int = PLAIN) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


def begin(kind: int) -> bytes:
    return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 1997, 0, 0x600))


def style(number_format: int) -> bytes:
    return record(0xE0, struct.pack("<HHH", 0, number_format, 0) + bytes(14))


def workbook(*sheets: tuple[str, int, bytes], more: bytes = b"") -> bytes:
    """A workbook of (name, visibility, cells)."""
    font = record(0x31, struct.pack("<HHHHHBBBBBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 0, 1, 0) + b"A")
    shared = begin(0x05) + more + record(0x42, struct.pack("<H", 1200)) + font * 4 + style(0) + style(10) + style(14)
    bodies = [begin(0x10) + cells + record(0x0A) for _, _, cells in sheets]
    names = [struct.pack("<BBBB", state, 0, len(name), 1) + name.encode("utf-16-le") for name, state, _ in sheets]
    position = len(shared) + sum(8 + len(name) for name in names) + 4
    listed = b""
    for name, body in zip(names, bodies, strict=True):
        listed += record(0x85, struct.pack("<I", position) + name)
        position += len(body)
    return shared + listed + record(0x0A) + b"".join(bodies)


def test_values_headers_hidden_sheets_and_places() -> None:
    cells = (
        text_cell(1, 1, "도시")
        + text_cell(1, 2, "몫")
        + text_cell(1, 3, "날")
        + text_cell(2, 1, "서울")
        + number_cell(2, 2, 0.25, PERCENT)
        + number_cell(2, 3, 45418, DATE)
    )
    document = read(PARSER, workbook(("표", 0, cells), ("빈", 0, b""), ("숨김", 1, text_cell(0, 0, "x"))))
    assert lines(document) == [
        "heading 1: 표",
        "table 1: 도시 | 몫 | 날\n도시: 서울 | 몫: 25.00% | 날: 2024-05-06",
        "heading 3: 숨김 (hidden)",
        "paragraph 3: x",
    ]
    assert document.blocks[1].segments[1].span == PartSpan("sheet", 1, "표", "B3:D3")
    assert [(unit.start, unit.state) for unit in document.coverage] == [(1, "text"), (2, "blank"), (3, "text")]


def test_merged_cells_name_the_rows_they_cover() -> None:
    cells = text_cell(0, 0, "a") + text_cell(0, 1, "b") + text_cell(1, 0, "both")
    cells += text_cell(1, 1, "one") + text_cell(2, 1, "two") + record(0xE5, struct.pack("<HHHHH", 1, 1, 2, 0, 0))
    assert lines(read(PARSER, workbook(("S", 0, cells))))[1] == "table 1: a | b\na: both | b: one\na: both | b: two"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"nonsense", "damaged"),
        (workbook(("S", 0, b""))[:40], "damaged"),
        (workbook(("S", 0, b""), more=record(0x2F, bytes(6))), "locked"),
        (b"PK\x03\x04 a newer one", "wrong_type"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "damaged"),
    ],
    ids=["empty", "nonsense", "cut", "locked", "newer", "compound"],
)
def test_what_is_no_readable_workbook_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(PARSER, data) == reason


def test_more_cells_than_allowed_are_too_complex() -> None:
    cells = b"".join(number_cell(row, 0, row) for row in range(11))
    assert reason_of(PARSER, workbook(("S", 0, cells)), replace(LIMITS, cells=10)) == "too_complex"
