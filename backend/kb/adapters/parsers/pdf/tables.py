"""Tables: cells between ruling lines, and rows of pieces that stand in the same columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kb.adapters.parsers.pdf.lines import Line, View, parted
from kb.adapters.parsers.pdf.order import rows
from kb.domain.pages import SCALE

_THIN = 3.0
_SHORT = 8.0
_SNAP = 3.0
_MOST_RULES = 1_500
_MOST_CELLS = 20_000
_FEWEST_ROWS = 3
_FEWEST_COLUMNS = 3
_FILLED = 0.3
_FULL = 0.35
_LONGEST_CELL = 0.6
_ROW_GAP = 2.5


class Rule(NamedTuple):
    """A straight line: at `at` across the other axis, from `low` to `high` along its own, in points."""

    at: float
    low: float
    high: float


class Rules(NamedTuple):
    """The ruling lines of a page."""

    across: list[Rule]
    down: list[Rule]


def rules_of(boxes: Iterable[tuple[float, float, float, float]]) -> Rules | None:
    """Return the ruling lines among the boxes of what is drawn; None when they can make no table.

    A box that is wide and high gives its four sides: cells are often drawn so.
    """
    across: list[Rule] = []
    down: list[Rule] = []
    for x0, y0, x1, y1 in boxes:
        width, height = x1 - x0, y1 - y0
        if height <= _THIN:
            if width >= _SHORT:
                across.append(Rule((y0 + y1) / 2, x0, x1))
        elif width <= _THIN:
            if height >= _SHORT:
                down.append(Rule((x0 + x1) / 2, y0, y1))
        elif width >= _SHORT and height >= _SHORT:
            across += (Rule(y0, x0, x1), Rule(y1, x0, x1))
            down += (Rule(x0, y0, y1), Rule(x1, y0, y1))
        if len(across) + len(down) > _MOST_RULES:
            return None
    if len(across) < _FEWEST_ROWS or len(down) < _FEWEST_ROWS:
        return None
    return Rules(across, down)


def ruled_tables(lines: list[Line], rules: Rules, view: View) -> list[Line]:
    """Return the lines with every table between ruling lines put together as one."""
    for grid in _grids(rules):
        table, rest = _filled(lines, grid, view)
        if table is not None:
            lines = [*rest, table]
    return lines


def aligned_tables(lines: Sequence[Line]) -> list[Line]:
    """Return lines in order, with runs of rows that have three and more columns put together as tables."""
    result: list[Line] = []
    run: list[list[Line]] = []

    def close() -> None:
        table = _table_of(run)
        result.extend([table] if table is not None else [line for row in run for line in row])
        run.clear()

    for row in _consecutive_rows(lines):
        if len(row) < _FEWEST_COLUMNS or any(line.cells or line.group is not None for line in row):
            close()
            result.extend(row)
            continue
        if run and row[0].y0 - run[-1][0].y1 > _ROW_GAP * (row[0].y1 - row[0].y0):
            close()
        run.append(row)
    close()
    return result


@dataclass(slots=True)
class _Grid:
    xs: list[float]
    ys: list[float]
    rules: Rules

    def owners(self) -> list[list[tuple[int, int]]]:
        """Return for every field of the grid the one it belongs to: a cell without a line between is one."""
        owner = [[(row, column) for column in range(len(self.xs) - 1)] for row in range(len(self.ys) - 1)]
        for row in range(len(self.ys) - 1):
            middle = (self.ys[row] + self.ys[row + 1]) / 2
            lines = [rule for rule in self.rules.down if rule.low - _SNAP <= middle <= rule.high + _SNAP]
            for column in range(1, len(self.xs) - 1):
                if not any(abs(rule.at - self.xs[column]) <= _SNAP for rule in lines):
                    owner[row][column] = owner[row][column - 1]
        for column in range(len(self.xs) - 1):
            middle = (self.xs[column] + self.xs[column + 1]) / 2
            lines = [rule for rule in self.rules.across if rule.low - _SNAP <= middle <= rule.high + _SNAP]
            for row in range(1, len(self.ys) - 1):
                if owner[row][column] == (row, column) and not any(
                    abs(rule.at - self.ys[row]) <= _SNAP for rule in lines
                ):
                    owner[row][column] = owner[row - 1][column]
        return owner


def _grids(rules: Rules) -> list[_Grid]:
    """Return the grids made of lines that meet."""
    count = len(rules.across)
    parent = list(range(count + len(rules.down)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    ordered = sorted(range(len(rules.down)), key=lambda index: rules.down[index].at)
    places = [rules.down[index].at for index in ordered]
    for number, rule in enumerate(rules.across):
        for position in range(bisect_left(places, rule.low - _SNAP), len(places)):
            if places[position] > rule.high + _SNAP:
                break
            other = rules.down[ordered[position]]
            if other.low - _SNAP <= rule.at <= other.high + _SNAP:
                parent[root(count + ordered[position])] = root(number)
    parts: dict[int, Rules] = {}
    for number, rule in enumerate(rules.across):
        parts.setdefault(root(number), Rules([], [])).across.append(rule)
    for number, rule in enumerate(rules.down):
        parts.setdefault(root(count + number), Rules([], [])).down.append(rule)
    grids = [_Grid(_snapped(part.down), _snapped(part.across), part) for part in parts.values()]
    return [
        grid
        for grid in grids
        if len(grid.xs) >= _FEWEST_COLUMNS
        and len(grid.ys) >= _FEWEST_ROWS
        and (len(grid.xs) - 1) * (len(grid.ys) - 1) <= _MOST_CELLS
    ]


def _snapped(rules: Iterable[Rule]) -> list[float]:
    places: list[float] = []
    for place in sorted(rule.at for rule in rules):
        if not places or place - places[-1] > _SNAP:
            places.append(place)
    return places


def _filled(lines: list[Line], grid: _Grid, view: View) -> tuple[Line | None, list[Line]]:
    """Return the table and the lines outside it; None when the grid holds no table."""
    x0, x1, y0, y1 = grid.xs[0], grid.xs[-1], grid.ys[0], grid.ys[-1]
    owner = grid.owners()
    columns = len(grid.xs) - 1
    found: dict[tuple[int, int], list[Line]] = {}
    rest: list[Line] = []
    field_of = _field_finder(grid, view)
    for line in lines:
        if line.cells or line.x1 < x0 or line.x0 > x1 or line.y1 < y0 or line.y0 > y1:
            rest.append(line)
            continue
        for key, part in parted(line, field_of).items():
            if key < 0:
                rest.append(part)
            else:
                found.setdefault(owner[key // columns][key % columns], []).append(part)
    if not _is_table(found, owner):
        return None, lines
    cells = [
        [
            _in_order(found.get((row, column), [])) if owner[row][column] == (row, column) else []
            for column in range(columns)
        ]
        for row in range(len(grid.ys) - 1)
    ]
    cells = _without_empty(cells)
    if len(found) < _FULL * len(cells) * len(cells[0]):
        return None, lines
    return _as_line(cells, (x0, y0, x1, y1)), rest


def _field_finder(grid: _Grid, view: View) -> Callable[[float, float], int]:
    xs = [x * SCALE / max(view.width, 1.0) for x in grid.xs]
    ys = [y * SCALE / max(view.height, 1.0) for y in grid.ys]

    def field_of(x: float, y: float) -> int:
        if not (xs[0] <= x < xs[-1] and ys[0] <= y < ys[-1]):
            return -1
        return (bisect_right(ys, y) - 1) * (len(xs) - 1) + bisect_right(xs, x) - 1

    return field_of


def _is_table(found: dict[tuple[int, int], list[Line]], owner: list[list[tuple[int, int]]]) -> bool:
    fields = {field for row in owner for field in row}
    if len({row for row, _ in found}) < 2 or len({column for _, column in found}) < 2:  # noqa: PLR2004
        return False
    if len(found) < max(4, _FILLED * len(fields)):
        return False
    # A frame around the page is no cell: text that fills one field stays running text.
    lengths = [sum(len(line.text) for line in lines) for lines in found.values()]
    return max(lengths) <= max(_LONGEST_CELL * sum(lengths), 200)


def _without_empty(cells: list[list[list[Line]]]) -> list[list[list[Line]]]:
    used = [any(row[column] for row in cells) for column in range(len(cells[0]))]
    return [[cell for cell, keep in zip(row, used, strict=True) if keep] for row in cells if any(row)]


def _in_order(lines: list[Line]) -> list[Line]:
    return [line for row in rows(lines) for line in row]


def _as_line(cells: list[list[list[Line]]], box: tuple[float, float, float, float]) -> Line:
    lines = [line for row in cells for cell in row for line in cell]
    return Line("", *box, array("i"), size=lines[0].size, cells=cells)


def _consecutive_rows(lines: Sequence[Line]) -> list[list[Line]]:
    found: list[list[Line]] = []
    for line in lines:
        last = found[-1][-1] if found else None
        if last is not None and line.x0 > last.x0 and last.y0 <= line.middle <= last.y1:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _table_of(run: list[list[Line]]) -> Line | None:
    if len(run) < _FEWEST_ROWS:
        return None
    spans = sorted((line.x0, line.x1) for row in run for line in row)
    columns: list[list[float]] = []
    for low, high in spans:
        if columns and low <= columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], high)
        else:
            columns.append([low, high])
    if len(columns) < _FEWEST_COLUMNS:
        return None
    cells = [[[line for line in row if low <= line.x0 <= high] for low, high in columns] for row in run]
    lines = [line for row in run for line in row]
    box = (columns[0][0], min(line.y0 for line in lines), columns[-1][1], max(line.y1 for line in lines))
    return _as_line(cells, box)
