"""Finding the passage of an item that holds a quote, where the item may have changed since the quote was taken."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kb.app.extents import meet
from kb.app.ports import Chunks
from kb.app.quotes import Quote, likeness, locate, may_hold
from kb.domain.chunks import Chunk, StoredChunk
from kb.domain.citations import Citation, cite
from kb.domain.placed import spans_between
from kb.domain.places import Place
from kb.domain.recipes import DocumentId
from kb.domain.text import sentences
from kb.retrieval.snippets import own_start

_PAGE = 200
_CLOSE_LOOKS = 8
_ANCHORS = 3
_SHORTEST_ANCHOR = 20


class Found(NamedTuple):
    """A passage and the characters of it that hold the quote."""

    stored: StoredChunk
    start: int
    end: int

    @property
    def citation(self) -> Citation:
        """Return the place of those characters."""
        chunk = self.stored.chunk
        spans = spans_between(chunk.segments, self.start, self.end)
        return cite(self.stored.path, spans or chunk.source_spans, chunk.section_label)


@dataclass(frozen=True, slots=True)
class PassageFinder:
    """Looks through the shown passages of one document after another."""

    chunks: Chunks

    def find(self, doc_id: DocumentId, text: str, near: Place | None = None, *, tolerant: bool = False) -> Found | None:
        """Return where a quote stands: at `near` if it can be, else where it stands first.

        Args:
            doc_id: the document.
            text: the quote.
            near: the place it is expected at.
            tolerant: a few letters may differ; the likest passages are looked at where none has it letter for letter.
        """
        quote = Quote.of(text)
        first: Found | None = None
        likest: list[tuple[int, int, StoredChunk]] = []
        for number, stored in enumerate(self._passages(doc_id)):
            found = within(stored, quote) if may_hold(stored.chunk.text, quote) else None
            if found is not None:
                if near is None or meet(found.citation.place, near):
                    return found
                first = first or found
            elif tolerant and first is None and (score := likeness(stored.chunk.text, quote)):
                heapq.heappush(likest, (score, -number, stored))
                if len(likest) > _CLOSE_LOOKS:
                    heapq.heappop(likest)
        return first or self._nearest(likest, quote, near)

    def again(self, doc_id: DocumentId, chunk: Chunk, *, tolerant: bool = False) -> Found | None:
        """Return where a passage of an earlier version stands now: as a whole, else its longest sentences."""
        own = chunk.text[own_start(chunk.text, chunk.segments) :]
        longest = sorted((own[start:end] for start, end in sentences(own)), key=len, reverse=True)
        for text in (own, *[anchor for anchor in longest[:_ANCHORS] if len(anchor) >= _SHORTEST_ANCHOR]):
            found = self.find(doc_id, text, tolerant=tolerant)
            if found is not None:
                return found
        return None

    def _nearest(self, likest: list[tuple[int, int, StoredChunk]], quote: Quote, near: Place | None) -> Found | None:
        best: Found | None = None
        for _, _, stored in sorted(likest, key=lambda entry: entry[:2], reverse=True):
            found = within(stored, quote, tolerant=True)
            if found is not None and near is not None and meet(found.citation.place, near):
                return found
            best = best or found
        return best

    def _passages(self, doc_id: DocumentId) -> Iterator[StoredChunk]:
        after = -1
        while True:
            page = self.chunks.chunks(doc_id, after, _PAGE)
            yield from page.entries
            if page.next is None:
                return
            after = int(page.next)


def within(stored: StoredChunk, quote: Quote, *, tolerant: bool = False) -> Found | None:
    """Return where a quote stands in one passage; what a passage repeats of another has no place in it."""
    chunk = stored.chunk
    place = locate(chunk.text, quote, own_start(chunk.text, chunk.segments), tolerant=tolerant)
    if place is None or not any(s.start < place[1] and place[0] < s.end for s in chunk.segments):
        return None
    return Found(stored, *place)
