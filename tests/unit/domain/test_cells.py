"""Cell ranges: letters and numbers as every spreadsheet has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.cells import cell_range, column_name, corners, union

ROW = st.integers(1, 9_999_999)
COLUMN = st.integers(1, 18_278)
RANGE = st.builds(cell_range, ROW, COLUMN, ROW, COLUMN)


@pytest.mark.parametrize(
    ("number", "name"), [(1, "A"), (26, "Z"), (27, "AA"), (52, "AZ"), (702, "ZZ"), (703, "AAA"), (16_384, "XFD")]
)
def test_columns_are_counted_in_letters(number: int, name: str) -> None:
    assert column_name(number) == name


def test_one_cell_is_named_alone() -> None:
    assert cell_range(2, 2, 2, 2) == "B2"
    assert cell_range(2, 2, 9, 4) == "B2:D9"


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ("B2:D9", (2, 2, 9, 4)),
        ("D9:B2", (2, 2, 9, 4)),
        ("$B$2", (2, 2, 2, 2)),
        ("b2:d9", (2, 2, 9, 4)),
        ("", None),
        ("2B", None),
        ("A1:", (1, 1, 1, 1)),
        ("A1:nonsense", None),
        ("Sheet1!A1", None),
    ],
)
def test_corners_are_sorted_and_nonsense_has_none(cells: str, found: tuple[int, int, int, int] | None) -> None:
    assert corners(cells) == found


def test_a_range_and_the_whole_sheet_are_the_whole_sheet() -> None:
    assert union("A1:B2", "") == ""
    assert union("", "A1") == ""
    assert union("A1", "what") == ""


@given(ROW, COLUMN, ROW, COLUMN)
def test_a_written_range_is_read_back(row: int, column: int, last_row: int, last_column: int) -> None:
    rows, columns = sorted((row, last_row)), sorted((column, last_column))
    written = cell_range(row, column, last_row, last_column)
    assert corners(written) == (rows[0], columns[0], rows[1], columns[1])


@given(RANGE, RANGE, RANGE)
def test_a_union_is_the_smallest_range_over_both(one: str, other: str, third: str) -> None:
    a, b, both = corners(one), corners(other), corners(union(one, other))
    assert a
    assert b
    assert both == (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
    assert union(one, other) == union(other, one)
    assert union(union(one, other), third) == union(one, union(other, third))
    assert corners(union(one, one)) == a
