"""Workbooks: tables are found with their headers, values read as shown, every row knows its cells."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date, datetime, time

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.styles import numbers

from kb.adapters.parsers.office.values import shown
from kb.adapters.parsers.office.xlsx import WorkbookParser
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument
from kb.domain.spans import PartSpan
from tests.unit.adapters.parsers.office.making import LAUGHS, LIMITS, R, lines, png, read, reason_of, relations, zipped

PARSER = WorkbookParser()
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def book(*sheets: str, strings: str = "", state: str = "") -> bytes:
    """A workbook of sheets S1, S2, ... made of these rows."""
    count = range(1, len(sheets) + 1)
    listed = "".join(f'<sheet name="S{n}" r:id="s{n}" {state}/>' for n in count)
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(r1="officeDocument:xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{R}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            **{f"s{n}": f"worksheet:worksheets/sheet{n}.xml" for n in count}, t="sharedStrings:sharedStrings.xml"
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
    }
    for n, rows in zip(count, sheets, strict=True):
        parts[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    return zipped(parts)


def saved(workbook: openpyxl.Workbook) -> ParsedDocument:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return read(PARSER, buffer.getvalue())


def test_a_table_has_its_header_and_each_row_its_cells() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "매출"
    for row in (["도시", "금액"], ["서울", 1200], ["부산", 800.5]):
        sheet.append(row)
    document = saved(workbook)
    assert lines(document) == [
        "heading 1: 매출",
        "table 1: 도시 | 금액\n도시: 서울 | 금액: 1200\n도시: 부산 | 금액: 800.5",
    ]
    table = document.blocks[1]
    assert table.heading_path == ("매출",)
    assert [segment.span for segment in table.segments] == [
        PartSpan("sheet", 1, "매출", "A1:B1"),
        PartSpan("sheet", 1, "매출", "A2:B2"),
        PartSpan("sheet", 1, "매출", "A3:B3"),
    ]
    assert document.coverage == (CoverageUnit("sheet", 1, 1, "text"),)


def test_titles_regions_and_pairs_on_one_sheet() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["B2"] = "Budget 2024"
    for row, values in enumerate((("Item", "Cost"), ("Rent", 10), ("Food", 20)), 3):
        sheet.cell(row, 2, values[0])
        sheet.cell(row, 3, values[1])
    sheet["A8"], sheet["B8"] = "Total", 30
    sheet["A9"], sheet["B9"] = "Left", 5
    document = saved(workbook)
    assert lines(document) == [
        "heading 1: Sheet",
        "paragraph 1: Budget 2024",
        "table 1: Item | Cost\nItem: Rent | Cost: 10\nItem: Food | Cost: 20",
        "paragraph 1: Total: 30\nLeft: 5",
    ]
    assert document.blocks[2].span == PartSpan("sheet", 1, "Sheet", "B4:C5")
    assert document.blocks[3].segments[1].span == PartSpan("sheet", 1, "Sheet", "A9:B9")


def test_merged_cells_name_all_columns_and_rows_they_cover() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["Region", "2024", None], ["", "Q1", "Q2"], ["North", 1, 2], [None, 3, 4]):
        sheet.append(row)
    sheet.merge_cells("B1:C1")
    sheet.merge_cells("A3:A4")
    assert lines(saved(workbook))[1].split("\n") == [
        "table 1: Region | 2024 Q1 | 2024 Q2",
        "Region: North | 2024 Q1: 1 | 2024 Q2: 2",
        "Region: North | 2024 Q1: 3 | 2024 Q2: 4",
    ]


def test_dates_percents_and_amounts_are_read_as_shown() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.append(["when", "at", "time", "share", "cost", "won", "big", "yes"])
    moment = datetime.combine(date(2024, 5, 6), time(14, 30))
    sheet.append([date(2024, 5, 6), moment, time(9, 5), 0.256, -1234.5, 15000, 1234567, True])
    for column, code in (
        (4, "0.0%"),
        (5, '"$"#,##0.00'),
        (6, '#,##0"원"'),
        (7, numbers.FORMAT_NUMBER_COMMA_SEPARATED1),
    ):
        sheet.cell(2, column).number_format = code
    assert lines(saved(workbook))[1].split("\n")[1] == (
        "when: 2024-05-06 | at: 2024-05-06 14:30 | time: 09:05 | share: 25.6% | cost: -$1,234.50 | won: 15,000 원"
        " | big: 1,234,567.00 | yes: TRUE"
    )


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.5, "0%", "50%"),
        (1234.5, "#,##0", "1,234"),
        (3.14159, "0.00", "3.14159"),
        (5, "[$€-407] #,##0.00", "€5.00"),
        (7, "[$-409]0", "7"),
        (1e20, "0", "1e+20"),
    ],
)
def test_a_number_format_shapes_percents_amounts_and_thousands_only(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


def test_hidden_sheets_are_marked_empty_ones_blank_and_comments_kept() -> None:
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "shown"
    workbook.active["A1"].comment = Comment("Is it?", "Lee")
    workbook.create_sheet("Empty")
    secret = workbook.create_sheet("Secret")
    secret["A1"] = "not shown"
    secret.sheet_state = "veryHidden"
    document = saved(workbook)
    assert lines(document) == [
        "heading 1: Sheet",
        "paragraph 1: shown",
        "quote 1: Is it?",
        "heading 3: Secret (hidden)",
        "paragraph 3: not shown",
    ]
    assert [(unit.start, unit.state) for unit in document.coverage] == [(1, "text"), (2, "blank"), (3, "text")]


def test_a_picture_stands_at_its_cell() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.add_image(Image(io.BytesIO(png(200, 100))), "C4")
    document = saved(workbook)
    assert [member.name for member in document.members] == ["image1.png"]
    assert document.blocks[-1].span == PartSpan("sheet", 1, "Sheet", "C4")


def test_formulas_have_the_value_they_last_had_else_themselves() -> None:
    rows = '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>NOW()</f></c><c r="C1" t="e"><v>#REF!</v></c></row>'
    assert lines(read(PARSER, book(rows))) == ["heading 1: S1", "paragraph 1: 2 | =NOW()"]


def test_shared_texts_lose_their_readings_and_rows_without_numbers_count_on() -> None:
    strings = "<si><t>東京</t><rPh><t>トウキョウ</t></rPh></si><si><r><t>rich </t></r><r><t>text</t></r></si>"
    rows = '<row><c t="s"><v>0</v></c></row><row r="5"><c r="D5" t="s"><v>1</v></c><c t="s"><v>99</v></c></row>'
    document = read(PARSER, book(rows, strings=strings))
    assert lines(document) == ["heading 1: S1", "paragraph 1: 東京", "paragraph 1: rich text"]
    assert document.blocks[2].span == PartSpan("sheet", 1, "S1", "D5")


def test_a_long_table_is_cut_into_blocks_that_each_have_the_header() -> None:
    rows = "".join(
        f'<row r="{n}"><c t="inlineStr"><is><t>{"name" if n == 1 else "x"}</t></is></c>'
        f'<c t="inlineStr"><is><t>{"age" if n == 1 else n}</t></is></c></row>'
        for n in range(1, 2502)
    )
    tables = read(PARSER, book(rows)).blocks[1:]
    assert [block.span.cells for block in tables if isinstance(block.span, PartSpan)] == [
        "A2:B1001",
        "A1002:B2001",
        "A2002:B2501",
    ]
    assert {block.text.partition("\n")[0] for block in tables} == {"name | age"}


def test_a_merged_cell_over_the_whole_sheet_costs_no_more_than_the_cells_in_use() -> None:
    rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>all</t></is></c></row><row r="3"><c r="B3"><v>7</v></c></row>'
    data = book(rows + '</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells><sheetData>')
    assert lines(read(PARSER, data)) == ["heading 1: S1", "paragraph 1: all", "paragraph 1: all: 7"]


def test_a_damaged_sheet_costs_itself_only() -> None:
    document = read(PARSER, book("<row>", "<row><c><v>7</v></c></row>"))
    assert lines(document) == ["heading 2: S2", "paragraph 2: 7"]
    assert document.coverage == (
        CoverageUnit("sheet", 1, 1, "failed", None, "damaged"),
        CoverageUnit("sheet", 2, 2, "text"),
    )


def test_more_cells_than_allowed_are_too_complex() -> None:
    rows = "".join(f"<row><c><v>{n}</v></c></row>" for n in range(11))
    assert reason_of(PARSER, book(rows), replace(LIMITS, cells=10)) == "too_complex"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (zipped({"a": "b"}), "wrong_type"),
        (book("").replace(b"xl/", b"yy/"), "wrong_type"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "locked"),
    ],
    ids=["other", "moved", "locked"],
)
def test_what_is_no_readable_workbook_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(PARSER, data) == reason


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"])
def test_laughs_in_any_part_that_is_read_are_refused(part: str) -> None:
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>'
    parts = {
        "_rels/.rels": relations(r1="officeDocument:xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns:r="{R}"><sheets><sheet name="S" r:id="s"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            s="worksheet:worksheets/sheet1.xml", t="sharedStrings:sharedStrings.xml"
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"/>',
        "xl/worksheets/sheet1.xml": sheet,
    }
    assert read(PARSER, zipped(parts)).blocks == ()
    assert reason_of(PARSER, zipped(parts | {part: LAUGHS + parts[part]})) == "too_complex"
