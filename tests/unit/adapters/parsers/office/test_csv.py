"""Delimited text: the delimiter is seen, quotes are minded, every row stays a row."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.parsers.office.csv import CsvParser
from kb.adapters.parsers.shared.building import clean
from kb.domain.coverage import CoverageUnit
from kb.domain.spans import PartSpan
from tests.unit.adapters.parsers.office.making import LIMITS, lines, read, reason_of

PARSER = CsvParser(CharsetNormalizerDecoder())


def table_of(text: str, path: str = "data/cities.csv") -> list[str]:
    return lines(read(PARSER, text.encode(), path))


def test_the_sheet_is_called_as_the_file_and_rows_know_their_cells() -> None:
    document = read(PARSER, "이름,나이\n철수,12\n영희,13\n".encode(), "학교/반.csv")
    assert lines(document) == ["heading 1: 반", "table 1: 이름 | 나이\n이름: 철수 | 나이: 12\n이름: 영희 | 나이: 13"]
    assert document.blocks[1].segments[2].span == PartSpan("sheet", 1, "반", "A3:B3")
    assert document.coverage == (CoverageUnit("sheet", 1, 1, "text"),)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_seen_from_the_rows(delimiter: str) -> None:
    text = f'name{delimiter}says\nAnn{delimiter}"a, b; c | d"\nBo{delimiter}yes\n'
    assert table_of(text)[1].split("\n")[:2] == ["table 1: name | says", "name: Ann | says: a, b; c | d"]


def test_a_line_that_states_the_delimiter_is_no_row() -> None:
    assert table_of("sep=;\na;b\nx;y\n") == ["heading 1: cities", "table 1: a | b\na: x | b: y"]


def test_line_ends_in_quotes_do_not_end_a_row() -> None:
    document = read(PARSER, b'name,note\r\nAnn,"two\r\nlines, ""quoted"""\r\nBo,x\r\n', "a.csv")
    assert document.blocks[1].text.split("\n") == [
        "name | note",
        'name: Ann | note: two lines, "quoted"',
        "name: Bo | note: x",
    ]
    assert document.blocks[1].segments[2].span == PartSpan("sheet", 1, "a", "A3:B3")


def test_ragged_rows_keep_all_their_cells() -> None:
    assert table_of("a,b,c\n1,x\n2,y,z,w\n")[1].split("\n") == ["table 1: a | b | c | ", "1 | x |  | ", "2 | y | z | w"]


def test_numbers_alone_have_no_header() -> None:
    assert table_of("1,2\n3,4\n") == ["heading 1: cities", "paragraph 1: 1 | 2\n3 | 4"]


def test_old_encodings_are_read_and_said() -> None:
    document = read(PARSER, "도시,인구\n서울,940만\n부산,330만\n".encode("cp949"), "a.csv")
    assert "도시: 서울" in document.blocks[1].text
    assert [warning.kind for warning in document.warnings] == ["encoding_fallback"]
    assert "도시" in read(PARSER, "도시,인구\n서울,1\n".encode("utf-16"), "a.csv").blocks[1].text


def test_an_empty_file_is_a_blank_sheet() -> None:
    document = read(PARSER, b"\n\n,,\n", "a.csv")
    assert document.blocks == ()
    assert document.coverage == (CoverageUnit("sheet", 1, 1, "blank"),)


def test_limits_and_an_open_quotation_mark() -> None:
    assert reason_of(PARSER, b"a,b\n" * 6, replace(LIMITS, cells=11)) == "too_complex"
    assert reason_of(PARSER, b"a" * 12, replace(LIMITS, characters=11)) == "too_big"
    assert reason_of(PARSER, b'a,"' + b"x,y\n" * 400_000) == "too_complex"
    assert reason_of(PARSER, bytes(range(256)) * 20) == "binary"


CELL = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="|"), min_size=1, max_size=12)


@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=2, max_size=8))
def test_every_cell_of_a_written_table_is_found_again(rows: list[list[str]]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([["one", "two", "three"], *rows])
    document = read(PARSER, buffer.getvalue().encode(), "a.csv")
    text = " ".join(block.text for block in document.blocks)
    assert all(clean(cell) in text for row in rows for cell in row)
