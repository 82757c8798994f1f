"""Stretches of speech cut out of a recording and put end to end, and the way back to its own times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """Speech from `start` to `end`, in seconds of the recording; `packed` is where it starts when put end to end."""

    start: float
    end: float
    packed: float


class Stretches:
    """All stretches of one recording, in order and apart.

    Args:
        bounds: (start, end) in seconds.
    """

    def __init__(self, bounds: Iterable[tuple[float, float]]) -> None:
        packed = 0.0
        self.all: list[Stretch] = []
        for start, end in bounds:
            self.all.append(Stretch(start, end, packed))
            packed += end - start
        self._starts = [stretch.packed for stretch in self.all]

    def original(self, start: float, end: float) -> tuple[float, float]:
        """Return the times in the recording of a word in the packed sound; both lie in the same stretch."""
        index = max(bisect_right(self._starts, (start + end) / 2) - 1, 0)
        stretch = self.all[index]
        first, last = (
            min(max(time - stretch.packed + stretch.start, stretch.start), stretch.end) for time in (start, end)
        )
        return first, max(first, last)

    def without(self, words: Sequence[tuple[float, float]], at_least: float) -> list[tuple[float, float]]:
        """Return the parts of the stretches, `at_least` seconds long, in which none of `words` (in order) lies."""
        found: list[tuple[float, float]] = []
        for stretch in self.all:
            cursor = stretch.start
            inside = [word for word in words if word[0] < stretch.end and word[1] > stretch.start]
            for start, end in [*inside, (stretch.end, stretch.end)]:
                if start - cursor >= at_least:
                    found.append((cursor, min(start, stretch.end)))
                cursor = max(cursor, end)
        return found
