"""Search: which channels and which documents, and what did less than was asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from kb.domain.metadata import TrustLevel


class SearchMode(StrEnum):
    """Which channels a search may use."""

    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"


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
    ROUGH_RELEVANCE = "rough_relevance"
    GRAPH_OFF = "graph_off"
    GRAPH_NO_EVIDENCE = "graph_no_evidence"
    RERANK_FAILED = "rerank_failed"
    EMPTY_SCOPE = "empty_scope"
    EMBEDDING_ENDPOINT_UNREACHABLE = "embedding_endpoint_unreachable"


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Conditions every hit meets; empty means no condition.

    Attributes:
        tags_any: at least one of these tags.
        lang: the document's language, such as `ko`.
        path_glob: a glob over workspace paths, `**` crosses folders.
        trust_min: this trust level or a higher one.
        source_types: one of these source or media types.
        collections: in one of these collections, by their ids.
        items: one of these items, by their ids.
        changed_from, changed_to: the day the document was last changed, both included, by its metadata.
        phrases: each of these word sequences stands in the passage.
        excluded: none of these words or word sequences does.
    """

    tags_any: tuple[str, ...] = ()
    lang: str | None = None
    path_glob: str | None = None
    trust_min: TrustLevel | None = None
    source_types: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    changed_from: date | None = None
    changed_to: date | None = None
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether every chunk passes."""
        return self == SearchFilters()
