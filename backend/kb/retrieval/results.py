"""The reply of a search: hits, context for a model, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kb.domain.embeddings import EmbeddingModel
from kb.retrieval.values import ChannelScores, Degraded, Hit, SearchQuery


@dataclass(frozen=True, slots=True)
class ContextGroup:
    """Consecutive text of one document around hits; `numbers` are the ranks of those hits."""

    doc_id: str
    numbers: tuple[int, ...]
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What would be shown to a model, best first, within the budget."""

    character_count: int
    truncated: bool
    groups: tuple[ContextGroup, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate that may be seen, on its way through the steps.

    Attributes:
        fused_rank: from 1, before anything is taken away.
        rerank_rank: from 1 after reranking, None where nothing was reranked.
        removed_by: `threshold`, `top_k` or `budget`; None of a hit that is also in the context.
    """

    chunk_id: str
    path: str
    scores: ChannelScores
    fused_rank: int
    fused_score: float
    relevance: float
    rerank_rank: int | None
    rerank_score: float | None
    rank: int | None
    removed_by: str | None


@dataclass(frozen=True, slots=True)
class ChannelPlace:
    """Where the best of some passages stands in a channel that gives all it finds, `of` of them.

    Attributes:
        rank: from 1, None when the channel finds none of the passages.
        limit: how many the channel may give to the next step.
    """

    channel: str
    rank: int | None
    score: float | None
    of: int
    limit: int
    chunk_id: str | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """How many candidates went into a step and came out of it."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Channels asked, used and degraded; counts and milliseconds per channel and step.

    Attributes:
        rerank: what ordered again, `local` or a model's name; None when nothing did.
    """

    requested_channels: tuple[str, ...]
    used_channels: tuple[str, ...]
    degraded: tuple[Degraded, ...]
    candidate_counts: Mapping[str, int]
    milliseconds: Mapping[str, float]
    fusion: str
    vector_engine: str | None
    vectors_scanned: int
    removed_by_gate: int
    removed_by_threshold: int
    removed_by_budget: int
    stages: tuple[Stage, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    rerank: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Everything one search found and why."""

    query: SearchQuery
    trace_id: str
    hits: tuple[Hit, ...]
    context: Context
    diagnostics: Diagnostics
    duration_ms: float
    model: EmbeddingModel | None
    passages_searched: int
