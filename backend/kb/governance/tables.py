"""Secrets in tables, where the name of a value stands above it or to its left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.domain.blocks import Table
from kb.governance.found import Found
from kb.governance.names import secret_names
from kb.governance.plausible import is_name_like, is_placeholder, is_random, is_stop_word, is_strong, is_word

_LONGEST_NAME = 40
_REMARK = re.compile(r"[\s:：*]*(?:[(（][^()（）]{0,30}[)）])?[\s:：*]*\Z")
_BEFORE = re.compile(r"[A-Za-z0-9가-힣一-龥 _./#-]{0,28}\Z")
_USUAL_PIN = range(4, 9)


def find_in_table(table: Table, text: str) -> list[Found]:
    """Return the secrets that a table's own form tells, at their places in the block's text.

    A column or a row counts when a cell of it is the name of a secret and nothing else. In a column of passwords of
    which one is no word, words count too.
    """
    values = dict(_secret_cells(table))
    found: list[Found] = []
    for value, kind in values.items():
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if _is_cell(text, at, end):
                found.append(Found(at, end, kind, "".join(value.split())))
            at = text.find(value, end)
    return found


def _secret_cells(table: Table) -> Iterator[tuple[str, str]]:
    columns: dict[int, tuple[str, bool]] = {}
    held: dict[int, list[str]] = {}
    for row in (table.headers, *table.rows):
        left: tuple[str, bool] | None = None
        for number, cell in enumerate(row):
            name = _name(cell)
            if name:
                columns[number] = left = name
                continue
            value = cell.strip()
            if number in columns and value:
                held.setdefault(number, []).append(value)
            if left and _is_beside(value, is_password=left[1]):
                yield value, left[0]
            left = None
    for number, cells in held.items():
        kind, is_password = columns[number]
        yield from ((value, kind) for value in _in_column(cells, is_password=is_password))


def _name(cell: str) -> tuple[str, bool] | None:
    """Return kind and whether people choose it, when a cell is the name of a secret."""
    if not cell or len(cell) > _LONGEST_NAME:
        return None
    lower = cell.strip().lower()
    for name in secret_names(lower):
        if _REMARK.match(lower, name.end) and _BEFORE.match(lower[: name.start]):
            return name.kind, name.is_password
    return None


def _is_beside(value: str, *, is_password: bool) -> bool:
    if not value or " " in value or is_stop_word(value):
        return False
    if is_password and value.isdigit():
        return len(value) in _USUAL_PIN and not is_placeholder(value)
    return is_strong(value) and not is_name_like(value) and (is_password or is_random(value))


def _in_column(cells: list[str], *, is_password: bool) -> Iterator[str]:
    if not is_password:
        yield from filter(is_random, cells)
        return
    single = [cell for cell in cells if " " not in cell and not is_stop_word(cell)]
    strong = [cell for cell in single if is_strong(cell)]
    if strong:
        yield from strong
        yield from (cell for cell in single if cell not in strong and is_word(cell))


def _is_cell(text: str, start: int, end: int) -> bool:
    """Return whether a value fills a cell of the text of a table: between bars, line ends, or behind its header."""
    before = text[max(0, start - 2) : start]
    after = text[end : end + 2].lstrip(" ")
    return (before.strip(" ")[-1:] in {"", "|", "\n", ":"}) and after[:1] in {"", "|", "\n"}
