"""Segments whose places are lines, as plain numbers: a long text has millions of them."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

from kb.domain.spans import LineSpan, Segment

_FIELDS = 4
_TYPE = "I"


class LineSegments(Sequence[Segment]):
    """Equal to the tuple of its segments, which are made when they are asked for; 16 bytes each where a tuple has 200.

    Attributes:
        numbers: four a segment: start, end (half open), first line, last line (included).
    """

    __slots__ = ("numbers",)

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = array(_TYPE, numbers)

    @classmethod
    def of_lines(cls, lines: Sequence[str], first_line: int) -> LineSegments:
        """Return the places of whole lines with a line feed between two, the first of them line `first_line`."""
        numbers: list[int] = []
        position = 0
        for number, line in enumerate(lines, first_line):
            end = position + len(line)
            if line:
                numbers += (position, end, number, number)
            position = end + 1
        return cls(numbers)

    def moved(self, offset: int) -> LineSegments:
        """Return them for a text that now starts `offset` characters later."""
        if not offset:
            return self
        made = LineSegments(self.numbers)
        numbers = made.numbers
        for at in range(0, len(numbers), _FIELDS):
            numbers[at] += offset
            numbers[at + 1] += offset
        return made

    def within(self, start: int, end: int) -> LineSegments:
        """Return those of the characters `start` to `end`, cut to them."""
        known = self.numbers
        first = bisect_right(range(len(self)), start, key=lambda index: known[_FIELDS * index]) - 1
        numbers: list[int] = []
        for at in range(max(first, 0) * _FIELDS, len(known), _FIELDS):
            if known[at] >= end:
                break
            if known[at + 1] > start:
                numbers += (max(known[at], start), min(known[at + 1], end), known[at + 2], known[at + 3])
        return LineSegments(numbers)

    def lines(self) -> list[tuple[int, int]]:
        """Return (first, last) of the lines, neighbours that touch as one, as `placed.merge_spans` joins them."""
        merged: list[tuple[int, int]] = []
        numbers = self.numbers
        for first, last in zip(numbers[2::_FIELDS], numbers[3::_FIELDS], strict=True):
            if merged and merged[-1][0] <= first <= merged[-1][1] + 1:
                if last > merged[-1][1]:
                    merged[-1] = (merged[-1][0], last)
            else:
                merged.append((first, last))
        return merged

    @overload
    def __getitem__(self, index: int) -> Segment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Segment, ...]: ...
    def __getitem__(self, index: int | slice) -> Segment | tuple[Segment, ...]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        at = _FIELDS * range(len(self))[index]
        start, end, first, last = self.numbers[at : at + _FIELDS]
        return Segment(start, end, LineSpan(first, last))

    def __len__(self) -> int:
        return len(self.numbers) // _FIELDS

    def __iter__(self) -> Iterator[Segment]:
        fields = iter(self.numbers)
        for start, end, first, last in zip(fields, fields, fields, fields, strict=True):
            yield Segment(start, end, LineSpan(first, last))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LineSegments):
            return self.numbers == other.numbers
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Places:
    """The places of a text that is put together from others: numbers as long as all of them are lines in numbers."""

    __slots__ = ("_numbers", "_segments")

    def __init__(self) -> None:
        self._numbers: LineSegments | None = None
        self._segments: list[Segment] | None = None

    def add(self, segments: Sequence[Segment], offset: int) -> None:
        """Append the places of a text that now starts at `offset`."""
        if self._segments is None and isinstance(segments, LineSegments):
            if self._numbers is None:
                self._numbers = segments.moved(offset)
            else:
                self._numbers = LineSegments(self._numbers.numbers + segments.moved(offset).numbers)
            return
        if self._segments is None:
            self._segments = list(self._numbers or ())
        if offset:
            self._segments += [Segment(s.start + offset, s.end + offset, s.span) for s in segments]
        else:
            self._segments += segments

    def finish(self) -> Sequence[Segment]:
        """Return them all."""
        return (self._numbers or ()) if self._segments is None else tuple(self._segments)
