"""Printed lines of a page: text, place and look, with a box for each word."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from kb.adapters.parsers.pdf.letters import cleaned, lost, stand_close
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
        covered: area of the words, in square points.
        beyond: words that stand wholly off the page; nobody sees them, yet they are in the file.
    """

    lines: list[Line] = field(default_factory=list)
    good: int = 0
    bad: int = 0
    covered: float = 0.0
    beyond: list[str] = field(default_factory=list)


def gather(words: Iterable[RawWord], view: View) -> Words:
    """Make lines of raw words; a line ends where their block or line number changes."""
    found = Words()
    lines = found.lines
    place = view.place() if view.turned else None
    width, height = max(view.width, 1.0), max(view.height, 1.0)
    scale_x, scale_y = SCALE / width, SCALE / height
    line: Line | None = None
    for x0, y0, x1, y1, raw, block, number, *_ in words:
        text: str = raw
        if not (text.isascii() and text.isprintable()):
            found.bad += lost(text)
            text = cleaned(text)
            if not text:
                continue
        if place:
            x0, y0, x1, y1 = place(x0, y0, x1, y1)  # noqa: PLW2901
        if x0 + x1 < 0 or y0 + y1 < 0 or x0 + x1 > 2 * width or y0 + y1 > 2 * height:
            found.beyond.append(text)
            continue
        found.good += len(text)
        found.covered += (x1 - x0) * (y1 - y0)
        left, top = min(max(int(x0 * scale_x), 0), SCALE - 1), min(max(int(y0 * scale_y), 0), SCALE - 1)
        right, bottom = (
            min(max(int(x1 * scale_x) + 1, left + 1), SCALE),
            min(max(int(y1 * scale_y) + 1, top + 1), SCALE),
        )
        if line is not None and line.key == (block, number):
            before = line.text
            # Readers see a space wherever letters of a justified line stand a little apart.
            gap = "" if stand_close(before, text) and x0 - line.x1 < _WIDE_GAP * (y1 - y0) else " "
            line.text = before + gap + text
            start = len(before) + len(gap)
            line.words.extend((start, start + len(text), left, top, right, bottom))
            line.x0, line.y0 = min(x0, line.x0), min(y0, line.y0)
            line.x1, line.y1 = max(x1, line.x1), max(y1, line.y1)
        else:
            place_of = array("i", (0, len(text), left, top, right, bottom))
            line = Line(text, x0, y0, x1, y1, place_of, (block, number), y1 - y0)
            lines.append(line)
    return found


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
