"""Running headers, footers and page numbers: what the margins repeat from page to page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kb.adapters.parsers.pdf.lines import Line
from kb.adapters.parsers.pdf.order import rows
from kb.adapters.parsers.pdf.pages import PageContent

_MARGIN = 0.115
_ROWS = 3
_GAP = 0.7
_DRIFT = 0.02
_OFTEN = 3
_COUNTED = 0.7
_MOST_LETTERS = 24
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]{1,7}\Z", re.IGNORECASE)


class _Seen(NamedTuple):
    content: PageContent
    row: list[Line]
    text: str
    height: float


def demote(pages: Sequence[PageContent]) -> None:
    """Take what the margins repeat out of the flow of the pages.

    A margin row is what stands in the outer tenth of a page, apart from its text. It is running when the same words
    stand at the same height on three pages (both, of two). The first of its kind is kept as an addition at the end of
    its page; the same again is left out, as are page numbers: numbers that rise with the pages. Where other numbers
    differ (dates, sums), the rows are text. A page never loses all it has.
    """
    groups: dict[tuple[bool, str], list[_Seen]] = {}
    for content in pages:
        for top, row in _margin_rows(content):
            text = " ".join(line.text for line in row)
            key = "#" if _ROMAN.match(text) else _NUMBER.sub("#", text.casefold())
            height = sum(line.middle for line in row) / len(row) / max(content.view.height, 1.0)
            groups.setdefault((top, key), []).append(_Seen(content, row, text, height))
    needed = min(_OFTEN, max(len(pages), 2))
    kept: set[str] = set()
    for (_, key), group in groups.items():
        steady = _at_one_height(group)
        if len({seen.content.number for seen in steady}) < needed:
            continue
        counts = "#" in key and len({seen.text for seen in steady}) > 1
        if counts and not _rises(steady):
            continue
        letters = sum(letter.isalpha() for letter in key)
        for seen in steady:
            number_only = counts and letters <= _MOST_LETTERS
            known = seen.text in kept
            kept.add(seen.text)
            _take_out(seen, leave_out=number_only or known)


def _margin_rows(content: PageContent) -> list[tuple[bool, list[Line]]]:
    lines = [line for line in content.lines if not line.plain]
    if len(lines) < 2:  # noqa: PLR2004
        return []
    found = rows(lines)
    height = content.view.height
    top = _outer(found, [row[0].middle < _MARGIN * height for row in found])
    found.reverse()
    bottom = _outer(found, [row[0].middle > (1 - _MARGIN) * height for row in found])
    return [(True, row) for row in top] + [(False, row) for row in bottom]


def _outer(found: list[list[Line]], inside: list[bool]) -> list[list[Line]]:
    """Return the outermost rows up to the last one that a gap parts from the next; none when nothing else is there."""
    taken = 0
    for number, row in enumerate(found[:_ROWS]):
        if not inside[number] or any(line.cells for line in row) or number + 1 >= len(found):
            break
        this, following = row[0], found[number + 1][0]
        gap = max(this.y0, following.y0) - min(this.y1, following.y1)
        if gap >= _GAP * (this.y1 - this.y0):
            taken = number + 1
    return found[:taken]


def _at_one_height(group: list[_Seen]) -> list[_Seen]:
    heights = sorted(seen.height for seen in group)
    middle = heights[len(heights) // 2]
    return [seen for seen in group if abs(seen.height - middle) <= _DRIFT]


def _rises(group: list[_Seen]) -> bool:
    """Return whether the numbers that differ count the pages."""
    rows_of_numbers = [[int(number[:9]) for number in _NUMBER.findall(seen.text)] for seen in group]
    if not all(rows_of_numbers):
        return all(_ROMAN.match(seen.text) for seen in group)
    count = min(len(numbers) for numbers in rows_of_numbers)
    for place in range(count):
        values = [numbers[place] for numbers in rows_of_numbers]
        if len(set(values)) == 1:
            continue
        steps = Counter(value - seen.content.number for value, seen in zip(values, group, strict=True))
        if steps.most_common(1)[0][1] < _COUNTED * len(group):
            return False
    return True


def _take_out(seen: _Seen, *, leave_out: bool) -> None:
    content = seen.content
    taken = {id(line) for line in seen.row}
    rest = [line for line in content.lines if id(line) not in taken]
    if not any(not line.plain for line in rest):
        return
    if not leave_out:
        for line in seen.row:
            line.plain = True
            line.group = None
        rest += seen.row
    content.lines = rest
