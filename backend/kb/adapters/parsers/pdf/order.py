"""Reading order: columns are found by their gutters, what spans them divides them into bands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import median
from typing import NamedTuple

from kb.adapters.parsers.pdf.letters import runs_left
from kb.adapters.parsers.pdf.lines import Line

_BINS = 160
_CANDIDATES = 8
_DEEPEST = 12
_FEWEST = 3
_GUTTER = 0.7
_SAME_ROW = 0.5
_ALIGNED = 0.7
_RAGGED = 0.6
_NARROW = 4


def arrange(lines: Sequence[Line]) -> list[Line]:
    """Return lines in reading order, with the edges of their columns set.

    A gutter is a strip no line of two columns crosses, with at least three lines beside each other on both sides;
    lines that do cross it (titles, wide figures) divide the page into bands, each read column by column. Columns of
    short pieces that stand in the same rows (forms, figures, prices) are read row by row. Lines that run from top to
    bottom (vertical writing, sideways tables) keep the order of the file.
    """
    level = [line for line in lines if _is_level(line)]
    standing = _edged([line for line in lines if not _is_level(line)])
    if len(level) < len(standing):
        return _edged(list(lines))
    mirrored = runs_left("".join(line.text for line in level[:200]))
    # What stands upright beside the text (stamps, labels of axes) would cut its paragraphs in two.
    return _arranged(level, mirrored=mirrored, depth=0) + standing


def rows(lines: Iterable[Line], *, mirrored: bool = False) -> list[list[Line]]:
    """Group lines that stand at the same height, top to bottom; left to right within a row."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.middle, line.x0)):
        if found and _same_row(found[-1][0], line):
            found[-1].append(line)
        else:
            found.append([line])
    for row in found:
        row.sort(key=lambda line: line.x0, reverse=mirrored)
    return found


class _Cut(NamedTuple):
    left: list[Line]
    right: list[Line]
    pairs: int
    width: float


def _arranged(lines: list[Line], *, mirrored: bool, depth: int) -> list[Line]:
    cut = _best_cut(lines) if len(lines) >= 2 * _FEWEST and depth < _DEEPEST else None
    if cut is None:
        return _edged(list(chain.from_iterable(rows(lines, mirrored=mirrored))))
    ordered: list[Line] = []
    sides = {id(line): 0 for line in cut.left} | {id(line): 1 for line in cut.right}
    band: tuple[list[Line], list[Line]] = ([], [])
    across: list[Line] = []

    def close_band() -> None:
        for side in reversed(band) if mirrored else band:
            if side:
                ordered.extend(_arranged(list(side), mirrored=mirrored, depth=depth + 1))
                side.clear()

    def close_across() -> None:
        if across:
            ordered.extend(_arranged(list(across), mirrored=mirrored, depth=depth + 1))
            across.clear()

    for line in sorted(lines, key=lambda line: line.middle):
        side = sides.get(id(line))
        if side is None:
            close_band()
            across.append(line)
        else:
            close_across()
            band[side].append(line)
    close_band()
    close_across()
    return ordered


def _best_cut(lines: list[Line]) -> _Cut | None:
    best: _Cut | None = None
    for x in _valleys(lines):
        cut = _cut_at(lines, x)
        if cut is not None and (best is None or (cut.pairs, cut.width) > (best.pairs, best.width)):
            best = cut
    return best


