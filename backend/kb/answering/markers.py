r"""Markers: `[#1]` to `[#999]` as a model writes them, out of its text, as it streams.

Only the strict form counts. `[1]`, `[ #1 ]`, `[#1a]`, `[#01]`, `[label][1]`, a link `[#1](...)`, an escaped `\[#1]`
and anything in inline or fenced code are text.

People see `[1]`, `[2]`, ... in the order in which the text first names its evidence, without gaps. So that nothing
else looks like that, a bare `[1]` of the text becomes `［1］` (full-width brackets) outside code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

_MARKER = re.compile(r"\[#([1-9][0-9]{0,2})\]")
_UNFINISHED = re.compile(r"\[(?:#(?:[1-9][0-9]{0,2}\]?)?|[0-9]{0,3}\]?)?")
_LOOK_ALIKE = re.compile(r"\[([0-9]{1,3})\]")
_QUOTED = re.compile(r"\[(#?[0-9]{1,3})\]")
_PLAIN = re.compile(r"[^`\[\\\n \t]+")
_BLANKS = re.compile(r"[ \t]+")
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n")
_MAYBE_FENCE = re.compile(r" {0,3}(?:`{0,2}|`{3,}[^`\n]*|~{0,2}|~{3,}[^\n]*)\Z")
_BLOCK_END = re.compile(r"\n(?:[ \t]*\n| {0,3}(?:```|~~~))")


@dataclass(frozen=True, slots=True)
class Piece:
    """Text to show, or a marker: `number` is the evidence, `shown` what people see."""

    text: str
    number: int | None = None
    shown: int | None = None


@dataclass(slots=True)
class MarkerReader:
    """Reads a stream of text; what cannot be decided yet waits for the next piece.

    Feeding a text in any pieces gives the same as feeding it whole.

    Attributes:
        allowed: the numbers that exist.
        shown: evidence number to shown number, filled as markers come.
        dropped: numbers named without such evidence, in order.
    """

    allowed: Collection[int]
    shown: dict[int, int] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    _rest: str = ""
    _fence: str = ""
    _line_start: bool = True

    def feed(self, text: str) -> list[Piece]:
        """Return what `text` decides."""
        self._rest += text
        return list(self._read(final=False))

    def close(self) -> list[Piece]:
        """Return what waited: the stream ended."""
        return list(self._read(final=True))

    def _read(self, *, final: bool) -> Iterable[Piece]:
        while self._rest:
            found = self._in_fence(final=final) if self._fence else self._outside(final=final)
            if found is None:
                return
            length, piece = found
            read = self._rest[:length]
            self._rest = self._rest[length:]
            self._line_start = read.endswith("\n")
            if piece.text:
                yield piece

    def _in_fence(self, *, final: bool) -> tuple[int, Piece] | None:
        end = self._rest.find("\n") + 1
        if not end and not final:
            return None
        line = self._rest[: end or len(self._rest)]
        closing = line.strip(" \t\n")
        if closing and not closing.strip(self._fence[0]) and len(closing) >= len(self._fence):
            self._fence = ""
        return len(line), Piece(line)

    def _outside(self, *, final: bool) -> tuple[int, Piece] | None:
        rest = self._rest
        if self._line_start:
            fence = _FENCE.match(rest)
            if fence:
                self._fence = fence[1]
                return fence.end(), Piece(fence[0])
            if not final and _MAYBE_FENCE.match(rest):
                return None
        plain = _PLAIN.match(rest)
        if plain:
            return plain.end(), Piece(plain[0])
        return {"\n": self._newline, "\\": self._escape, "`": self._code}.get(rest[0], self._bracket)(final=final)

    def _newline(self, *, final: bool) -> tuple[int, Piece]:
        del final
        return 1, Piece("\n")

    def _escape(self, *, final: bool) -> tuple[int, Piece] | None:
        if len(self._rest) == 1 and not final:
            return None
        return len(self._rest[:2]), Piece(self._rest[:2])

    def _code(self, *, final: bool) -> tuple[int, Piece] | None:
        rest = self._rest
        run = len(rest) - len(rest.lstrip("`"))
        if run == len(rest) and not final:
            return None
        block_end = _BLOCK_END.search(rest)
        limit = block_end.start() if block_end else len(rest)
        for ticks in _TICKS.finditer(rest, run, limit):
            # A run that touches the end may still grow.
            if len(ticks[0]) == run and (final or ticks.end() < len(rest)):
                return ticks.end(), Piece(rest[: ticks.end()])
        if block_end is None and not final:
            return None
        return run, Piece(rest[:run])

    def _bracket(self, *, final: bool) -> tuple[int, Piece] | None:
        rest = self._rest
        blanks = _BLANKS.match(rest)
        start = blanks.end() if blanks else 0
        if start == len(rest):
            return (start, Piece(rest)) if final else None
        if rest[start] != "[":
            return start, Piece(rest[:start])
        if not final and _UNFINISHED.fullmatch(rest, start):
            return None
        marker = _MARKER.match(rest, start)
        if marker and rest[marker.end() : marker.end() + 1] != "(":
            return marker.end(), self._marker(rest[:start], int(marker[1]))
        look_alike = _LOOK_ALIKE.match(rest, start)
        if look_alike:
            return look_alike.end(), Piece(f"{rest[:start]}［{look_alike[1]}］")
        return start + 1, Piece(rest[: start + 1])

    def _marker(self, blanks: str, number: int) -> Piece:
        if number not in self.allowed:
            self.dropped.append(number)
            return Piece("")
        shown = self.shown.setdefault(number, len(self.shown) + 1)
        return Piece(f"{blanks}[{shown}]", number, shown)


def read_markers(text: str, allowed: Collection[int]) -> tuple[list[Piece], MarkerReader]:
    """Return the pieces of a whole text, and the reader with what it learned."""
    reader = MarkerReader(allowed)
    return [*reader.feed(text), *reader.close()], reader


def without_look_alikes(text: str) -> str:
    """Return `text` with every `[1]` and `[#1]` of its own in full-width brackets: it stands beside real markers."""
    return _QUOTED.sub(r"［\1］", text)
