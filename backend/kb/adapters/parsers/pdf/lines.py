"""Printed lines of a page: text, place and look, with a box for each word."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import le
from typing import Any, NamedTuple, TypeAlias

from kb.adapters.parsers.pdf.letters import cleaned, has_spaceless, is_clean, lost, stand_close
from kb.domain.pages import SCALE

RawWord: TypeAlias = Sequence[Any]
"""(x0, y0, x1, y1, text, block, line, ...) in points of the unturned page, as PyMuPDF gives words."""
WORD_FIELDS = 6
_WIDE_GAP = 0.6


@dataclass(slots=True)
class Line:
    """A line, or the piece of one between two gaps; coordinates in points of the page as displayed, origin top left.

    Attributes:
        text: the words with their spaces.
        words: flat numbers, six a word: start and end in `text`, then the box in units of 1/SCALE of the page.
        size: of the letters, in points.
        left: left edge of the column it stands in.
        right: right edge.
        group: lines of one group are a paragraph whatever they look like; None where looks decide.
        glue: what stands between this line and the one before it in its group; None to find out.
        plain: whether it is an addition (link target, form value, note) that stands apart from the page's flow.
        cells: of a table that stands here, row by row; each has lines of its own.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    words: array[int]
    key: tuple[int, int] = (0, 0)
    size: float = 0.0
    bold: bool = False
    mono: bool = False
    left: float = 0.0
    right: float = 0.0
    group: int | None = None
    glue: str | None = None
    plain: bool = False
    cells: list[list[list[Line]]] | None = None

    @property
    def middle(self) -> float:
        """Return the height at which the line stands."""
        return (self.y0 + self.y1) / 2


class View(NamedTuple):
    """How a page is shown: its size in points as displayed, and how it is turned clockwise."""

    width: float
    height: float
    turned: int

    def place(self) -> Callable[[float, float, float, float], tuple[float, float, float, float]]:
        """Return what takes a box of the unturned page to the page as displayed."""
        width, height = self.width, self.height
        if self.turned == 90:  # noqa: PLR2004
            return lambda x0, y0, x1, y1: (width - y1, x0, width - y0, x1)
        if self.turned == 180:  # noqa: PLR2004
            return lambda x0, y0, x1, y1: (width - x1, height - y1, width - x0, height - y0)
        if self.turned == 270:  # noqa: PLR2004
            return lambda x0, y0, x1, y1: (y0, height - x1, y1, height - x0)
        return lambda x0, y0, x1, y1: (x0, y0, x1, y1)


@dataclass(slots=True)
class Words:
    """The words of one page.

    Attributes:
        good: letters that can be used.
        bad: letters that are not known.
        beyond: words that stand wholly off the page; nobody sees them, yet they are in the file.
    """

    lines: list[Line] = field(default_factory=list)
    good: int = 0
    bad: int = 0
    beyond: list[str] = field(default_factory=list)

    @property
    def covered(self) -> float:
        """Return the area of the lines, in square points."""
        return sum((line.x1 - line.x0) * (line.y1 - line.y0) for line in self.lines)


def gather(words: Iterable[RawWord], view: View) -> Words:
    """Make lines of raw words; a line ends where their block or line number changes."""
    found = Words()
    raw = list(words)
    text = "".join([word[4] for word in raw])
    if not is_clean(text):
        found.bad = lost(text)
        raw = [(*word[:4], letters, *word[5:]) for word in raw if (letters := cleaned(word[4]))]
    if view.turned:
        place = view.place()
        raw = [(*place(*word[:4]), *word[4:]) for word in raw]
    columns = list(zip(*raw, strict=True))
    if columns and not _inside(columns, view):
        raw = _on_page(raw, view, found)
        columns = list(zip(*raw, strict=True))
    if not columns:
        return found
    lefts, tops, rights, bottoms, texts, blocks, numbers = columns[:7]
    found.good = sum(map(len, texts))
    close = has_spaceless(text)
    # One more on the far sides, so that no box is empty, and one less in all, so that none ends beyond the page.
    scale_x, scale_y = (SCALE - 1) / max(view.width, 1.0), (SCALE - 1) / max(view.height, 1.0)
    boxes = list(
        zip(
            [int(x * scale_x) for x in lefts],
            [int(y * scale_y) for y in tops],
            [int(x * scale_x) + 1 for x in rights],
            [int(y * scale_y) + 1 for y in bottoms],
            strict=True,
        )
    )
    start = 0
    keys = list(zip(blocks, numbers, strict=True))
    ends = [at for at, (before, after) in enumerate(pairwise(keys), 1) if before != after]
    for at in (*ends, len(raw)):
        run = slice(start, at)
        x0, y0, x1, y1 = min(lefts[run]), min(tops[run]), max(rights[run]), max(bottoms[run])
        gaps = [_gap(raw[number - 1], raw[number]) for number in range(start + 1, at)] if close else ()
        line_text, flat = _joined(texts[run], boxes[run], gaps)
        found.lines.append(Line(line_text, x0, y0, x1, y1, flat, keys[start], y1 - y0))
        start = at
    return found


