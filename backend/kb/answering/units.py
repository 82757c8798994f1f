"""What can be quoted from a chunk: sentences, list items, table rows, lines of code; never a heading alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb.domain.text import CJK, sentences

_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|[ \t]*\|")
_BULLET = re.compile(r"[-*+•>][ \t]+")
# "3. 1" may be a date.
_LABEL = re.compile(r"(?:#{1,6}|\d{1,3}[.)])[ \t]+(?!\d)")
_RULE = re.compile(r"[\s|:+=_*-]*\Z")
_ENDED = re.compile(rf"(?:[.!?…:;。！？：；]|(?<=[{CJK}])다)[\"'”’」』）)\]]*\s*\Z")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WRAP = 40
_CELLS = " | "
_LONG_ROW = 400


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters `start` to `end` of a chunk's text, half open, that say something by themselves."""

    start: int
    end: int


def units(text: str) -> list[Unit]:
    """Return the quotable units of a chunk's text, in order, without surrounding white space.

    A prose line that was wrapped (40 characters or more, no sentence end) goes on in the next line. A row of a table
    (cells parted by ` | `) is one unit, whatever stops are in it, unless its cells hold long prose.
    """
    found: list[Unit] = []
    for start, end in _paragraphs(text):
        prose = text[start:end]
        if _CELLS in prose and len(prose) <= _LONG_ROW and not _ITEM.match(prose):
            first, last = start + len(prose) - len(prose.lstrip()), start + len(prose.rstrip())
            found += [Unit(first, last)] if any(letter.isalnum() for letter in prose) else []
            continue
        # Line feeds inside are wraps; to the sentence rule they would be ends.
        flat = prose.replace("\n", " ")
        found += [
            Unit(start + _after_bullet(flat, first, last), start + last)
            for first, last in sentences(flat)
            if not _RULE.match(flat, first, last) and any(letter.isalnum() for letter in flat[first:last])
        ]
    return found


def heads_rows(text: str, unit: Unit) -> bool:
    """Return whether a unit is a row of headers, `Name | Age`, above rows that repeat them, `Name: Ann | Age: 9`."""
    first, _, others = text[unit.start : unit.end].partition(_CELLS)
    return bool(first and others) and text.startswith(f"\n{first}: ", unit.end)


def _after_bullet(text: str, start: int, end: int) -> int:
    bullet = _BULLET.match(text, start, end) or (_LABEL.match(text, start, end) if start == 0 else None)
    return bullet.end() if bullet and bullet.end() < end else start


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield runs of lines that belong together."""
    start = end = 0
    before = ""
    for line in _LINE.finditer(text):
        content = line[0].rstrip("\n")
        if not _goes_on(before, content):
            if end > start:
                yield start, end
            start = line.start()
        end = line.start() + len(content)
        before = content
    if end > start:
        yield start, end


def _goes_on(before: str, line: str) -> bool:
    """Return whether `line` continues the prose of the line before it."""
    return (
        len(before) >= _WRAP
        and bool(line.strip())
        and not _ENDED.search(before)
        and not _ITEM.match(line)
        and not _ITEM.match(before)
        and _CELLS not in before
        and _CELLS not in line
    )
