"""Hits and search results made by hand, and a search that returns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.domain.chunks import Chunk, StoredChunk
from kb.domain.citations import cite
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.spans import LineSpan, Segment
from kb.retrieval.results import Context, Diagnostics, SearchResult
from kb.retrieval.values import ChannelScores, Degraded, Hit, SearchQuery

MODEL = EmbeddingModel("e5", "1", "fake", 8, "mean", "query: ", "passage: ", 500)


def hit(
    rank: int,
    text: str,
    *,
    relevance: float = 0.8,
    path: str = "",
    heading: Sequence[str] = (),
    first_line: int = 1,
    media: str = "markdown",
) -> Hit:
    """A hit on a chunk whose every line of text is a line of its file, from `first_line`."""
    segments: list[Segment] = []
    start = 0
    for number, line in enumerate(text.split("\n")):
        if line:
            segments.append(Segment(start, start + len(line), LineSpan(first_line + number, first_line + number)))
        start += len(line) + 1
    where = WorkspacePath(path or f"notes/{rank}.md")
    chunk = Chunk(
        chunk_id=ChunkId(f"{rank:032x}"),
        doc_id=DocumentId(f"{rank + 1000:032x}"),
        ordinal=0,
        text=text,
        heading_path=tuple(heading),
        block_ids=(),
        segments=tuple(segments),
        token_estimate=len(text) // 4,
        chunker_version="test",
        policy_hash="0" * 32,
    )
    stored = StoredChunk(ChunkKey(rank), chunk, f"item-{rank}", where, f"Note {rank}", "en", media)
    place = cite(where, chunk.source_spans, chunk.section_label) if segments else cite(where, [LineSpan(1, 1)], None)
    scores = ChannelScores(lexical_rank=rank, lexical_score=9.0)
    return Hit(rank, relevance, relevance, scores, stored, place, text[:80], len(text) <= 80, ())


def result(
    question: str,
    hits: Sequence[Hit],
    *,
    passages: int = 12,
    channels: Sequence[str] = ("lexical",),
    degraded: Sequence[Degraded] = (),
    query: SearchQuery | None = None,
) -> SearchResult:
    return SearchResult(
        query=query or SearchQuery(question),
        trace_id="search-1",
        hits=tuple(hits),
        context=Context(0, False, ()),
        diagnostics=Diagnostics(
            requested_channels=tuple(channels),
            used_channels=tuple(channels),
            degraded=tuple(degraded),
            candidate_counts={},
            milliseconds={},
            fusion="score",
            vector_engine=None,
            vectors_scanned=0,
            removed_by_gate=0,
            removed_by_threshold=0,
            removed_by_budget=0,
        ),
        duration_ms=1.0,
        model=MODEL,
        passages_searched=passages,
    )


@dataclass
class FakeEvidence:
    """Gives the same hits for every question."""

    hits: Sequence[Hit]
    passages: int = 12
    channels: Sequence[str] = ("lexical",)
    degraded: Sequence[Degraded] = ()
    unread: int = 2
    asked: list[SearchQuery] = field(default_factory=list)

    def search(self, query: SearchQuery) -> SearchResult:
        self.asked.append(query)
        return result(
            query.text,
            self.hits,
            passages=self.passages,
            channels=self.channels,
            degraded=self.degraded,
            query=query,
        )

    def unread_items(self) -> int:
        return self.unread
