"""`retrieval_response.v1`: hits, the context made of them, and how both came about (PRD section 9.3)."""

from __future__ import annotations

from typing import Annotated, Literal

from kb.contract.base import Open, Wire
from kb.contract.context import Context
from kb.contract.search import SearchHit

Channel = Annotated[Literal["lexical", "cjk", "vector", "graph"], Open]


class AppliedSettings(Wire):
    """The settings a search ran with."""

    top_k: int
    minimum_vector_similarity: float
    fts_weight: float
    vector_weight: float
    graph_weight: float
    candidate_multiplier: int
    context_max_characters: int
    adjacent_chunk_count: int
    local_rerank_enabled: bool
    rerank: Annotated[Literal["off", "local", "model"], Open] = "off"
    fusion: str
    rrf_k: int
    mode: Annotated[Literal["lexical", "vector", "hybrid"], Open]


class DegradedChannel(Wire):
    """A channel that did less than was asked; `reason` is a stable word, `detail` a sentence."""

    channel: str
    reason: str
    detail: str = ""


class Removed(Wire):
    """How many candidates each step took away."""

    gate: int
    threshold: int
    budget: int


class Stage(Wire):
    """How many candidates went into a step (`gate`, `threshold`, `top_k`, `context`) and came out of it."""

    name: str
    before: int
    after: int


class Candidate(Wire):
    """One candidate on its way through the steps, ranks from 1."""

    chunk_id: str
    doc_path: str
    lexical_rank: int | None
    lexical_score: float | None
    cjk_rank: int | None
    cjk_score: float | None
    vector_rank: int | None
    vector_similarity: float | None
    graph_rank: int | None
    graph_score: float | None
    fused_rank: int
    fused_score: float
    relevance: float
    rerank_rank: int | None
    """Null where nothing was ordered again."""
    rerank_score: float | None
    rank: int | None
    """Among the results; null of what is not shown."""
    removed_by: Annotated[Literal["threshold", "top_k", "budget"] | None, Open]
    """`budget` is shown, and has no room in the context."""


class Diagnostics(Wire):
    """Channels asked, used and degraded; counts and milliseconds by channel or step."""

    requested_channels: tuple[Channel, ...]
    used_channels: tuple[Channel, ...]
    degraded_channels: tuple[DegradedChannel, ...]
    candidate_counts: dict[str, int]
    milliseconds: dict[str, float]
    fusion: str
    vector_engine: str | None
    vectors_scanned: int
    removed: Removed
    rerank: str | None = None
    """`local` or the model that ordered again; null when nothing did."""
    collections: tuple[str, ...] = ()
    """Ids of the collections searched; none means the whole library."""
    stages: tuple[Stage, ...] = ()
    candidates: tuple[Candidate, ...] | None = None
    """Every candidate that may be seen, by fused rank; with `explain`."""


class RetrievalResponse(Wire):
    """The reply of a search."""

    schema_version: Literal["retrieval_response.v1"] = "retrieval_response.v1"
    query: str
    duration_ms: float
    settings: AppliedSettings
    diagnostics: Diagnostics
    results: tuple[SearchHit, ...]
    context: Context
    trace_id: str | None = None
    passages_searched: int | None = None
