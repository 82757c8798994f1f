"""A line as an engine reads it, and where its characters stand along it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Scripts without spaces: each character is a word of its own, so that a mark can be as narrow as a quote.
_ALONE = (
    "\u2e80-\u2fdf\u3000-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
)
_WORD = re.compile(rf"[{_ALONE}]|[^\s{_ALONE}]+")
_END = re.compile("[.!?:;。！？：；…][\"'”’」』）)\\]]*\\Z")


@dataclass(frozen=True, slots=True)
class ReadLine:
    """What an engine made of one line.

    Attributes:
        edges: where each character begins and the last one ends, in fractions (0-1) of the line's length; one more
            than there are characters, rising.
        confidence: 0-1.
        language: `ko` of the Korean engine, `und` of the one that reads several.
    """

    text: str
    edges: tuple[float, ...]
    confidence: float
    language: str = "und"

    def words(self) -> Iterator[tuple[int, int, float, float]]:
        """Yield (start, end, left, right): characters, half open, and fractions of the line's length."""
        for match in _WORD.finditer(self.text):
            start, end = match.span()
            yield start, end, self.edges[start], self.edges[end]

    @property
    def goes_on(self) -> bool:
        """Whether the text ends in the middle of a sentence."""
        return bool(self.text) and not _END.search(self.text)


def edges_between(centres: Sequence[float]) -> tuple[float, ...]:
    """Return the edges of characters with these centres (rising fractions): halfway between neighbours."""
    if not centres:
        return (0.0,)
    inner = [(left + right) / 2 for left, right in itertools.pairwise(centres)]
    first = max(2 * centres[0] - inner[0], 0.0) if inner else 0.0
    last = min(2 * centres[-1] - inner[-1], 1.0) if inner else 1.0
    return (first, *inner, max(last, *inner) if inner else last)
