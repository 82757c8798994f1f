"""Sheets as tables with headers: cells that belong together are found, and each row knows its place."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb.adapters.parsers.office.places import Count, is_named
from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.domain.cells import cell_range
from kb.domain.spans import PartSpan, Segment, SourceSpan

Row = tuple[int, dict[int, str]]
"""A row's number (from 1) and its cells with words, by column (from 1)."""

_NUMBER = re.compile(r"[-+(]?\s*[$€£¥₩]?\s*[-+]?\d[\d.,\s'’]*(?:[eE][-+]?\d+)?\s*[%$€£¥₩]?\)?\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_BLOCK_ROWS = 1_000
_LONGEST_HEADER = 120
_TELL_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a sheet holds beside its cells.

    Attributes:
        number: from 1, in the order of the tabs.
        merged: (first row, first column, last row, last column) of merged cells.
        notes: what people wrote at cells: (row, column, text).
    """

    number: int
    name: str
    hidden: bool = False
    merged: Sequence[tuple[int, int, int, int]] = ()
    notes: Sequence[tuple[int, int, str]] = ()


def sheet_blocks(
    sheet: Sheet, rows: Iterable[Row], count: Count, tell: Callable[[int], None], *, titled: bool = False
) -> BlockBuilder:
    """Return the blocks of a sheet: its name as a heading, then each region between blank rows; none when it is empty.

    Args:
        sheet: which, and what belongs to it.
        rows: in order, only those with cells.
        count: takes cells and characters into account.
        tell: is told the number of a row now and then.
        titled: give the heading to an empty sheet too, since something else follows.
    """
    kept: list[Row] = []
    for number, cells in rows:
        if len(kept) % _TELL_ROWS == 0:
            tell(number)
        words = {column: text for column, value in cells.items() if (text := " ".join(clean(value).split()))}
        count.add(len(words), sum(map(len, words.values())))
        if words:
            kept.append((number, words))
    wide = _fill_merged(sheet.merged, kept, count)
    builder = BlockBuilder()
    if kept or sheet.notes or titled:
        first = (kept[0][0], min(kept[0][1])) if kept else sheet.notes[0][:2] if sheet.notes else (1, 1)
        title = sheet.name + (" (hidden)" if sheet.hidden else "")
        builder.heading(1, title, _place(sheet, first[0], first[1], first[0], first[1]))
    for region in _regions(kept):
        _Region(sheet, region, wide).add_to(builder)
    for row, column, text in sheet.notes:
        builder.quote(text, _place(sheet, row, column, row, column))
    return builder


def is_number(text: str) -> bool:
    """Return whether a cell's text is a number, an amount, a date or a time."""
    return bool(_NUMBER.match(text) or _DATE.match(text))


def _place(sheet: Sheet, top: int, left: int, bottom: int, right: int) -> PartSpan:
    return PartSpan("sheet", sheet.number, sheet.name, cell_range(top, left, bottom, right))


def _fill_merged(merged: Iterable[tuple[int, int, int, int]], rows: list[Row], count: Count) -> set[int]:
    """Write the value of merged cells into the rows they reach down to and the columns they span, where rows exist.

    Returns:
        the numbers of rows in which a cell spans columns.
    """
    by_number = dict(rows)
    numbers = list(by_number)
    used = max((max(cells) for cells in by_number.values()), default=0)
    wide: set[int] = set()
    for top, left, bottom, right in merged:
        value = by_number.get(top, {}).get(left)
        if value is None:
            continue
        # Only as far as rows and columns are in use: a merged cell may claim the whole sheet.
        reach = numbers[bisect_left(numbers, top) : bisect_right(numbers, bottom)]
        last = min(right, used)
        count.add(len(reach) + last - left, 0)
        for number in reach:
            by_number[number].setdefault(left, value)
        if last > left:
            wide.add(top)
            by_number[top] |= {column: value for column in range(left, last + 1) if column not in by_number[top]}
    return wide


def _regions(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    start = 0
    for index in range(1, len(rows) + 1):
        if index == len(rows) or rows[index][0] > rows[index - 1][0] + 1:
            yield rows[start:index]
            start = index


class _Region:
    """Rows without a blank one between them."""

    def __init__(self, sheet: Sheet, rows: Sequence[Row], wide: set[int]) -> None:
        self._sheet = sheet
        self._rows = rows
        self._wide = wide

    def add_to(self, builder: BlockBuilder) -> None:
        """Add lines that stand above a table, then the table, or lines alone when no row is its header."""
        rows = list(self._rows)
        above = 0
        while above < len(rows) and len(set(rows[above][1].values())) == 1:
            above += 1
        if above == len(rows) or above > 3:  # noqa: PLR2004 - a title, a subtitle, a unit; more is a list
            above = 0
        self._lines(builder, rows[:above])
        rows = rows[above:]
        left = min(min(cells) for _, cells in rows)
        right = max(max(cells) for _, cells in rows)
        depth = self._header_depth(rows, right - left + 1)
        if not depth:
            self._lines(builder, rows)
            return
        columns = range(left, right + 1)
        headers = _joined([cells for _, cells in rows[:depth]], columns)
        head = _place(self._sheet, rows[0][0], left, rows[depth - 1][0], right)
        body = rows[depth:]
        named = is_named(headers, [[cells.get(column, "") for column in columns] for _, cells in body[:50]])
        for start in range(0, len(body), _BLOCK_ROWS):
            part = body[start : start + _BLOCK_ROWS]
            spans: list[SourceSpan] = [head, *(_place(self._sheet, number, left, number, right) for number, _ in part)]
            values = [[cells.get(column, "") for column in columns] for _, cells in part]
            whole = _place(self._sheet, part[0][0], left, part[-1][0], right)
            builder.table(headers, values, whole, spans, named=named)

    def _header_depth(self, rows: Sequence[Row], width: int) -> int:
        """Return how many rows at the top name the columns: 0, 1, or 2 where the first spans groups of them."""
        if len(rows) < 2 or width < 2 or not _names_columns(rows[0][1], width):  # noqa: PLR2004 - names, and what they name
            return 0
        grouped = rows[0][0] in self._wide and len(rows) > 2 and _names_columns(rows[1][1], width)  # noqa: PLR2004
        return 2 if grouped else 1

    def _lines(self, builder: BlockBuilder, rows: Sequence[Row]) -> None:
        """Add rows as lines `a: b` or `a | b | c`, each with its place."""
        if not rows:
            return
        lines: list[str] = []
        segments: list[Segment] = []
        position = 0
        for number, cells in rows:
            words = [cells[column] for column in sorted(cells)]
            if len(set(words)) == 1:  # one cell, or one across columns
                words = words[:1]
            line = f"{words[0]}: {words[1]}" if _is_pair(words) else " | ".join(words)
            place = _place(self._sheet, number, min(cells), number, max(cells))
            segments.append(Segment(position, position + len(line), place))
            lines.append(line)
            position += len(line) + 1
        left, right = min(min(cells) for _, cells in rows), max(max(cells) for _, cells in rows)
        builder.paragraph("\n".join(lines), _place(self._sheet, rows[0][0], left, rows[-1][0], right), segments)


def _is_pair(words: Sequence[str]) -> bool:
    return len(words) == 2 and not is_number(words[0]) and not words[0].endswith((":", "："))  # noqa: PLR2004


def _names_columns(cells: Mapping[int, str], width: int) -> bool:
    """Return whether a row reads like the names of columns: words, or years, in at least half of them."""
    values = list(cells.values())
    if len(values) < 2 or len(values) * 2 < width:  # noqa: PLR2004
        return False
    numbers = [value for value in values if is_number(value)]
    years = [value for value in numbers if _YEAR.match(value)]
    return len(numbers) == len(years) < len(values) and max(map(len, values)) <= _LONGEST_HEADER


def _joined(rows: Sequence[Mapping[int, str]], columns: Iterable[int]) -> list[str]:
    return [" ".join(dict.fromkeys(filter(None, (row.get(column) for row in rows)))) for column in columns]