def _inside(columns: Sequence[Sequence[float]], view: View) -> bool:
    """Return whether all boxes are boxes and lie on the page."""
    x0s, y0s, x1s, y1s = columns[:4]
    if min(x0s) < 0 or min(y0s) < 0 or max(x1s) > view.width or max(y1s) > view.height:
        return False
    return all(map(le, x0s, x1s))


def _on_page(raw: list[RawWord], view: View, found: Words) -> list[RawWord]:
    """Return words cut at the edges of the page as displayed; those wholly off it go to `beyond`."""
    width, height = max(view.width, 1.0), max(view.height, 1.0)
    kept: list[RawWord] = []
    for word in raw:
        x0, y0, x1, y1 = word[:4]
        if x0 + x1 < 0 or y0 + y1 < 0 or x0 + x1 > 2 * width or y0 + y1 > 2 * height:
            found.beyond.append(word[4])
        else:
            x0, y0 = max(min(x0, x1), 0.0), max(min(y0, y1), 0.0)
            kept.append((x0, y0, min(max(x1, x0), width), min(max(y1, y0), height), *word[4:]))
    return kept


def _gap(before: RawWord, word: RawWord) -> str:
    # Readers see a space wherever letters of a justified line stand a little apart.
    near = word[0] - before[2] < _WIDE_GAP * (word[3] - word[1])
    return "" if near and stand_close(before[4], word[4]) else " "


def _joined(
    texts: Sequence[str], boxes: Sequence[tuple[int, int, int, int]], gaps: Sequence[str]
) -> tuple[str, array[int]]:
    """Return the text of a line and the flat numbers of its words; without gaps, words are a space apart."""
    flat: list[int] = []
    start = 0
    if not gaps:
        for text, (x0, y0, x1, y1) in zip(texts, boxes, strict=True):
            end = start + len(text)
            flat += (start, end, x0, y0, x1, y1)
            start = end + 1
        return " ".join(texts), array("i", flat)
    pieces: list[str] = []
    for text, box, gap in zip(texts, boxes, ("", *gaps), strict=True):
        start += len(gap)
        flat += (start, start + len(text), *box)
        start += len(text)
        pieces += (gap, text)
    return "".join(pieces), array("i", flat)


def piece(text: str, box: tuple[float, float, float, float], view: View, size: float) -> Line | None:
    """Make an addition of a text whose words all stand in one box of the page as displayed, None without a word."""
    words = [word for word in (cleaned(word) for word in text.split()) if word]
    if not words:
        return None
    scale_x, scale_y = SCALE / max(view.width, 1.0), SCALE / max(view.height, 1.0)
    x0, y0, x1, y1 = box
    left, top = min(max(int(x0 * scale_x), 0), SCALE - 1), min(max(int(y0 * scale_y), 0), SCALE - 1)
    right, bottom = min(max(int(x1 * scale_x), left + 1), SCALE), min(max(int(y1 * scale_y), top + 1), SCALE)
    numbers: array[int] = array("i")
    position = 0
    for word in words:
        numbers.extend((position, position + len(word), left, top, right, bottom))
        position += len(word) + 1
    return Line(" ".join(words), x0, y0, x1, y1, numbers, size=size, plain=True)


def set_upright(lines: Iterable[Line], turned: int, view: View) -> None:
    """Give lines that run `turned` degrees clockwise the coordinates they have on the page turned back.

    Order and paragraphs can then be found as always; boxes of words stay those of the page as displayed.
    """
    size = (view.height, view.width) if turned in {90, 270} else (view.width, view.height)
    place = View(*size, (360 - turned) % 360).place()
    for line in lines:
        line.x0, line.y0, line.x1, line.y1 = place(line.x0, line.y0, line.x1, line.y1)


def parted(line: Line, group_of: Callable[[float, float], int]) -> dict[int, Line]:
    """Divide a line by where the middles of its words lie (in units of 1/SCALE of the page)."""
    parts: dict[int, Line] = {}
    numbers = line.words
    share_x = (line.x1 - line.x0) / max(_extent(numbers, 2, 4), 1)
    for at in range(0, len(numbers), WORD_FIELDS):
        start, end, x0, y0, x1, y1 = numbers[at : at + WORD_FIELDS]
        key = group_of((x0 + x1) / 2, (y0 + y1) / 2)
        part = parts.get(key)
        text = line.text[start:end]
        if part is None:
            part = parts[key] = replace(line, text=text, words=array("i", (0, len(text), x0, y0, x1, y1)))
        else:
            gap = "" if numbers[at - WORD_FIELDS + 1] == start else " "
            position = len(part.text) + len(gap)
            part.text += gap + text
            part.words.extend((position, position + len(text), x0, y0, x1, y1))
    if len(parts) == 1:
        return dict.fromkeys(parts, line)
    first = min(numbers[2::WORD_FIELDS])
    for part in parts.values():
        left = line.x0 + (min(part.words[2::WORD_FIELDS]) - first) * share_x
        part.x1 = left + _extent(part.words, 2, 4) * share_x
        part.x0 = left
    return parts


def _extent(numbers: array[int], low: int, high: int) -> int:
    return max(numbers[high::WORD_FIELDS]) - min(numbers[low::WORD_FIELDS])
