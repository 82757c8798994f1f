"""Tables of HTML as plain grids: spans filled in, header rows told from the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest

_MAX_COLSPAN = 1000  # the HTML standard's own limits
_MAX_ROWSPAN = 65534
_LONG_CELL = 400
_LONG_ROW = 300


@dataclass(slots=True)
class Cell:
    """A cell while it is read: its blocks of text, in order."""

    header: bool
    colspan: int = 1
    rowspan: int = 1
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the cell's words on one line."""
        return " ".join(" ".join(part.split()) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Grid:
    """A rectangular table; `named` when rows read better as `header: value`."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    named: bool


class TableInWork:
    """Collects rows and cells of one `table` element.

    `layout` means that the table only arranges a page and its cells are ordinary text; `has_headers` that it has a
    header cell.
    """

    def __init__(self, *, layout: bool, inline: bool) -> None:
        self.layout = layout
        self.inline = inline
        self.cell: Cell | None = None
        self.caption = ""
        self.has_headers = False
        self.size = 0
        self._rows: list[tuple[bool, list[Cell]]] = []
        self._in_head = False

    def head(self, *, opened: bool) -> None:
        """Enter or leave `thead`."""
        self._in_head = opened

    def row(self) -> None:
        """Begin a row."""
        self.cell = None
        self.has_headers = self.has_headers or self._in_head
        self._rows.append((self._in_head, []))

    def begin(self, *, header: bool, colspan: str, rowspan: str) -> None:
        """Begin a cell, in a row of its own if none is open."""
        if not self._rows:
            self.row()
        self.has_headers = self.has_headers or header
        self.cell = Cell(header, _count(colspan, _MAX_COLSPAN), _count(rowspan, _MAX_ROWSPAN))
        self._rows[-1][1].append(self.cell)

    def take(self, text: str) -> None:
        """Add a block of text to the open cell, to one of its own if none is open."""
        if self.cell is None:
            self.begin(header=False, colspan="", rowspan="")
        if self.cell is not None:
            self.cell.parts.append(text)

    def parts(self) -> list[str]:
        """Take out the text gathered so far, block by block."""
        found = [part for _, row in self._rows for cell in row for part in cell.parts]
        self._rows.clear()
        self.cell = None
        return found

    def words(self) -> str:
        """Return a table within a cell on one line."""
        rows = (", ".join(filter(None, (cell.text for cell in row))) for _, row in self._rows)
        return "; ".join(filter(None, rows))

    def grid(self, cells: int) -> Grid | list[str] | None:
        """Return the table; blocks of text when it is none; None when it has more than `cells` cells."""
        rows = [(head or _all_headers(row), row) for head, row in self._rows if row]
        filled = _filled(rows, cells)
        if filled is None:
            return None
        self.size = sum(len(row) for _, row in filled)
        header_rows = 0
        while header_rows < len(filled) and filled[header_rows][0]:
            header_rows += 1
        if header_rows == len(filled):
            header_rows = min(header_rows, 1)
        plain = not any(cell.header for _, row in rows for cell in row)
        if plain and not header_rows and _only_arranges([row for _, row in rows]):
            return self.parts()
        body = [row for _, row in filled[header_rows:]]
        headers = _joined([row for _, row in filled[:header_rows]])
        if not header_rows and _pairs([row for _, row in rows]):
            return [": ".join(filter(None, row)) for row in body]
        if not header_rows and body:
            headers, body = tuple(body[0]), body[1:]
        longest = sum(len(value) for row in body for value in row) / max(len(body), 1)
        return Grid(headers, tuple(map(tuple, body)), named=bool(header_rows) and longest > _LONG_ROW)


def _all_headers(row: list[Cell]) -> bool:
    return len(row) > 1 and all(cell.header for cell in row)


def _filled(rows: list[tuple[bool, list[Cell]]], cells: int) -> list[tuple[bool, list[str]]] | None:
    """Return the rows with spans filled in.

    A value that spans rows stands in each of them; one that spans columns stands in the first of them, in a header row
    in all, so that every column has its name.
    """
    below: dict[int, tuple[int, str]] = {}
    filled: list[tuple[bool, list[str]]] = []
    count = 0
    for head, row in rows:
        line: list[str] = []
        for cell in row:
            _from_above(line, below)
            text = cell.text
            for column in range(cell.colspan):
                value = text if column == 0 or head else ""
                if cell.rowspan > 1:
                    below[len(line)] = (cell.rowspan - 1, value)
                line.append(value)
            if count + len(line) > cells:
                return None
        _from_above(line, below)
        count += len(line)
        while line and not line[-1]:
            line.pop()
        if line:
            filled.append((head, line))
    return None if count > cells else filled


def _from_above(line: list[str], below: dict[int, tuple[int, str]]) -> None:
    while (column := len(line)) in below:
        left, value = below.pop(column)
        if left > 1:
            below[column] = (left - 1, value)
        line.append(value)


def _joined(rows: list[list[str]]) -> tuple[str, ...]:
    """Return one name a column out of several header rows."""
    return tuple(" / ".join(dict.fromkeys(filter(None, column))) for column in zip_longest(*rows, fillvalue=""))


def _only_arranges(rows: list[list[Cell]]) -> bool:
    if len(rows) <= 1 or max(map(len, rows)) <= 1:
        return True
    texts = [len(cell.text) for row in rows for cell in row]
    return sum(texts) / len(texts) > _LONG_CELL


def _pairs(rows: list[list[Cell]]) -> bool:
    """Return whether it is a list of names and values: a header cell first in each row, one value after it."""
    pairs = sum(len(row) == 2 and row[0].header and not row[1].header for row in rows)  # noqa: PLR2004 - a pair
    return pairs > 0 and all(len(row) <= 2 for row in rows)  # noqa: PLR2004


def _count(value: str, most: int) -> int:
    digits = value.strip()[:8]
    return min(max(int(digits), 1), most) if digits.isascii() and digits.isdigit() else 1
