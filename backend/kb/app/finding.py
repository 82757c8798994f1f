"""Finding the passage of an item that holds a quote, where the item may have changed since the quote was taken."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kb.app.extents import meet
from kb.app.ports import Passages
from kb.app.quotes import Quote, letters_of, likeness, locate
from kb.domain.chunks import Chunk, StoredChunk
from kb.domain.citations import Citation, cite
from kb.domain.placed import cut, shift, spans_between
from kb.domain.places import Place
from kb.domain.recipes import DocumentId
from kb.domain.spans import Segment
from kb.domain.text import sentences
from kb.retrieval.snippets import own_start

_PAGE = 200
_CLOSE_LOOKS = 8
_ANCHORS = 3
_SHORTEST_ANCHOR = 20
_BETWEEN = "\n\n"


class Found(NamedTuple):
    """A passage, or several joined, and the characters of it that hold the quote."""

    stored: StoredChunk
    start: int
    end: int

    @property
    def citation(self) -> Citation:
        """Return the place of those characters."""
        chunk = self.stored.chunk
        spans = spans_between(chunk.segments, self.start, self.end)
        return cite(self.stored.path, spans or chunk.source_spans, chunk.section_label)

    @property
    def is_whole(self) -> bool:
        """Return whether all of it has a place: it does not begin in what repeats the passage before."""
        return self.start >= own_start(self.stored.chunk.text, self.stored.chunk.segments)


@dataclass(frozen=True, slots=True)
class PassageFinder:
    """Looks through the shown passages of one document after another."""

    chunks: Passages

    def find(self, doc_id: DocumentId, text: str, near: Place | None = None, *, tolerant: bool = False) -> Found | None:
        """Return where a quote stands: at `near` if it can be, else where it stands first.

        Args:
            doc_id: the document.
            text: the quote; it may run over several passages.
            near: the place it is expected at.
            tolerant: a few letters may differ; the likest passages are looked at where none has it letter for letter.
        """
        quote = Quote.of(text)
        first: Found | None = None
        likest: list[tuple[int, int, StoredChunk]] = []
        window = _Window(quote)
        for number, stored in enumerate(self._passages(doc_id)):
            found = window.add(stored)
            if found is not None:
                if near is None or meet(found.citation.place, near):
                    return found
                first = first or found
            elif tolerant and first is None and (score := likeness(stored.chunk.text, quote)):
                heapq.heappush(likest, (score, -number, stored))
                if len(likest) > _CLOSE_LOOKS:
                    heapq.heappop(likest)
        return first or self._nearest(likest, quote, near) or self._as_it_was(doc_id, quote)

    def again(self, doc_id: DocumentId, chunk: Chunk, *, tolerant: bool = False) -> Found | None:
        """Return where a passage of an earlier version stands now: as a whole, else its longest sentences."""
        own = chunk.text[own_start(chunk.text, chunk.segments) :]
        longest = sorted((own[start:end] for start, end in sentences(own)), key=len, reverse=True)
        for text in (own, *[anchor for anchor in longest[:_ANCHORS] if len(anchor) >= _SHORTEST_ANCHOR]):
            found = self.find(doc_id, text, tolerant=tolerant)
            if found is not None:
                return found
        return None

    def around(self, stored: StoredChunk) -> tuple[StoredChunk, ...]:
        """Return a shown passage with those before and after it."""
        return self.chunks.chunks(stored.chunk.doc_id, stored.chunk.ordinal - 2, 3).entries

    def _nearest(self, likest: list[tuple[int, int, StoredChunk]], quote: Quote, near: Place | None) -> Found | None:
        best: Found | None = None
        for _, _, stored in sorted(likest, key=lambda entry: entry[:2], reverse=True):
            found = within_or_across(stored, quote, self.around(stored))
            if found is not None and near is not None and meet(found.citation.place, near):
                return found
            best = best or found
        return best

    def _as_it_was(self, doc_id: DocumentId, quote: Quote) -> Found | None:
        """Return where the file says it, though a person changed that passage."""
        found = (within(stored, quote) for stored in self.chunks.originals(doc_id))
        return next((one for one in found if one is not None), None)

    def _passages(self, doc_id: DocumentId) -> Iterator[StoredChunk]:
        after = -1
        while True:
            page = self.chunks.chunks(doc_id, after, _PAGE)
            yield from page.entries
            if page.next is None:
                return
            after = int(page.next)


class _Window:
    """Finds a quote letter for letter in one passage after the other, or where they meet; each is folded once."""

    def __init__(self, quote: Quote) -> None:
        self._quote = quote
        # A sign at the edge of a piece may be taken for a dash.
        self._wanted = quote.letters.lstrip("-\u2212")
        self._tail = ""
        self._last: deque[tuple[int, StoredChunk]] = deque()

    def add(self, stored: StoredChunk) -> Found | None:
        chunk = stored.chunk
        begin = own_start(chunk.text, chunk.segments)
        repeated, own = letters_of(chunk.text[:begin]), letters_of(chunk.text[begin:])
        found = within(stored, self._quote) if self._wanted in repeated + own else None
        if self._last and self._last[-1][1].chunk.ordinal + 1 != chunk.ordinal:
            self._tail = ""
            self._last.clear()
        size = len(self._wanted)
        if (found is None or not found.is_whole) and self._tail and self._wanted in self._tail + own[:size]:
            across = within(joined([*[known for _, known in self._last], stored]), self._quote)
            found = across or found
        self._tail = (self._tail + own)[-size:] if size else ""
        self._last.append((len(own), stored))
        while len(self._last) > 1 and sum(length for length, _ in self._last) - self._last[0][0] >= size:
            self._last.popleft()
        return found


def joined(parts: Sequence[StoredChunk]) -> StoredChunk:
    """Return neighbouring passages as one, in the name of the first: what one repeats of another stands in it once."""
    first = parts[0]
    text, segments = first.chunk.text, list(first.chunk.segments)
    for part in parts[1:]:
        chunk = part.chunk
        begin = own_start(chunk.text, chunk.segments)
        own: Sequence[Segment] = cut(chunk.segments, begin, len(chunk.text))
        segments += shift(own, len(text) + len(_BETWEEN))
        text += _BETWEEN + chunk.text[begin:]
    return replace(first, chunk=replace(first.chunk, text=text, segments=tuple(segments)))


def within(stored: StoredChunk, quote: Quote, *, tolerant: bool = False) -> Found | None:
    """Return where a quote stands in one passage; what a passage repeats of another has no place in it."""
    chunk = stored.chunk
    place = locate(chunk.text, quote, own_start(chunk.text, chunk.segments), tolerant=tolerant)
    if place is None or not any(s.start < place[1] and place[0] < s.end for s in chunk.segments):
        return None
    return Found(stored, *place)


def within_or_across(stored: StoredChunk, quote: Quote, around: Sequence[StoredChunk]) -> Found | None:
    """Return where a quote stands in a passage, or in it and those next to it (`around`, with the passage itself).

    Letter for letter if it does so, else as near as recognised text lets it be.
    """
    nearest: Found | None = None
    for tolerant in (False, True):
        alone = within(stored, quote, tolerant=tolerant)
        if alone is not None and alone.is_whole:
            return alone
        together = within(joined(around), quote, tolerant=tolerant) if len(around) > 1 else None
        nearest = nearest or together or alone
    return nearest
