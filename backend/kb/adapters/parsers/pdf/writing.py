"""The text of a page as its blocks say it, character for character, with a box for each word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, islice

from kb.adapters.parsers.pdf.letters import stand_close
from kb.adapters.parsers.pdf.lines import WORD_FIELDS, Line
from kb.adapters.parsers.pdf.pages import PageContent
from kb.domain.pages import PageText, WordBoxes

_CUT = re.compile(r"([^\W\d_][\w\u2010-]*)[-\u2010]\Z")
_GOES_ON = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"\w+(?:[-\u2010]\w+)+")
_HYPHENS = ("-", "\u2010")
_NEAR = 1.5
_BETWEEN = "\n\n"


def compounds(lines: Iterable[Line]) -> frozenset[str]:
    """Return the words that are written with a hyphen within a line, in lower case."""
    written = (_COMPOUND.findall(line.text) for line in lines if "-" in line.text or "\u2010" in line.text)
    return frozenset(word.casefold().replace("\u2010", "-") for word in chain.from_iterable(written))


def joint(line: Line, following: Line, known: frozenset[str]) -> tuple[int, str]:
    """Return how many letters to drop from the end of a line, and what stands between it and the following one.

    A word cut by a hyphen is put together; it keeps the hyphen when it is written with it elsewhere (`known`) or goes
    on with a capital or a figure. Scripts without spaces get none.
    """
    if following.glue is not None:
        return 0, following.glue
    cut = _CUT.search(line.text) if line.text[-1:] in _HYPHENS else None
    if cut:
        rest = _GOES_ON.match(following.text)
        if rest and rest[0].islower() and f"{cut[1]}-{rest[0]}".casefold().replace("\u2010", "-") not in known:
            return 1, ""
        return 0, "" if following.text[:1].isalnum() else " "
    return 0, "" if stand_close(line.text, following.text) else " "


class PageWriter:
    """Writes the lines of one page one after the other and notes where each word came to stand."""

    def __init__(self, content: PageContent) -> None:
        self._content = content
        self._pieces: list[str] = []
        self._boxes = WordBoxes()
        self._number = -1
        self._last: Line | None = None
        self.position = 0

    def begin(self) -> None:
        """Part what follows from what stands there."""
        if self.position:
            self.write(_BETWEEN)

    def write(self, text: str) -> None:
        """Add text of no place: what stands between words."""
        self._pieces.append(text)
        self.position += len(text)

    def line(self, line: Line, drop: int = 0) -> str:
        """Add a line without its last `drop` letters; return what was written."""
        if self._last is None or not _goes_on_beside(self._last, line):
            self._number += 1
        self._last = line
        words, start, number = self._boxes.numbers, self.position, self._number
        for at in range(0, len(line.words), WORD_FIELDS):
            first, end, x0, y0, x1, y1 = islice(line.words, at, at + WORD_FIELDS)
            words.extend((start + first, start + end, x0, y0, x1, y1, number))
        text = line.text
        if drop:
            text = text[:-drop]
            words[-6] -= drop
        self.write(text)
        return text

    def page(self) -> PageText:
        """Return the page as written."""
        content = self._content
        return PageText(
            content.number,
            content.view.width,
            content.view.height,
            "ocr" if content.state == "ocr" else "text",
            "".join(self._pieces),
            self._boxes,
            content.confidence,
        )


def _goes_on_beside(last: Line, line: Line) -> bool:
    """Return whether a piece stands right after the last one in the same row, so that one rectangle holds both."""
    return last.y0 <= line.middle <= last.y1 and 0 <= line.x0 - last.x1 < _NEAR * max(line.size, 1.0)
