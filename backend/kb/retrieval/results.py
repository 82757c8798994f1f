"""The reply of a search: hits, context for a model, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kb.domain.embeddings import EmbeddingModel
from kb.retrieval.values import Degraded, Hit, SearchQuery


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
class Diagnostics:
    """Channels asked, used and degraded; counts and milliseconds per channel and step."""

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
