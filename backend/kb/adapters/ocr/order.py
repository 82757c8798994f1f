"""Reading order of recognised lines: columns, lines, paragraphs. The engines give boxes in none.

The page is cut at gutters (white strips that several lines on both sides respect) into columns and bands between lines
that run across them; the idea is the recursive XY-cut of Nagy and Seth (1984), with lines across a gutter allowed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

_COLUMN_LINES = 3  # as many lines side by side make columns
_COLUMN_WIDTH = 6.0  # in heights of a line: narrower ones are cells of a table, read row by row
_GUTTER = 0.6
_APART = 0.45
_INDENT = 0.9
_SHORT = 0.3
_TALLER = 1.4


class Box(NamedTuple):
    """A piece of a line on the upright, straightened page; `goes_on` when its text ends in the middle of a sentence."""

    number: int
    x0: float
    y0: float
    x1: float
    y1: float
    goes_on: bool = False


class _Row(NamedTuple):
    boxes: tuple[Box, ...]
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def height(self) -> float:
        return max(box.y1 - box.y0 for box in self.boxes)


_Paragraph = list[_Row]


def reading_order(boxes: Sequence[Box]) -> list[list[list[int]]]:
    """Return the numbers of the boxes as lines of paragraphs, in reading order.

    A paragraph that runs from the foot of a column to the head of the next is one.
    """
    if not boxes:
        return []
    em = median(box.y1 - box.y0 for box in boxes)
    return [[[box.number for box in row.boxes] for row in paragraph] for paragraph in _region(boxes, em)]


def _region(boxes: Sequence[Box], em: float) -> list[_Paragraph]:
    gutter = _gutter(boxes, em)
    if gutter is None:
        return _paragraphs(_rows(boxes), em)
    result: list[_Paragraph] = []
    for across, left, right in _bands(boxes, gutter):
        if across:
            result += _region(across, em)
        elif _are_columns(left, right, em):
            first, second = _region(left, em), _region(right, em)
            if _runs_on(first, second, em):
                first[-1] += second.pop(0)
            result += first + second
        else:
            result += _paragraphs(_rows([*left, *right]), em)
    return result


def _gutter(boxes: Sequence[Box], em: float) -> float | None:
    """Return the x of the strip that parts the most lines, None when there is none."""
    step = max(em / 2, 1.0)
    # of ends close together the last one, or a line a little longer than its neighbours would cross
    ends = {round(end / step): end for end in sorted(box.x1 for box in boxes)}
    best, most = None, 0
    for end in sorted(ends.values()):
        x = end + _GUTTER * em / 2
        parted = 0
        for across, left, right in _bands(boxes, x):
            if not across and _are_columns(left, right, em):
                parted += min(len(left), len(right))
        if parted > most:
            best, most = x, parted
    return best


def _bands(boxes: Iterable[Box], x: float) -> list[tuple[list[Box], list[Box], list[Box]]]:
    """Cut downwards into runs of boxes across `x` (first list), and runs beside it (left, right)."""
    bands: list[tuple[list[Box], list[Box], list[Box]]] = []
    for box in sorted(boxes, key=lambda box: box.y0 + box.y1):
        crosses = box.x0 < x < box.x1
        if not bands or bool(bands[-1][0]) != crosses:
            bands.append(([], [], []))
        bands[-1][0 if crosses else 1 if box.x1 <= x else 2].append(box)
    return bands


def _are_columns(left: Sequence[Box], right: Sequence[Box], em: float) -> bool:
    if min(len(left), len(right)) < _COLUMN_LINES:
        return False
    if min(box.x0 for box in right) - max(box.x1 for box in left) < _GUTTER * em:
        return False
    if min(median(box.x1 - box.x0 for box in side) for side in (left, right)) < _COLUMN_WIDTH * em:
        return False
    top = max(min(box.y0 for box in side) for side in (left, right))
    bottom = min(max(box.y1 for box in side) for side in (left, right))
    beside = (sum(top <= (box.y0 + box.y1) / 2 <= bottom for box in side) for side in (left, right))
    return min(beside) >= _COLUMN_LINES


def _rows(boxes: Iterable[Box]) -> list[_Row]:
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: box.y0 + box.y1):
        for row in rows[-3:]:
            beside = row[-1]
            overlap = min(box.y1, beside.y1) - max(box.y0, beside.y0)
            apart = all(box.x0 >= other.x1 or other.x0 >= box.x1 or overlap <= 0 for other in row)
            if overlap > min(box.y1 - box.y0, beside.y1 - beside.y0) / 2 and (apart or _mostly_apart(box, row)):
                row.append(box)
                break
        else:
            rows.append([box])
    return [_row(row) for row in rows]


def _mostly_apart(box: Box, row: Sequence[Box]) -> bool:
    # Boxes are drawn a little too wide, so that neighbours touch.
    shared = max(min(box.x1, other.x1) - max(box.x0, other.x0) for other in row)
    return shared < min(box.x1 - box.x0, *(other.x1 - other.x0 for other in row)) / 2


def _row(boxes: Sequence[Box]) -> _Row:
    ordered = tuple(sorted(boxes, key=lambda box: box.x0))
    return _Row(
        ordered,
        ordered[0].x0,
        min(box.y0 for box in ordered),
        max(box.x1 for box in ordered),
        max(box.y1 for box in ordered),
    )


def _paragraphs(rows: Sequence[_Row], em: float) -> list[_Paragraph]:
    if not rows:
        return []
    gaps = [max(below.y0 - above.y1, 0.0) for above, below in itertools.pairwise(rows)]
    usual = sorted(gaps)[len(gaps) // 3] if gaps else 0.0
    left = sorted(row.x0 for row in rows)[len(rows) // 5]
    right = sorted(row.x1 for row in rows)[-1 - len(rows) // 5]
    paragraphs: list[_Paragraph] = [[rows[0]]]
    for above, row, gap in zip(rows, rows[1:], gaps, strict=False):
        tall, low = max(above.height, row.height), min(above.height, row.height)
        is_indented = row.x0 - left > _INDENT * em > above.x0 - left
        is_short = len(rows) > _COLUMN_LINES and above.x1 < right - _SHORT * (right - left)
        if gap > usual + _APART * em or tall > _TALLER * low or is_indented or is_short:
            paragraphs.append([])
        paragraphs[-1].append(row)
    return paragraphs


def _runs_on(first: Sequence[_Paragraph], second: Sequence[_Paragraph], em: float) -> bool:
    if not first or not second:
        return False
    last, following = first[-1][-1], second[0][0]
    width = max(row.x1 for paragraph in first for row in paragraph) - last.x0
    margin = min(row.x0 for paragraph in second for row in paragraph)
    is_full = last.x1 - last.x0 > (1 - _SHORT) * width
    alike = max(last.height, following.height) < _TALLER * min(last.height, following.height)
    return last.boxes[-1].goes_on and is_full and alike and following.x0 - margin < _INDENT * em
