"""`search`: finding passages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from kb.app.collection_scope import CollectionScope
from kb.app.facade.naming import NameSearch, Naming
from kb.app.facade.saved_searches import SavedSearching, SearchStore
from kb.app.facade.why import WhyNot
from kb.app.search_counts import Counters, counters_to_wire
from kb.app.settings import SearchSettings
from kb.app.wire.search import result_to_wire
from kb.contract.counters import CountersRequest, SearchCounters
from kb.contract.retrieval import RetrievalResponse
from kb.contract.search import FindRequest, RetrievalOptions
from kb.contract.why import Why, WhyRequest
from kb.domain.collection_settings import Settings
from kb.domain.errors import InvalidInput
from kb.domain.metadata import TrustLevel
from kb.domain.search import SearchFilters, SearchMode
from kb.retrieval.query_filters import filters_of
from kb.retrieval.query_syntax import parse
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


class Search(SavedSearching, Naming):
    """Searches with the configured settings unless a request gives others."""

    def __init__(
        self,
        retriever: Callable[[], Searching],
        settings: SearchSettings,
        *,
        kept: SearchStore,
        names: NameSearch,
        why_not: WhyNot,
        counts: Counters,
        scope: CollectionScope | None = None,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        SavedSearching.__init__(self, kept, changed)
        Naming.__init__(self, names)
        self._retriever = retriever
        self._settings = settings
        self._scope = scope
        self._why_not = why_not
        self._counts = counts

    def find(self, request: FindRequest) -> RetrievalResponse:
        """Return ranked passages and how they were found."""
        found = self._retriever().search(self._query(request))
        if self._scope is not None and not found.hits:
            found = self._scope.explained(found)
        _log.info("searched: %d hits", len(found.hits), extra={"trace_id": found.trace_id})
        return result_to_wire(found, query=request.query, explain=request.explain)

    def why(self, request: WhyRequest) -> Why:
        """Say which step dropped what was expected, with ranks and scores there; changes nothing."""
        return self._why_not.explain(self._query(request), request.expected)

    def counters(self, request: CountersRequest) -> SearchCounters:
        """Return searches in numbers."""
        return counters_to_wire(self._counts.counted(request.days), request.days)

    def _query(self, request: FindRequest) -> SearchQuery:
        if request.syntax == "plain":
            return query_of(request.query, request.mode, request, self._settings, self._scope)
        typed = parse(request.query)
        wanted = filters_of(typed)
        if wanted.collections:
            request = request.model_copy(update={"collections": wanted.collections})
        asked = query_of(typed.text, request.mode, request, self._settings, self._scope)
        return replace(asked, filters=_both(asked.filters, replace(wanted, collections=())))


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
    settings = replace(_configured(defaults), **{**own, **given, **_rerank_of(options)})
    if settings.fts_weight == 0 and settings.vector_weight == 0:
        raise InvalidInput(
            "fts_weight and vector_weight are both 0",
            hint="give at least one of them a weight above 0: links lead on from what words or vectors find",
        )
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
            phrases=filters.phrases,
            excluded=filters.excluded,
        )
    if collections:
        wanted = replace(wanted, collections=collections)
    return SearchQuery(text, SearchMode(mode), wanted, settings, asks_graph=bool(options.graph_weight))


def _rerank_of(options: RetrievalOptions) -> Mapping[str, str]:
    """Return what the request says of ordering again: `rerank` counts before the PRD's switch."""
    if options.rerank is not None:
        return {"rerank": options.rerank}
    if options.local_rerank_enabled is not None:
        return {"rerank": "local" if options.local_rerank_enabled else "off"}
    return {}


def _both(first: SearchFilters, typed: SearchFilters) -> SearchFilters:
    """Return the filters of a request with those typed into its query; where both speak of one, what was typed."""
    return replace(
        first,
        tags_any=typed.tags_any or first.tags_any,
        lang=typed.lang or first.lang,
        path_glob=typed.path_glob or first.path_glob,
        trust_min=typed.trust_min or first.trust_min,
        source_types=typed.source_types or first.source_types,
        changed_from=typed.changed_from or first.changed_from,
        changed_to=typed.changed_to or first.changed_to,
        phrases=(*first.phrases, *typed.phrases),
        excluded=(*first.excluded, *typed.excluded),
    )


def _configured(settings: SearchSettings) -> RetrievalSettings:
    return RetrievalSettings(
        top_k=settings.top_k,
        minimum_vector_similarity=settings.minimum_vector_similarity,
        fts_weight=settings.fts_weight,
        vector_weight=settings.vector_weight,
        graph_weight=settings.graph_weight,
        rerank=settings.rerank,
        rerank_seconds=settings.rerank_seconds,
        candidate_multiplier=settings.candidate_multiplier,
        context_max_characters=settings.context_max_characters,
        adjacent_chunk_count=settings.adjacent_chunk_count,
        fusion=settings.hybrid_fusion,
        rrf_k=settings.rrf_k,
        snippet_chars=settings.snippet_chars,
    )
