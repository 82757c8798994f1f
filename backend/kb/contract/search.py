"""`search_hit.v1`, and what may be asked of a search."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kb.contract.base import Open, Request, Wire, absent_when_none
from kb.contract.citation import Citation

MAX_QUERY = 4_000

Question = Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=r"\S")]


class Filters(Request):
    """Conditions every hit meets; what is left out is no condition."""

    tags_any: tuple[str, ...] = Field(default=(), max_length=100)
    lang: str | None = Field(default=None, min_length=1, max_length=20)
    path_glob: str | None = Field(default=None, min_length=1, max_length=1_000)
    trust_min: Literal["primary", "secondary", "generated"] | None = None
    types: tuple[str, ...] = Field(default=(), max_length=50)
    items: tuple[str, ...] = Field(default=(), max_length=1_000)
    """Items by id, path or document id."""
    changed_from: date | None = Field(default=None, strict=False)
    changed_to: date | None = Field(default=None, strict=False)
    phrases: tuple[str, ...] = Field(default=(), max_length=20)
    excluded: tuple[str, ...] = Field(default=(), max_length=20)


class RetrievalOptions(Request):
    """The settings of PRD section 7.3; what is left out comes from the configuration."""

    top_k: int | None = Field(default=None, ge=1, le=20)
    minimum_vector_similarity: float | None = Field(default=None, ge=0, le=1)
    fts_weight: float | None = Field(default=None, ge=0, le=2)
    vector_weight: float | None = Field(default=None, ge=0, le=2)
    graph_weight: float | None = Field(default=None, ge=0, le=2)
    candidate_multiplier: int | None = Field(default=None, ge=2, le=10)
    context_max_characters: int | None = Field(default=None, ge=2_000, le=48_000)
    adjacent_chunk_count: int | None = Field(default=None, ge=0, le=2)
    local_rerank_enabled: bool | None = None
    rerank: Literal["off", "local", "model"] | None = None
    """`local` is what `local_rerank_enabled` turns on; given together, this counts."""
    fusion: Literal["score", "rrf"] | None = None
    filters: Filters | None = None
    collections: tuple[str, ...] | None = Field(default=None, max_length=100)
    """Ids or names of collections that are not archived; one alone brings its own retrieval settings with it."""

    @model_validator(mode="after")
    def _some_weight(self) -> RetrievalOptions:
        if self.fts_weight == 0 and self.vector_weight == 0 and self.graph_weight == 0:
            raise ValueError("at least one of fts_weight, vector_weight and graph_weight must be above 0")
        return self


class FindRequest(RetrievalOptions):
    """A question to the index."""

    query: Question
    mode: Literal["lexical", "vector", "hybrid"] = "hybrid"
    explain: bool = False
    syntax: Literal["plain", "query"] = "plain"
    """`query` reads `tag:`, `path:`, `lang:`, `type:`, `trust:`, `in:`, `after:`, `before:`, `"phrase"` and `-word`."""


class Highlight(Wire):
    """Characters (code points) `start` to `end` of the snippet, from 0, half open."""

    start: int
    end: int


class HitScores(Wire):
    """How the hit was found; ranks from 1, null where a channel did not find it."""

    method: Annotated[Literal["lexical", "vector", "hybrid"], Open]
    lexical_score: float | None
    vector_score: float | None
    fusion_score: float | None
    lexical_rank: int | None
    vector_rank: int | None


class SearchHit(Wire):
    """One ranked result. Fields after `chunker_version` are optional."""

    schema_version: Literal["search_hit.v1"] = "search_hit.v1"
    rank: int
    score: float
    chunk_id: str
    doc_id: str
    doc_path: str
    heading_path: tuple[str, ...]
    section_label: str | None
    snippet: str
    snippet_full_text: bool
    citation: Citation
    retrieval: HitScores
    index_version: str
    embedding_model: str | None
    chunker_version: str
    relevance: float | None = None
    """0 to 1, comparable across queries."""
    channels: tuple[Annotated[Literal["lexical", "cjk", "vector", "graph"], Open], ...] = ()
    cjk_rank: int | None = None
    cjk_score: float | None = None
    graph_rank: int | None = None
    graph_score: float | None = None
    vector_similarity: float | None = None
    rank_before_rerank: int | None = None
    features: dict[str, float] | None = None
    context_group: int | None = None
    edited: bool | None = None
    highlights: tuple[Highlight, ...] = ()
    item_id: str | None = None
    title: str | None = None
    lang: str | None = None
    media: str | None = None
    stale: bool | None = absent_when_none
    """True when the file is newer than this passage, and its newer content could not be read."""
