"""A quote is found wherever it stands in a document, however the document was cut into passages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kb.app.finding import PassageFinder, within_or_across
from kb.app.quotes import Quote
from kb.domain.catalogue import ChunkInspection, Page
from kb.domain.chunks import Chunk, StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.spans import PageSpan, Segment

DOC = DocumentId("d" * 32)
TEXT = "mist over the quay hides nine grey boats until the bell of saint orla rings and their crews wake"
WORDS = TEXT.split()


@dataclass(frozen=True)
class Passages:
    """The passages of one document."""

    stored: tuple[StoredChunk, ...]
    as_it_was: tuple[StoredChunk, ...] = ()

    def chunk(self, chunk_id: ChunkId) -> ChunkInspection | None:
        raise AssertionError(chunk_id)

    def chunks(self, doc_id: DocumentId, after: int = -1, limit: int = 100) -> Page[StoredChunk]:
        assert doc_id == DOC
        following = tuple(s for s in self.stored if s.chunk.ordinal > after)
        rest = following[limit:]
        return Page(following[:limit], str(following[limit - 1].chunk.ordinal) if rest else None)

    def originals(self, doc_id: DocumentId) -> tuple[StoredChunk, ...]:
        assert doc_id == DOC
        return self.as_it_was


def cut_into(words: list[str], cuts: list[int], repeated: int) -> Passages:
    """Cut a text of one page at words; each passage repeats the last `repeated` words of the one before."""
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(words)}), len(words)]
    places = [sum(len(word) + 1 for word in words[:number]) for number in range(len(words) + 1)]
    stored = []
    for ordinal, (first, last) in enumerate(pairwise(edges)):
        again = words[max(first - repeated, 0) : first]
        lead = " ".join(again) + "\n" if again else ""
        own = " ".join(words[first:last])
        span = PageSpan(1, places[first], places[first] + len(own))
        segments = (Segment(len(lead), len(lead) + len(own), span),)
        chunk = Chunk(ChunkId(f"{ordinal:032x}"), DOC, ordinal, lead + own, (), (), segments, 9, "c1", "p")
        stored.append(StoredChunk(ChunkKey(ordinal + 1), chunk, "item", WorkspacePath("a.pdf"), "A", "en", "pdf"))
    return Passages(tuple(stored))


@given(
    st.lists(st.integers(1, len(WORDS) - 1), max_size=6),
    st.integers(0, 3),
    st.integers(0, len(WORDS) - 2),
    st.integers(2, len(WORDS)),
)
def test_a_quote_of_several_passages_is_found_with_all_its_places(
    cuts: list[int], repeated: int, first: int, length: int
) -> None:
    quote = " ".join(WORDS[first : first + length])
    finder = PassageFinder(cut_into(WORDS, cuts, repeated))
    found = finder.find(DOC, quote)
    assert found is not None
    assert found.is_whole
    assert " ".join(found.stored.chunk.text[found.start : found.end].split()) == quote
    inside = [s for s in found.stored.chunk.segments if s.start < found.end and found.start < s.end]
    # All but the spaces and line feeds between passages has a place.
    covered = sum(min(s.end, found.end) - max(s.start, found.start) for s in inside)
    assert covered >= len(quote) - len(cuts)
    assert finder.find(DOC, quote + " never") is None


def test_a_quote_over_the_edge_of_a_passage_is_found_from_either_side() -> None:
    passages = cut_into(WORDS, [7], 2)
    quote = Quote.of(" ".join(WORDS[4:10]))
    for stored in passages.stored:
        found = within_or_across(stored, quote, passages.stored)
        assert found is not None
        assert found.is_whole
        assert " ".join(found.stored.chunk.text[found.start : found.end].split()) == " ".join(WORDS[4:10])


def test_a_quote_read_a_little_differently_is_found_over_the_edge_of_a_passage() -> None:
    finder = PassageFinder(cut_into(WORDS, [9], 0))
    quote = " ".join(WORDS[5:14]).replace("grey", "qrey").replace("bell", "be1l")
    assert finder.find(DOC, quote) is None
    found = finder.find(DOC, quote, tolerant=True)
    assert found is not None
    assert " ".join(found.stored.chunk.text[found.start : found.end].split()) == " ".join(WORDS[5:14])
