"""Cell ranges of sheets in the form `B2:D9` (ECMA-376, A1 reference style)."""

from __future__ import annotations

import re

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})\Z")


def column_name(number: int) -> str:
    """Return the letters of a column, from 1: A, B, ..., Z, AA."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell_range(first_row: int, first_column: int, last_row: int, last_column: int) -> str:
    """Return the range between two corners, counted from 1; one cell as `B2`."""
    first = f"{column_name(first_column)}{first_row}"
    last = f"{column_name(last_column)}{last_row}"
    return first if first == last else f"{first}:{last}"


def corners(cells: str) -> tuple[int, int, int, int] | None:
    """Return (first row, first column, last row, last column) of a range, None when it is not one."""
    first, _, last = cells.partition(":")
    start, end = _CELL.match(first), _CELL.match(last or first)
    if not start or not end:
        return None
    rows = sorted((int(start[2]), int(end[2])))
    columns = sorted((_column_number(start[1]), _column_number(end[1])))
    return rows[0], columns[0], rows[1], columns[1]


def union(one: str, other: str) -> str:
    """Return the smallest range that covers both; empty (the whole sheet) when either is empty or no range."""
    a, b = corners(one), corners(other)
    if a is None or b is None:
        return ""
    return cell_range(min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number
