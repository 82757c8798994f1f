"""Pages and pictures as text with boxes: what lets a citation be drawn on them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Literal, NamedTuple
from unicodedata import east_asian_width

from kb.domain.errors import ErrorCode, InvalidInput

SCALE = 100_000
"""Box coordinates count in this fraction of the page's width and height, so that they are whole numbers."""
_FIELDS = 7


class Word(NamedTuple):
    """Characters `start` to `end` (half open) of a page's text and their box, in units of 1/SCALE of the page.

    The box is that of the page as displayed (rotation, CropBox, EXIF applied), origin top left; `line` numbers the
    printed lines of the page from 0, so that one rectangle a line can be drawn.
    """

    start: int
    end: int
    x0: int
    y0: int
    x1: int
    y1: int
    line: int


class WordBoxes:
    """The words of a page in the order of its text, kept as plain numbers: a book has half a million of them."""

    __slots__ = ("numbers",)

    def __init__(self, words: Iterable[Word] = ()) -> None:
        self.numbers = array("i")
        for word in words:
            self.numbers.extend(word)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> WordBoxes:
        """Take the flat form, seven numbers a word.

        Raises:
            InvalidInput: the numbers are not whole words.
        """
        boxes = cls()
        boxes.numbers.extend(numbers)
        if len(boxes.numbers) % _FIELDS:
            raise InvalidInput("a list of word boxes is cut short", code=ErrorCode.INVALID_SPAN)
        return boxes

    def __len__(self) -> int:
        return len(self.numbers) // _FIELDS

    def __iter__(self) -> Iterator[Word]:
        fields = iter(self.numbers)
        return map(Word, *[fields] * _FIELDS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordBoxes) and self.numbers == other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers.tobytes())


@dataclass(frozen=True, slots=True)
class PageText:
    """One page of a document, or one frame of a picture.

    Attributes:
        page: from 1.
        width: as displayed, in points of a page or pixels of a picture.
        height: likewise.
        source: whether the text was in the file or recognised from its picture.
        text: all words in reading order; blocks refer to ranges of it, character for character.
        words: where the words stand.
        confidence: 0-1, of recognised text.
    """

    page: int
    width: float
    height: float
    source: Literal["text", "ocr"]
    text: str
    words: WordBoxes
    confidence: float | None = None


class Rect(NamedTuple):
    """A rectangle in fractions (0-1) of a page as displayed, origin top left."""

    x: float
    y: float
    w: float
    h: float


def line_rects(page: PageText, start: int, end: int) -> list[Rect]:
    """Return one rectangle a printed line over the words that touch characters `start` to `end` of the page's text."""
    return range_rects(page, [(start, end)])


def range_rects(page: PageText, ranges: Sequence[tuple[int, int]]) -> list[Rect]:
    """Return one rectangle a printed line over the words that touch ranges of characters of the page's text.

    Of a run of letters that are written without spaces only those asked for are covered, in proportion to the widths
    of letters: what counts as a word there is often a whole line.
    """
    lines: dict[int, list[int]] = {}
    first, last = min((r[0] for r in ranges), default=0), max((r[1] for r in ranges), default=0)
    for word in page.words:
        if word.start >= last or word.end <= first:
            continue
        for start, end in ranges:
            if word.start < end and start < word.end:
                x0, x1 = _reach(page, word, start, end)
                box = lines.setdefault(word.line, [x0, word.y0, x1, word.y1])
                box[0], box[1] = min(box[0], x0), min(box[1], word.y0)
                box[2], box[3] = max(box[2], x1), max(box[3], word.y1)
    return [Rect(x0 / SCALE, y0 / SCALE, (x1 - x0) / SCALE, (y1 - y0) / SCALE) for x0, y0, x1, y1 in lines.values()]


def _reach(page: PageText, word: Word, start: int, end: int) -> tuple[int, int]:
    """Return from where to where across the page characters `start` to `end` of a word reach."""
    if start <= word.start and word.end <= end:
        return word.x0, word.x1
    text = page.text[word.start : word.end]
    # A run that stands upright or at an angle says nothing about which of its ends is its beginning.
    is_level = (word.x1 - word.x0) * page.width > (word.y1 - word.y0) * page.height
    if not is_level or not any(letter in "WF" for letter in map(east_asian_width, text)):
        return word.x0, word.x1
    edges = [0, *accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text)]
    one = (word.x1 - word.x0) / edges[-1]
    left = edges[max(start - word.start, 0)]
    right = edges[min(end, word.end) - word.start]
    return word.x0 + int(left * one), word.x0 + ceil(right * one)