def _valleys(lines: list[Line]) -> list[float]:
    """Return the middles of the strips that fewest lines cross, the emptiest and widest first."""
    low = min(line.x0 for line in lines)
    step = (max(line.x1 for line in lines) - low) / _BINS
    if step <= 0:
        return []
    change = [0] * (_BINS + 2)
    for line in lines:
        change[int((line.x0 - low) / step)] += 1
        # A line ends before the bin its right edge lies in, so that a narrow gutter keeps a bin of its own.
        change[max(int((line.x1 - low) / step), int((line.x0 - low) / step) + 1)] -= 1
    level = 0
    runs: list[tuple[int, int, int]] = []  # crossing lines, first bin, bins
    for number in range(_BINS):
        level += change[number]
        if runs and runs[-1][0] == level:
            runs[-1] = (level, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((level, number, 1))
    found = [
        (height, -width, low + step * (start + width / 2))
        for position, (height, start, width) in enumerate(runs)
        if 0 < position < len(runs) - 1 and runs[position - 1][0] > height < runs[position + 1][0]
    ]
    return [x for _, _, x in sorted(found)[:_CANDIDATES]]


def _cut_at(lines: list[Line], x: float) -> _Cut | None:
    slack = 1.0
    left = [line for line in lines if line.x1 <= x + slack]
    right = [line for line in lines if line.x0 >= x - slack and line.x1 > x + slack]
    if len(left) < _FEWEST or len(right) < _FEWEST:
        return None
    beside_left, beside_right = _beside(left, right), _beside(right, left)
    pairs = min(len(beside_left), len(beside_right))
    if pairs < _FEWEST:
        return None
    width = min(line.x0 for line in beside_right) - max(line.x1 for line in beside_left)
    if width < _GUTTER * median(line.size or line.y1 - line.y0 for line in beside_left) or _tabular(
        beside_left, beside_right
    ):
        return None
    return _Cut(left, right, pairs, width)


def _beside(lines: list[Line], others: list[Line]) -> list[Line]:
    """Return those lines that have one of `others` beside them."""
    spans = sorted((other.y0, other.y1) for other in others)
    found: list[Line] = []
    first = 0
    for line in sorted(lines, key=lambda line: line.middle):
        while first < len(spans) and spans[first][1] < line.middle:
            first += 1
        if first < len(spans) and spans[first][0] <= line.middle:
            found.append(line)
    return found


def _tabular(left: list[Line], right: list[Line]) -> bool:
    """Return whether two sides are rows of short pieces rather than columns of running text."""
    fewer, more = (left, right) if len(left) <= len(right) else (right, left)
    heights = sorted(line.y1 for line in more)
    aligned = 0
    position = 0
    for line in sorted(fewer, key=lambda line: line.y1):
        slack = 0.25 * (line.y1 - line.y0)
        while position < len(heights) and heights[position] < line.y1 - slack:
            position += 1
        aligned += position < len(heights) and heights[position] <= line.y1 + slack
    return aligned >= _ALIGNED * len(fewer) and min(_fill(left), _fill(right)) < _RAGGED


def _fill(lines: list[Line]) -> float:
    """Return how much of the width of a side its rows fill; it may hold several columns."""
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    # A column of labels no wider than a few letters is no column of text, however full.
    if width < _NARROW * median(line.y1 - line.y0 for line in lines):
        return 0.0
    filled: list[float] = []
    bottom = float("-inf")
    for line in sorted(lines, key=lambda line: line.middle):
        if line.middle > bottom:
            filled.append(0.0)
            bottom = line.y1
        filled[-1] += line.x1 - line.x0
    return median(filled) / width


def _edged(lines: list[Line]) -> list[Line]:
    left = min((line.x0 for line in lines), default=0.0)
    right = max((line.x1 for line in lines), default=0.0)
    for line in lines:
        line.left, line.right = left, right
    return lines


def _same_row(first: Line, other: Line) -> bool:
    overlap = min(first.y1, other.y1) - max(first.y0, other.y0)
    return overlap > _SAME_ROW * min(first.y1 - first.y0, other.y1 - other.y0) and _overlap_in_middle(first, other)


def _overlap_in_middle(first: Line, other: Line) -> bool:
    return first.y0 <= other.middle <= first.y1 or other.y0 <= first.middle <= other.y1


def _is_level(line: Line) -> bool:
    return line.x1 - line.x0 >= line.y1 - line.y0 or len(line.text) <= 2  # noqa: PLR2004
