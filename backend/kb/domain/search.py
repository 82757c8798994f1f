"""Search: the question as values, and what a channel or the whole search gives back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kb.domain.metadata import TrustLevel
from kb.domain.recipes import ChunkId


class SearchMode(StrEnum):
    """Which channels a search may use."""

    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"


class Channel(StrEnum):
    """One way of finding chunks."""

    LEXICAL = "lexical"
    CJK = "cjk"
    VECTOR = "vector"
    GRAPH = "graph"


class Degradation(StrEnum):
    """Why a channel did less than was asked; shown to people, never silent (retrieval.md)."""

    NO_EMBEDDING_MODEL = "no_embedding_model"
    QUERY_EMBEDDING_FAILED = "query_embedding_failed"
    INDEX_INCOMPATIBLE = "index_incompatible"
    PARTIAL_VECTORS = "partial_vectors"
    VECTOR_ENGINE_FALLBACK = "vector_engine_fallback"
    LEXICAL_UNAVAILABLE = "lexical_unavailable"
    BELOW_THRESHOLD = "below_threshold"
    OVER_BUDGET = "over_budget"


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Conditions every hit meets; empty means no condition.

    Attributes:
        tags_any: at least one of these tags.
        lang: the document's language, such as `ko`.
        path_glob: a glob over workspace paths, `**` crosses folders.
        trust_min: this trust level or a higher one.
        source_types: one of these source or media types.
    """

    tags_any: tuple[str, ...] = ()
    lang: str | None = None
    path_glob: str | None = None
    trust_min: TrustLevel | None = None
    source_types: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether every chunk passes."""
        return self == SearchFilters()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk one channel found. `score` is the channel's own and compares within one reply."""

    chunk_id: ChunkId
    score: float
