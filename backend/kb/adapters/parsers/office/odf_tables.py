"""Tables of OpenDocument: rows and cells that stand for many are written out, as far as they hold words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kb.adapters.parsers.office.elements import attribute
from kb.adapters.parsers.office.grid import Row
from kb.adapters.parsers.office.odf_package import annotation, lines_of, repeated
from kb.adapters.parsers.office.places import Count
from kb.adapters.parsers.shared.xml import Element, local

_GROUPS = frozenset(
    (
        "table-row-group",
        "table-header-rows",
        "table-rows",
        "table-header-columns",
        "table-columns",
        "table-column-group",
    )
)
_MOST_COLUMNS = 16_384


class OdfTable:
    """The cells of one table; `merged` and `notes` are known once `rows` has come to its end."""

    def __init__(self, table: Element, count: Count) -> None:
        self._table = table
        self._count = count
        self.merged: list[tuple[int, int, int, int]] = []
        self.notes: list[tuple[int, int, str]] = []

    def rows(self) -> Iterator[Row]:
        """Yield rows with words; a row that is said to repeat is repeated only when it has some."""
        number = 1
        for element in _rows(self._table):
            times = repeated(element, "number-rows-repeated")
            cells = self._cells(element, number)
            if cells:
                # Told before they are made: a few bytes may claim a million rows.
                self._count.add((times - 1) * len(cells), 0)
                yield from ((number + more, dict(cells)) for more in range(times))
            number += times

    def grid(self) -> list[list[str]]:
        """Return all rows with words, as wide as the widest; merged cells repeat downwards."""
        rows = list(self.rows())
        by_number = dict(rows)
        for top, left, bottom, _ in self.merged:
            for number in islice(range(top, bottom + 1), _MOST_COLUMNS):
                if number in by_number and left in by_number.get(top, {}):
                    by_number[number].setdefault(left, by_number[top][left])
        width = max((max(cells) for _, cells in rows), default=0)
        self._count.add(width * len(rows), 0)
        return [[cells.get(column, "") for column in range(1, width + 1)] for _, cells in rows]

    def _cells(self, row: Element, number: int) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = 1
        for cell in row:
            if local(cell) not in {"table-cell", "covered-table-cell"}:
                continue
            times = repeated(cell, "number-columns-repeated")
            text = _text(cell)
            if text and column <= _MOST_COLUMNS:
                cells |= dict.fromkeys(range(column, min(column + times, _MOST_COLUMNS + 1)), text)
                down, across = repeated(cell, "number-rows-spanned"), repeated(cell, "number-columns-spanned")
                if down > 1 or across > 1:
                    self.merged.append((number, column, number + down - 1, column + across - 1))
            self.notes += [
                (number, column, said) for note in cell if local(note) == "annotation" and (said := annotation(note))
            ]
            column += times
        return cells


def _rows(table: Element) -> Iterator[Element]:
    for node in table:
        if local(node) == "table-row":
            yield node
        elif local(node) in _GROUPS:
            yield from _rows(node)


def _text(cell: Element) -> str:
    """Return what a cell shows; dates and times in ISO form, whatever the country of the sheet."""
    kind = attribute(cell, "value-type")
    date = attribute(cell, "date-value") if kind == "date" else None
    if date:
        return date.removesuffix("T00:00:00").replace("T", " ")
    lines = lines_of(cell)
    if lines:
        return "\n".join(lines)
    return attribute(cell, "value") or attribute(cell, "string-value") or ""
