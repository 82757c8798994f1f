"""Values of a search: settings, queries, fused candidates, hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kb.domain.chunks import StoredChunk
from kb.domain.citations import Citation
from kb.domain.embeddings import ChunkKey
from kb.domain.search import SearchFilters, SearchMode

FusionName = Literal["score", "rrf"]
RerankName = Literal["off", "local", "model"]


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """The PRD's settings (section 7.3) and ours; ranges are checked where they are read."""

    top_k: int = 6
    minimum_vector_similarity: float = 0.0
    fts_weight: float = 1.0
    vector_weight: float = 1.0
    graph_weight: float = 0.8
    candidate_multiplier: int = 4
    context_max_characters: int = 16_000
    adjacent_chunk_count: int = 0
    rerank: RerankName = "off"
    rerank_seconds: float = 1.5
    fusion: FusionName = "score"
    rrf_k: int = 60
    snippet_chars: int = 220


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question to the index; `text` has 1 to 4,000 characters.

    Attributes:
        asks_graph: the request itself gives the graph channel a weight: that it is off is then said.
    """

    text: str
    mode: SearchMode = SearchMode.HYBRID
    filters: SearchFilters = field(default_factory=SearchFilters)
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)
    asks_graph: bool = False


@dataclass(frozen=True, slots=True)
class ChannelScores:
    """Ranks (from 1) and raw scores of one chunk, channel by channel; None where not found."""

    lexical_rank: int | None = None
    lexical_score: float | None = None
    cjk_rank: int | None = None
    cjk_score: float | None = None
    vector_rank: int | None = None
    vector_similarity: float | None = None
    graph_rank: int | None = None
    graph_score: float | None = None

    @property
    def channels(self) -> tuple[str, ...]:
        """Return the channels that found the chunk, in their fixed order."""
        ranks = (
            ("lexical", self.lexical_rank),
            ("cjk", self.cjk_rank),
            ("vector", self.vector_rank),
            ("graph", self.graph_rank),
        )
        return tuple(name for name, rank in ranks if rank is not None)


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate after fusion: `score` orders, `relevance` (0-1) compares across queries."""

    key: ChunkKey
    score: float
    relevance: float
    scores: ChannelScores


@dataclass(frozen=True, slots=True)
class Highlight:
    """Characters `start` to `end` of a snippet, from 0, half open."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked result, ready to show."""

    rank: int
    score: float
    relevance: float
    scores: ChannelScores
    stored: StoredChunk
    citation: Citation
    snippet: str
    snippet_is_full_text: bool
    highlights: tuple[Highlight, ...]
    rank_before_rerank: int | None = None
    features: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Degraded:
    """A channel that did less than was asked: a stable reason and a sentence."""

    channel: str
    reason: str
    detail: str = ""
