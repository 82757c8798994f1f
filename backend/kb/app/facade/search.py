"""`search`: finding passages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from kb.app.collection_scope import CollectionScope
from kb.app.settings import SearchSettings
from kb.app.wire.search import result_to_wire
from kb.contract.retrieval import RetrievalResponse
from kb.contract.search import FindRequest, RetrievalOptions
from kb.domain.collection_settings import Settings
from kb.domain.errors import InvalidInput
from kb.domain.metadata import TrustLevel
from kb.domain.search import SearchFilters, SearchMode
from kb.retrieval.results import SearchResult
from kb.retrieval.values import RetrievalSettings, SearchQuery

# Settings of the request that stand in the values under the same name.
_SAME = (
    "top_k",
    "minimum_vector_similarity",
    "fts_weight",
    "vector_weight",
    "graph_weight",
    "candidate_multiplier",
    "context_max_characters",
    "adjacent_chunk_count",
    "fusion",
)

_log = logging.getLogger(__name__)


class Searching(Protocol):
    """The retriever."""

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question."""


class Search:
    """Searches with the configured settings unless a request gives others."""

    def __init__(
        self, retriever: Callable[[], Searching], settings: SearchSettings, scope: CollectionScope | None = None
    ) -> None:
        self._retriever = retriever
        self._settings = settings
        self._scope = scope

    def find(self, request: FindRequest) -> RetrievalResponse:
        """Return ranked passages and how they were found."""
        found = self._retriever().search(query_of(request.query, request.mode, request, self._settings, self._scope))
        _log.info("searched: %d hits", len(found.hits), extra={"trace_id": found.trace_id})
        return result_to_wire(found)


def query_of(
    text: str,
    mode: str,
    options: RetrievalOptions,
    defaults: SearchSettings,
    scope: CollectionScope | None = None,
) -> SearchQuery:
    """Join a question with its options, the settings of its one collection, and the configured ones.

    Raises:
        InvalidInput: a collection is archived, or no channel is left.
        NotFound: there is no collection or item of a name.
    """
    # Without what knows names they can only be ids; never are they left out.
    collections = options.collections or ()
    own: Settings = {}
    if scope is not None:
        collections = scope.ids(collections)
        own = scope.settings(collections)
    given = {name: value for name in _SAME if (value := getattr(options, name)) is not None}
    settings = replace(_configured(defaults), **{**own, **given})
    if settings.fts_weight == 0 and settings.vector_weight == 0:
        raise InvalidInput("fts_weight and vector_weight are both 0", hint="give at least one of them a weight above 0")
    filters = options.filters
    wanted = SearchFilters()
    if filters is not None:
        wanted = SearchFilters(
            tags_any=filters.tags_any,
            lang=filters.lang,
            path_glob=filters.path_glob,
            trust_min=TrustLevel(filters.trust_min) if filters.trust_min else None,
            source_types=filters.types,
            items=scope.items(filters.items) if scope is not None else filters.items,
            changed_from=filters.changed_from,
            changed_to=filters.changed_to,
        )
    if collections:
        wanted = replace(wanted, collections=collections)
    return SearchQuery(text, SearchMode(mode), wanted, settings)


def _configured(settings: SearchSettings) -> RetrievalSettings:
    return RetrievalSettings(
        top_k=settings.top_k,
        minimum_vector_similarity=settings.minimum_vector_similarity,
        fts_weight=settings.fts_weight,
        vector_weight=settings.vector_weight,
        candidate_multiplier=settings.candidate_multiplier,
        context_max_characters=settings.context_max_characters,
        adjacent_chunk_count=settings.adjacent_chunk_count,
        fusion=settings.hybrid_fusion,
        rrf_k=settings.rrf_k,
        snippet_chars=settings.snippet_chars,
    )
