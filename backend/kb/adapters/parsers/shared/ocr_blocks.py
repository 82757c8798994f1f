"""From recognised lines to the text of a page: lines joined into paragraphs, every word with its box."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from kb.adapters.parsers.shared.building import clean
from kb.domain.pages import SCALE, PageText, Word, WordBoxes
from kb.ingest.reading_ports import OcrLine, OcrPage

# Scripts that put no space between words, and their punctuation; Korean does.
_SPACELESS = (
    "\u2e80-\u2fdf\u3000-\u303f\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff"
)
_CLOSE = re.compile(f"[{_SPACELESS}]")
_HYPHENED = re.compile(r"[^\W\d_][-\u2010\u00ad]\Z")
_BETWEEN = "\n\n"


def page_from_ocr(  # noqa: PLR0917 - page and raster, in the order in which they are known
    ocr_page: OcrPage, number: int, width: float, height: float, raster_width: int, raster_height: int
) -> tuple[PageText, list[tuple[int, int]]]:
    """Return the text of a recognised page and the (start, end) ranges of its paragraphs, half open, in reading order.

    Lines of a paragraph are joined with a space, with nothing between two of a script that has no spaces, and a word
    cut by a hyphen at the end of a line is joined without it: two words with a box each. Paragraphs are two line feeds
    apart, so the ranges are all of the text but those.

    Args:
        ocr_page: lines with boxes in pixels of the picture that was read.
        number: the page, from 1.
        width: of the page as displayed, in points or pixels.
        height: likewise.
        raster_width: of the picture that was read; it shows the whole page as displayed.
        raster_height: likewise.
    """
    writer = _Writer(SCALE / max(raster_width, 1), SCALE / max(raster_height, 1))
    paragraphs: list[tuple[int, int]] = []
    for _, lines in groupby(ocr_page.lines, key=lambda line: line.block):
        placed = writer.paragraph(lines)
        if placed is not None:
            paragraphs.append(placed)
    text = "".join(writer.pieces)
    page = PageText(number, width, height, "ocr", text, WordBoxes(writer.words), writer.confidence)
    return page, paragraphs


_Box = tuple[float, float, float, float]


class _Writer:
    """Writes lines one after the other and notes where each word came to stand."""

    def __init__(self, scale_x: float, scale_y: float) -> None:
        self.pieces: list[str] = []
        self.words: list[Word] = []
        self._scale_x = scale_x
        self._scale_y = scale_y
        self._length = 0
        self._lines = 0
        self._weight = 0
        self._weighted = 0.0

    @property
    def confidence(self) -> float | None:
        """Return the mean over all characters, None without any."""
        return round(self._weighted / self._weight, 4) if self._weight else None

    def paragraph(self, lines: Iterable[OcrLine]) -> tuple[int, int] | None:
        """Write the lines of a paragraph; return its range, None when nothing stands in them."""
        start: int | None = None
        for line in lines:
            words = _cleaned(line)
            if not words:
                continue
            if start is not None:
                self._join(words[0][1])
            else:
                if self._length:
                    self._write(_BETWEEN)
                start = self._length
            self._line(words, line.confidence)
        return None if start is None else (start, self._length)

    def _join(self, following: str) -> None:
        last = self.pieces[-1]
        if _HYPHENED.search(last) and following[0].islower():
            self._length -= 1
            self.pieces[-1] = last[:-1]
            self.words[-1] = self.words[-1]._replace(end=self._length)
        elif not (_CLOSE.match(last[-1]) and _CLOSE.match(following[0])):
            self._write(" ")

    def _line(self, words: Iterable[tuple[str, str, _Box]], confidence: float) -> None:
        before = self._length
        for gap, text, box in words:
            if gap and self._length > before:
                self._write(gap)
            start = self._length
            self._write(text)
            x0, x1 = _range(box[0] * self._scale_x, box[2] * self._scale_x)
            y0, y1 = _range(box[1] * self._scale_y, box[3] * self._scale_y)
            self.words.append(Word(start, self._length, x0, y0, x1, y1, self._lines))
        self._lines += 1
        self._weight += self._length - before
        self._weighted += (self._length - before) * confidence

    def _write(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)


def _cleaned(line: OcrLine) -> list[tuple[str, str, _Box]]:
    """Return (white space before, text, box) of every word that has text."""
    words: list[tuple[str, str, _Box]] = []
    end = 0
    gap = ""
    for word in line.words:
        if line.text[end : word.start].isspace():
            gap = " "
        text = " ".join(clean(line.text[word.start : word.end]).split())
        if text:
            words.append((gap, text, (word.x0, word.y0, word.x1, word.y1)))
            gap = ""
        end = word.end
    return words


def _range(low: float, high: float) -> tuple[int, int]:
    """Return two different whole numbers on the page."""
    first = min(max(round(low), 0), SCALE - 1)
    return first, min(max(round(high), first + 1), SCALE)
