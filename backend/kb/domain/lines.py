"""Text in lines: the one form source text is read in, and text built up with its lines known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from kb.domain.blocks import BlockKind, Prose
from kb.domain.documents import ParsedBlock
from kb.domain.line_segments import LineSegments
from kb.domain.spans import LineSpan, Segment

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_PARAGRAPH = 20_000
_PROSE = Prose()


def source_text(text: str) -> str:
    """Return `text` in NFC with a line feed as the only line end, so that lines count as editors count them.

    NUL characters are dropped, halves of surrogate pairs become U+FFFD; line numbers stay.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    if _SURROGATE.search(text):
        text = _SURROGATE.sub("\ufffd", text)
    return unicodedata.normalize("NFC", text)


def count_lines(text: str) -> int:
    """Return how many lines `text` has; a line end at the very end begins no further one."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


@lru_cache(maxsize=1 << 14)
def line_span(start: int, end: int) -> LineSpan:
    """Return the span of lines `start` to `end`; equal spans are one object."""
    return LineSpan(start, end)


class SourceLines:
    """The lines of a text that comes in pieces, each ending with a line end but the last, in `source_text` form.

    Attributes:
        count: how many lines there were so far, as `count_lines` has it.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = pieces
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        begun = ""
        for piece in self._pieces:
            lines = source_text(begun + piece if begun else piece).split("\n")
            begun = lines.pop()
            self.count += len(lines)
            yield from lines
        if begun:
            self.count += 1
        yield begun


class LinedText:
    """A text under construction whose pieces know their source lines (from 1)."""

    __slots__ = ("_end", "_from", "_start", "_to", "parts", "segments")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.segments: list[Segment] = []
        self._end = 0
        self._start = 0
        self._from = 0
        self._to = 0

    def __len__(self) -> int:
        return self._end

    def add(self, text: str, line: int, last_line: int = 0) -> None:
        """Append a piece that stands on `line` (to `last_line` where it is longer than one)."""
        if not text:
            return
        last_line = last_line or line
        if line != self._from or last_line != self._to:
            self._close()
            self._from = line
            self._to = last_line
        self.parts.append(text)
        self._end += len(text)

    def add_lines(self, lines: Iterable[str], first: int) -> None:
        """Append whole lines, the first of them line `first`, with line ends of ours between them."""
        self._close()
        end = self._end
        for number, line in enumerate(lines, first):
            if number > first:
                self.parts.append("\n")
                end += 1
            if line:
                self.segments.append(Segment(end, end + len(line), line_span(number, number)))
                self.parts.append(line)
                end += len(line)
        self._start = self._end = end

    def own(self, text: str) -> None:
        """Append text of our making, which has no place."""
        self._close()
        self.parts.append(text)
        self._end += len(text)

    def text(self, start_part: int = 0) -> str:
        """Return what was appended, from the part with that number on."""
        return "".join(self.parts[start_part:])

    def finish(self) -> tuple[str, tuple[Segment, ...]]:
        """Return the text and its segments."""
        self._close()
        return "".join(self.parts), tuple(self.segments)

    def _close(self) -> None:
        if self._from and self._end > self._start:
            self.segments.append(Segment(self._start, self._end, line_span(self._from, self._to)))
        self._start = self._end
        self._from = self._to = 0


def lines_block(kind: BlockKind, lines: list[str], first_line: int, heading_path: tuple[str, ...] = ()) -> ParsedBlock:
    """Return a block of whole source lines, the first of them being line `first_line`."""
    return ParsedBlock(
        kind=kind,
        text="\n".join(lines),
        span=line_span(first_line, first_line + len(lines) - 1),
        heading_path=heading_path,
        payload=_PROSE,
        segments=LineSegments.of_lines(lines, first_line),
    )


def plain_paragraphs(text: str, first_line: int = 1) -> list[ParsedBlock]:
    """Return the paragraphs of a text in `source_text` form: lines between blank lines.

    A paragraph ends early, at a line end, once it has 20,000 characters.
    """
    return paragraphs_of(text.split("\n"), first_line)


def paragraphs_of(lines: Iterable[str], first_line: int = 1) -> list[ParsedBlock]:
    """As `plain_paragraphs`, of lines that need not all be there at once."""
    blocks: list[ParsedBlock] = []
    held: list[str] = []
    size = 0
    number = first_line
    for number, raw in enumerate(lines, first_line):
        line = raw.rstrip()
        if line:
            held.append(line)
            size += len(line)
        if held and (not line or size >= _MAX_PARAGRAPH):
            start = number - len(held) + (1 if line else 0)
            blocks.append(lines_block(BlockKind.PARAGRAPH, held, start))
            held, size = [], 0
    if held:
        blocks.append(lines_block(BlockKind.PARAGRAPH, held, number - len(held) + 1))
    return blocks
