"""Snippets: the part of a chunk that shows best why it was found, and its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.chunks import Chunk
from kb.domain.citations import Citation, cite
from kb.domain.paths import WorkspacePath
from kb.domain.placed import spans_between
from kb.domain.spans import Segment
from kb.domain.text import sentences
from kb.retrieval.terms import Match, Terms, matches
from kb.retrieval.values import Highlight

_WORD = re.compile(r"\S+")
_SPACE = re.compile(r"\s+")
_CELLS = " | "


@dataclass(frozen=True, slots=True)
class Snippet:
    """Characters `start` to `end` of a chunk's text, with the matching words in them.

    Attributes:
        text: with white space made single, as shown; rows of a table are lines.
        highlights: offsets into `text`.
    """

    start: int
    end: int
    text: str
    is_full_text: bool
    highlights: tuple[Highlight, ...]


def own_start(text: str, segments: Sequence[Segment]) -> int:
    """Return where a chunk's own text begins: what it repeats of the chunk before has no place in it."""
    return text.rfind("\n", 0, segments[0].start) + 1 if segments else 0


def snippet_of(text: str, terms: Terms, size: int, begin: int = 0) -> Snippet:
    """Return the window of about `size` characters from `begin` on with the most different terms in it.

    It starts at the sentence of its first match where that fits. Without any match it is the
    beginning of the text.
    """
    found = [match for match in matches(terms, text) if match.start >= begin]
    if len(text) - begin <= size:
        start, end = begin, len(text)
    elif not found:
        start, end = begin, _word_end(text, begin + size)
    else:
        first = _best_first(found, size)
        start = max(begin, _sentence_start(text, found[first].start, size, _last_end(found, first, size)))
        end = _word_end(text, start + size)
    return _shown(text, start, end, found)


def narrowed_citation(path: WorkspacePath, chunk: Chunk, snippet: Snippet, terms: Terms) -> Citation:
    """Cite the places that hold the match; the whole chunk when no word of it matched."""
    inside = [m for m in matches(terms, chunk.text) if snippet.start <= m.start and m.end <= snippet.end]
    narrow = spans_between(chunk.segments, inside[0].start, _placed_end(chunk, inside[-1].end)) if inside else ()
    return cite(path, narrow or chunk.source_spans, chunk.section_label)


def _placed_end(chunk: Chunk, end: int) -> int:
    """Return `end`, or past the words that follow on its line where it lies before them, as in `1. Words`."""
    following = next((s for s in chunk.segments if s.end >= end), None)
    if following is None or following.start < end or "\n" in chunk.text[end : following.start]:
        return end
    return following.start + 1


def _best_first(found: Sequence[Match], size: int) -> int:
    """Return the index of the match that opens the window with the most different terms."""
    best, best_score = 0, (0, 0)
    for index, match in enumerate(found):
        window = [m for m in found[index : index + 64] if m.end <= match.start + size]
        score = (len({m.term for m in window}), len(window))
        if score > best_score:
            best, best_score = index, score
    return best


def _last_end(found: Sequence[Match], first: int, size: int) -> int:
    limit = found[first].start + size
    return max(m.end for m in found[first:] if m.end <= limit or m is found[first])


def _sentence_start(text: str, position: int, size: int, last_end: int) -> int:
    """Return the start of the sentence around `position`, or less far back if it would not fit."""
    base = max(0, position - size)
    start = position
    for sentence_start, sentence_end in sentences(text[base : position + 1]):
        if base + sentence_start <= position < base + sentence_end or base + sentence_end > position:
            start = base + sentence_start
    if last_end - start > size:
        start = max(position - max(0, (size - (last_end - position)) // 2), 0)
        return _word_start(text, start, position)
    return start


def _word_start(text: str, start: int, position: int) -> int:
    """Move a start that cuts a word on to the next one, at most 24 characters and not beyond `position`."""
    if start == 0 or text[start - 1].isspace():
        return start
    space = _SPACE.search(text, start, min(start + 24, position))
    return space.end() if space else start


def _word_end(text: str, end: int) -> int:
    """Move an end back to the end of a word, at most 24 characters."""
    if end >= len(text):
        return len(text)
    space = max(text.rfind(" ", end - 24, end + 1), text.rfind("\n", end - 24, end + 1))
    return space if space > 0 else end


def _before(text: str, start: int, place: int) -> str:
    """Return what parts a word from the one before it: a row of a table keeps a line of its own."""
    gap = text.rfind("\n", start, place)
    if gap < 0 or not text[gap:place].isspace():
        return " "
    end = text.find("\n", place)
    is_row = text.find(_CELLS, place, end if end >= 0 else len(text)) >= 0
    return "\n" if is_row or _CELLS in text[text.rfind("\n", 0, gap) + 1 : gap] else " "


def _shown(text: str, start: int, end: int, found: Sequence[Match]) -> Snippet:
    words = [(word.start(), word[0]) for word in _WORD.finditer(text, start, end)]
    begins = [place for place, _ in words]
    line = "".join([_before(text, start, place) + word for place, word in words])[1:]
    shown_at: list[int] = []
    length = 0
    for _, word in words:
        shown_at.append(length)
        length += len(word) + 1
    highlights: list[Highlight] = []
    for match in found:
        if match.start < start or match.end > end:
            continue
        # A match begins at a letter and ends after one: the end may be that of its word.
        first, last = bisect_right(begins, match.start) - 1, bisect_right(begins, match.end - 1) - 1
        low = shown_at[first] + match.start - begins[first]
        high = shown_at[last] + match.end - begins[last]
        if highlights and low <= highlights[-1].end:
            highlights[-1] = Highlight(highlights[-1].start, max(high, highlights[-1].end))
        else:
            highlights.append(Highlight(low, high))
    return Snippet(start, end, line, start == 0 and end == len(text), tuple(highlights))
