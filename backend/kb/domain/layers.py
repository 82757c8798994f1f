"""Layers: what people changed in passages, kept apart from what the file says.

A layer of text is kept as the text before it and the text after it; what it changed is read from the two as `Change`s,
so that each of them can be found again when the file is cut otherwise or says something new around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum

from kb.domain.placed import merge_spans, narrowed, spans_between
from kb.domain.spans import LineSpan, Segment, SourceSpan
from kb.domain.text import CJK

MOST_CHARACTERS = 16_000
"""An edited passage has at most so many (PRD section 8.4 and `retrieval.md`)."""

_WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])\w)+|\s+|[^\w\s]")
_EXACT = 1_000_000
"""Pairs of words that are compared exactly: about half a second; past it a stretch counts as replaced as a whole."""
_APART = 4
"""Letters between two changes, from which on they are two: what is nearer is found again more surely as one."""
_STAYS = 0.5
"""Of the longer text at least so much must stay: less stays by chance."""


class LayerKind(StrEnum):
    """`disabled` and `deleted` take a passage out of search; a deleted one is listed as such until it is restored."""

    TEXT = "text"
    DISABLED = "disabled"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Layer:
    """What a person changed in one passage.

    Attributes:
        source_text: what the passage said before any layer.
        new_text: what it says with it; empty unless the kind is `text`.
        own: the character of `source_text` from which on it does not repeat the passage before.
        before: what stood before the passage in its document; `after` likewise.
        at: where in its document the passage stood, 0 to 1.
    """

    layer_id: str
    kind: LayerKind
    source_text: str
    new_text: str = ""
    own: int = 0
    before: str = ""
    after: str = ""
    at: float = 0.0

    def changes(self) -> tuple[Change, ...]:
        """Return what it changes in `source_text`; all of it is left out by layers that are not of text."""
        if self.kind is LayerKind.TEXT:
            return changes_between(self.source_text, self.new_text)
        return (Change(self.own, len(self.source_text), ""),)


@dataclass(frozen=True, slots=True)
class Change:
    """Instead of the characters `start` to `end` (half open) of a text there is `text`."""

    start: int
    end: int
    text: str


def changes_between(source: str, new: str) -> tuple[Change, ...]:
    """Return what makes `new` of `source`, in whole words, in order; `applied(source, …)` is `new`."""
    before, after = _WORD.findall(source), _WORD.findall(new)
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    middle, other = before[head : len(before) - tail], after[head : len(after) - tail]
    at, to = sum(map(len, before[:head])), sum(map(len, after[:head]))
    found: list[Change] = []
    for start_a, end_a, start_b, end_b in _differing(middle, other):
        first, last = at + sum(map(len, middle[:start_a])), at + sum(map(len, middle[:end_a]))
        begin, end = to + sum(map(len, other[:start_b])), to + sum(map(len, other[:end_b]))
        change = Change(first, last, new[begin:end])
        between = source[found[-1].end : first] if found else ""
        if found and len("".join(between.split())) < _APART:
            change = Change(found[-1].start, last, found[-1].text + between + change.text)
            found.pop()
        found.append(change)
    return _as_one(source, found) if _is_rewritten(source, new, found) else tuple(found)


def _is_rewritten(source: str, new: str, changes: Sequence[Change]) -> bool:
    """Return whether so little stays that it stays by chance: words alike in what is another text."""
    stays = len(source) - sum(change.end - change.start for change in changes)
    return len(changes) > 1 and stays < _STAYS * max(len(source), len(new))


def _as_one(source: str, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return changes, and all between them, as one."""
    start, end = changes[0].start, changes[-1].end
    inside = [replace(change, start=change.start - start, end=change.end - start) for change in changes]
    return (Change(start, end, applied(source[start:end], inside)),)


def applied(text: str, changes: Iterable[Change]) -> str:
    """Return a text with changes made in it, which are in order and do not overlap."""
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += (text[at : change.start], change.text)
        at = change.end
    return "".join((*pieces, text[at:]))


def merged(newest_first: Iterable[Sequence[Change]]) -> tuple[Change, ...]:
    """Return the changes of several layers on one passage, in order; where two meet, the newer one counts."""
    kept: list[Change] = []
    for changes in newest_first:
        kept += [change for change in changes if not any(_meet(change, other) for other in kept)]
    return tuple(sorted(kept, key=lambda change: (change.start, change.end)))


def placed_again(text: str, segments: Sequence[Segment], changes: Sequence[Change]) -> tuple[Segment, ...]:
    """Return the places of a text after changes: what stays keeps its own, what is new has those of what it replaced.

    New text that replaces nothing has the place of the letters it stands beside.
    """
    placed: list[Segment] = []
    at = shift = 0
    for change in (*changes, Change(len(text), len(text), "")):
        for segment in segments:
            start, end = max(segment.start, at), min(segment.end, change.start)
            if start < end:
                placed.append(Segment(start + shift, end + shift, narrowed(segment, start, end)))
        span = _place_of(segments, change) if change.text else None
        if span is not None:
            placed.append(Segment(change.start + shift, change.start + shift + len(change.text), span))
        shift += len(change.text) - (change.end - change.start)
        at = change.end
    return tuple(placed)


def original_range(changes: Iterable[Change], start: int, end: int) -> tuple[int, int]:
    """Return which characters of the original the characters `start` to `end` of a changed text stand for."""
    shift, first, last = 0, start, end
    for change in changes:
        begin, close = change.start + shift, change.start + shift + len(change.text)
        if close <= start:
            first = start - (len(change.text) - (change.end - change.start)) - shift
        elif begin <= start:
            first = change.start
        if close <= end:
            last = end - (len(change.text) - (change.end - change.start)) - shift
        elif begin < end:
            last = change.end
        shift += len(change.text) - (change.end - change.start)
    return first, max(first, last)


def _differing(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    if not before and not after:
        return
    if len(before) * len(after) > _EXACT:
        yield 0, len(before), 0, len(after)
        return
    for tag, *places in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield places[0], places[1], places[2], places[3]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two texts begin with alike."""
    most = min(len(one), len(other))
    return next((number for number in range(most) if one[number] != other[number]), most)


def _meet(one: Change, other: Change) -> bool:
    if one.start == other.start and one.end == other.end:
        return True
    return one.start < other.end and other.start < one.end


def _place_of(segments: Sequence[Segment], change: Change) -> SourceSpan | None:
    spans = spans_between(segments, change.start, change.end)
    # Beside it: the letters before, else those after.
    spans = spans or spans_between(segments, change.start - 1, change.start)
    spans = spans or spans_between(segments, change.end, change.end + 1)
    lines = [span for span in spans if isinstance(span, LineSpan)]
    if lines and len(lines) == len(spans):
        return LineSpan(min(span.start for span in lines), max(span.end for span in lines))
    return next(iter(merge_spans(spans)), None)
