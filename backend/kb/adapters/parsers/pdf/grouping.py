"""Lines put together: paragraphs, headings, lists, program text, tables, additions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

from kb.adapters.parsers.pdf.extras import bare
from kb.adapters.parsers.pdf.letters import SPACELESS
from kb.adapters.parsers.pdf.lines import Line

GroupKind: TypeAlias = Literal["paragraph", "heading", "list", "code", "table", "plain"]

_LARGER = 1.15
_MOST_HEADING, _MOST_BOLD = 160, 90
_LEVELS = 6
_MOSTLY_BOLD = 0.4
_SIZES_DIFFER = 0.12
_LEADING, _FIRST_LEADING = 1.35, 2.1
_INDENT = 0.9
_FULL = 0.12
_SPREAD = 2.0
_LOOK_BACK = 6
_MOST_BREAKS = 2
_ENDED = re.compile(r"[.!?:;\u2026\u3002\uff01\uff1f\uff1a\uff1b][\"'\u2019\u201d)\]\u300d\u300f\u3011\uff09]*\Z")
_ITEM = re.compile(
    r"(?:[\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u25a0\u25a1\u27a2\u2713\u2013\u2014*\u00b7-]|\(?\d{1,3}[.)]|\(?[a-z]\))(?:\s|\Z)"
)
_ORDERED = re.compile(r"\(?\d")
_SPACELESS_END = re.compile(f"[{SPACELESS}]\\Z")
_STOPS = ".,;:"


@dataclass(slots=True)
class Group:
    """Lines of one block; `continues` says over how many page breaks its paragraph has come."""

    kind: GroupKind
    lines: list[Line] = field(default_factory=list)
    level: int = 0
    ordered: bool = False
    continues: int = 0


@dataclass(frozen=True, slots=True)
class Looks:
    """What headings look like in one document: the size of running text, and levels by size; bold ones come last."""

    body: float
    levels: Mapping[float, int]
    bold: bool


def looks_of(lines: Iterable[Line]) -> Looks:
    """Return the looks of a document from all its lines."""
    letters: Counter[float] = Counter()
    bold = 0
    headings: Counter[float] = Counter()
    for line in lines:
        if line.plain or line.cells or line.group is not None:
            continue
        size = _rounded(line.size)
        letters[size] += len(line.text)
        bold += len(line.text) if line.bold else 0
        if _may_head(line):
            headings[size] += 1
    body = letters.most_common(1)[0][0] if letters else 0.0
    larger = sorted((size for size in headings if size >= body * _LARGER), reverse=True)
    levels: dict[float, int] = {}
    level = 0
    last = 0.0
    for size in larger:
        level += size < last * 0.95 or not level
        levels[size] = min(level, _LEVELS)
        last = size if levels[size] == level and size < last * 0.95 else last or size
    return Looks(body, levels, bold <= _MOSTLY_BOLD * max(letters.total(), 1))


def grouped(lines: Sequence[Line], looks: Looks, titles: Sequence[tuple[str, int]]) -> list[Group]:
    """Return the groups of one page in order.

    Args:
        lines: in reading order, additions last.
        looks: of the document.
        titles: bookmarks that lead to the page: letters of the title and level.
    """
    groups: list[Group] = []
    for row in _rows(lines):
        first = row[0]
        current = groups[-1] if groups else None
        if first.cells:
            groups.append(Group("table", [first]))
        elif first.plain:
            if current is not None and current.kind == "plain" and first.glue is not None:
                current.lines += row
            else:
                groups.append(Group("plain", row))
        elif first.group is not None:
            level = _title_level(row, titles)
            same = current is not None and current.lines[-1].group == first.group and current.kind == "paragraph"
            if same and current is not None and not level:
                current.lines += row
            else:
                groups.append(Group("heading" if level else "paragraph", row, level))
        else:
            _place(groups, row, looks, titles)
    return _finished(groups)


def link(before: Sequence[Group], after: Sequence[Group]) -> None:
    """Mark the first group of a page when it goes on with the paragraph the page before ended with."""
    flow = [group for group in before if group.kind != "plain"]
    if not flow or not after or flow[-1].kind != "paragraph" or after[0].kind != "paragraph":
        return
    # Text without any full stop would make one block of a whole book.
    if flow[-1].continues < _MOST_BREAKS and goes_on(flow[-1].lines, after[0].lines[0]):
        after[0].continues = flow[-1].continues + 1


def goes_on(lines: Sequence[Line], following: Line) -> bool:
    """Return whether a sentence runs on from the end of a column or page to the next one."""
    last = lines[-1]
    if _ends(last.text) or _ITEM.match(following.text):
        return False
    if abs(last.size - following.size) > _SIZES_DIFFER * max(last.size, following.size) and following.group is None:
        return False
    if following.text[:1].islower() or last.text.endswith("-"):
        return True
    full = last.x1 >= last.right - _FULL * (last.right - last.left)
    if _SPACELESS_END.search(last.text):
        return full and bool(_SPACELESS_END.match(following.text[:1]))
    return full and len(lines) > 1 and (last.text[-1].isalnum() or last.text.endswith(","))


def _place(groups: list[Group], row: list[Line], looks: Looks, titles: Sequence[tuple[str, int]]) -> None:
    current = groups[-1] if groups else None
    if current is not None and (current.kind == "table" or current.lines[-1].group is not None):
        current = None
    level = _level(row, looks, titles)
    if level:
        if current is not None and current.kind == "heading" and _same_heading(current.lines[-1], row[0], titles):
            current.lines += row
        else:
            groups.append(Group("heading", row, level))
        return
    if all(line.mono for line in row):
        if current is not None and current.kind == "code":
            row[0].glue = "\n" + _indent(current.lines, row[0])
            current.lines += row
        else:
            groups.append(Group("code", row))
        return
    item = bool(_ITEM.match(" ".join(line.text for line in row[:2])))
    if current is None or current.kind in ("heading", "code") or item or _parts(current, row):
        groups.append(Group("list" if item else "paragraph", row))
        return
    if _spread(row) or _spread(_last_row(current.lines)):
        row[0].glue = "\n"
    current.lines += row


def _finished(groups: Iterable[Group]) -> list[Group]:
    """Join items to lists; a single line in fixed pitch, or a single item, is a paragraph."""
    result: list[Group] = []
    for group in groups:
        last = result[-1] if result else None
        if group.kind == "code" and len(group.lines) == 1:
            group.kind = "paragraph"
        if group.kind == "list":
            if last is not None and last.kind == "list" and last.lines[-1].right == group.lines[0].right:
                group.lines[0].glue = "\n"
                last.lines += group.lines
                continue
            group.ordered = bool(_ORDERED.match(group.lines[0].text))
        result.append(group)
    return result


def _parts(group: Group, row: list[Line]) -> bool:
    """Return whether a row begins a new paragraph."""
    line, lines = row[0], group.lines
    last = _last_row(lines)
    bottom = last[0]
    if line.y1 <= bottom.y0 or line.left >= bottom.right or line.right <= bottom.left:
        return not goes_on(lines, line)  # the next column
    if abs(line.size - bottom.size) > _SIZES_DIFFER * max(line.size, bottom.size):
        return True
    size = max(bottom.size, 1.0)
    lead = line.y1 - bottom.y1
    above = lines[-_LOOK_BACK:]
    earlier = [after.y1 - before.y1 for before, after in pairwise(above) if after.y1 - before.y1 > size / 2]
    if lead > (min(earlier) * _LEADING if earlier else size * _FIRST_LEADING):
        return True
    if _spread(row) or _spread(last):
        return False
    ended = _ends(last[-1].text)
    short = last[-1].x1 < line.right - 2 * _FULL * (line.right - line.left)
    indented = line.x0 > bottom.x0 + _INDENT * size and line.x0 > line.left + _INDENT * size
    return group.kind == "paragraph" and ((ended and short) or (indented and (ended or short)))


def _level(row: list[Line], looks: Looks, titles: Sequence[tuple[str, int]]) -> int:
    """Return the level of a heading, 0 of anything else."""
    level = _title_level(row, titles)
    if level:
        return level
    line = row[0]
    if len(row) > 2 or not _may_head(line):  # noqa: PLR2004 - number and words of a heading may stand apart
        return 0
    sized = looks.levels.get(_rounded(line.size))
    if sized:
        return sized
    text = " ".join(piece.text for piece in row)
    alone = line.x1 < line.right - _FULL * (line.right - line.left) or line.right - line.left < _SPREAD * line.size
    if (
        looks.bold
        and all(piece.bold for piece in row)
        and len(text) <= _MOST_BOLD
        and alone
        and line.size >= looks.body
    ):
        return min(max(looks.levels.values(), default=0) + 1, _LEVELS) if text[-1] not in _STOPS else 0
    return 0


def _title_level(row: Sequence[Line], titles: Sequence[tuple[str, int]]) -> int:
    if not titles:
        return 0
    text = bare(" ".join(line.text for line in row))
    for title, level in titles:
        # Numbers of chapters are printed and not always in the bookmark.
        if title and (text == title or (len(title) > 4 and text.endswith(title) and len(text) - len(title) <= 6)):  # noqa: PLR2004
            return min(level, _LEVELS)
    return 0


def _same_heading(last: Line, line: Line, titles: Sequence[tuple[str, int]]) -> bool:
    close = -line.size < line.y0 - last.y1 < 0.8 * line.size
    return close and _rounded(last.size) == _rounded(line.size) and not _title_level([last], titles)


def _may_head(line: Line) -> bool:
    text = line.text
    return (
        1 < len(text) <= _MOST_HEADING
        and not line.mono
        and any(letter.isalpha() for letter in text)
        and text[-1] not in _STOPS
        and not _ITEM.match(text[:1] + " ")
    )


def _rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield runs of pieces that stand in one row of one column; tables and additions by themselves."""
    row: list[Line] = []
    for line in lines:
        last = row[-1] if row else None
        beside = (
            last is not None
            and not (line.cells or last.cells)
            and line.plain == last.plain
            and line.group == last.group
            and line.right == last.right
            and last.y0 <= line.middle <= last.y1
            and abs(line.x0 - last.x0) > 0
            and not (line.plain and line.group is not None)
        )
        if row and not beside:
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _last_row(lines: Sequence[Line]) -> list[Line]:
    row = [lines[-1]]
    for line in reversed(lines[:-1]):
        if not line.y0 <= row[0].middle <= line.y1:
            break
        row.insert(0, line)
    return row


def _spread(row: Sequence[Line]) -> bool:
    """Return whether the pieces of a row stand far apart: a label and its value."""
    return any(after.x0 - before.x1 > _SPREAD * max(after.size, 1.0) for before, after in pairwise(row))


def _ends(text: str) -> bool:
    return _ENDED.search(text[-4:]) is not None


def _indent(lines: Sequence[Line], line: Line) -> str:
    width = (line.x1 - line.x0) / max(len(line.text), 1)
    return " " * max(round((line.x0 - min(other.x0 for other in lines)) / max(width, 1.0)), 0)


def _rounded(size: float) -> float:
    return round(size * 2) / 2
