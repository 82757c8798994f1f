"""Laying out text in columns of a terminal, where letters of some scripts take two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# What stays together on a line: one letter of a script without spaces, with the marks that may not begin a line, or a
# run of any others, or a gap.
_WIDE = r"\u2e80-\u30ff\u31c0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[{_WIDE}][、。，．：；！？）」』】》…]*|[^\s{_WIDE}]+|\s+")


def quoted(text: str, columns: int) -> str:
    """Return a quote on one line, cut to columns."""
    line = " ".join(text.split())
    if columns_of(line) > columns - 4:
        line = wrapped(line, columns - 5)[0] + "…"
    return f"「{line}」"


def wrapped(text: str, columns: int) -> list[str]:
    """Return the lines of a plain text wrapped to columns."""
    plain = spaced(text)
    return [plain[start:end] for start, end in line_ranges(plain, columns)]


def spaced(text: str) -> str:
    """Return a text with each line end or tab as a space: as long as before, so that places in it stay."""
    return re.sub(r"\s", " ", text)


def line_ranges(text: str, columns: int) -> list[tuple[int, int]]:
    """Return where each line of a wrapped text begins and ends: white space between lines belongs to none.

    Latin and Korean break between words, Chinese and Japanese between any letters; a longer word is cut.
    """
    ranges: list[tuple[int, int]] = []
    start = end = used = 0
    for at, to in _pieces(text, columns):
        size = columns_of(text[at:to])
        if text[at:to].isspace():
            used += size if used else 0
        elif used and used + size > columns:
            ranges.append((start, end))
            start, end, used = at, to, size
        else:
            start = start if used else at
            end, used = to, used + size
    return [*ranges, (start, end)] if end > start else ranges


def columns_of(text: str) -> int:
    """Return how many terminal columns a plain text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, columns: int) -> str:
    """Return a text filled with spaces up to `columns`, wide letters counted as two."""
    return text + " " * (columns - columns_of(text))


def _pieces(text: str, columns: int) -> Iterator[tuple[int, int]]:
    for found in _PIECE.finditer(text):
        longest = columns if found[0].isascii() else max(columns // 2, 1)
        for at in range(found.start(), found.end(), longest):
            yield at, min(at + longest, found.end())
