"""Searches, and the moment in which what they search is exchanged: those under way end on what they began with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from kb.domain.embeddings import ChunkKey
from kb.domain.search import SearchFilters
from kb.retrieval.results import ChannelPlace, SearchResult
from kb.retrieval.retriever import Retriever
from kb.retrieval.values import SearchQuery

_PATIENCE_S = 5.0
_COURTESY_S = 0.2


class Turnstile:
    """Lets searches through, and keeps them out while everything they need is exchanged."""

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        self._patience = patience_s
        self._changed = threading.Condition()
        self._inside = 0
        self._is_shut = False

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Hold one search; it waits while the turnstile is shut."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_shut)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def let_by(self) -> None:
        """Wait while a search is inside, at most a fifth of a second: background work asks at its safe points.

        The bound keeps indexing going however many people search.
        """
        if self._inside:
            with self._changed:
                self._changed.wait_for(lambda: not self._inside, _COURTESY_S)

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Wait until nobody is inside and keep everybody out; a search that hangs is not waited for for ever."""
        with self._changed:
            self._is_shut = True
            until = time.monotonic() + self._patience
            self._changed.wait_for(lambda: not self._inside, max(until - time.monotonic(), 0))
        try:
            yield
        finally:
            with self._changed:
                self._is_shut = False
                self._changed.notify_all()


class ServingRetriever:
    """Searches whichever generation serves when it is asked."""

    def __init__(
        self,
        turnstile: Turnstile,
        ready: Callable[[], Retriever],
        told: Callable[[SearchResult], object] = lambda _result: None,
    ) -> None:
        self._turnstile = turnstile
        self._ready = ready
        self._told = told

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question."""
        with self._turnstile.searching():
            found = self._ready().search(query)
        self._told(found)
        return found

    def places(self, query: SearchQuery, chosen: Mapping[ChunkKey, str]) -> tuple[ChannelPlace, ...]:
        """Return where the best of chosen passages stands in each channel, without any limit."""
        with self._turnstile.searching():
            return self._ready().places(query, chosen)

    def meeting(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        """Return the passages that meet filters, rising."""
        with self._turnstile.searching():
            return self._ready().meeting(filters)
