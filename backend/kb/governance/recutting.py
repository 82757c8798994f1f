"""Texts with pieces replaced, the places of all other characters kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kb.domain.placed import cut, merge_spans, shift
from kb.domain.spans import PageSpan, Segment

COVER = "\u2588"


class Cut(NamedTuple):
    """Characters `start` to `end` (half open) give way to `text`."""

    start: int
    end: int
    text: str


def replaced(text: str, cuts: Sequence[Cut]) -> str:
    """Return `text` with the cuts made; they are in order and do not overlap."""
    parts: list[str] = []
    position = 0
    for one in cuts:
        parts += (text[position : one.start], one.text)
        position = one.end
    parts.append(text[position:])
    return "".join(parts)


def recut(text: str, segments: Sequence[Segment], cuts: Sequence[Cut]) -> tuple[str, tuple[Segment, ...]]:
    """Return text and segments with the cuts made.

    What stands before and behind a cut keeps its exact places. What came in has the place of what went; where that was
    on two pages, its characters are shared out so that both stay known.
    """
    result: list[Segment] = []
    position = 0
    length = 0
    for one in cuts:
        result += shift(cut(segments, position, one.start), length)
        length += one.start - position
        result += _placed(one, segments, length)
        length += len(one.text)
        position = one.end
    result += shift(cut(segments, position, len(text)), length)
    return replaced(text, cuts), tuple(_joined(result))


def covered(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    """Return `text` with each range as that many full blocks, so that all offsets stay."""
    if not ranges:
        return text
    letters = list(text)
    for start, end in ranges:
        letters[start:end] = [COVER if not letter.isspace() else letter for letter in letters[start:end]]
    return "".join(letters)


def _placed(one: Cut, segments: Sequence[Segment], at: int) -> list[Segment]:
    touched = [s for s in segments if s.start < one.end and one.start < s.end]
    spans = merge_spans(s.span for s in cut(touched, one.start, one.end))[: len(one.text)]
    if not spans:
        return []
    # The first place has most of the characters: they are only there to hold the places.
    first = len(one.text) - len(spans) + 1
    starts = [0, *range(first, first + len(spans) - 1), len(one.text)]
    return [Segment(at + starts[n], at + starts[n + 1], span) for n, span in enumerate(spans)]


def _joined(segments: list[Segment]) -> list[Segment]:
    """Join neighbours with one place, unless it is narrowed by arithmetic (`placed.narrowed`)."""
    result: list[Segment] = []
    for segment in segments:
        last = result[-1] if result else None
        if last and last.end == segment.start and last.span == segment.span and type(segment.span) is not PageSpan:
            result[-1] = Segment(last.start, segment.end, last.span)
        else:
            result.append(segment)
    return result
