"""From a question to ranked hits: plan, candidates, gate, fusion, thresholds, context."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey, Vector
from kb.domain.search import Degradation, SearchMode
from kb.retrieval.candidates import Channels, Found, VectorSide, requested_channels
from kb.retrieval.context import gather_context
from kb.retrieval.ports import GatedChunks, LibraryFacts, TextSearch
from kb.retrieval.results import Context, Diagnostics, SearchResult
from kb.retrieval.stages import above_threshold, fused, hits_of
from kb.retrieval.trace import Trace
from kb.retrieval.values import Fused, SearchQuery

__all__ = ["Retriever", "VectorSide"]

_WIDENINGS = 3


class Retriever:
    """Searches one library. Safe to call from several threads when its ports are.

    Args:
        chunks: the final gate.
        text: the lexical and cjk channels.
        vectors: the vector channel, None without an embedding model.
        clock_ms: a monotonic clock in milliseconds.
        new_trace_id: makes `ret_...` ids.
    """

    def __init__(
        self,
        chunks: GatedChunks,
        text: TextSearch,
        vectors: VectorSide | None,
        *,
        clock_ms: Callable[[], float],
        new_trace_id: Callable[[], str],
    ) -> None:
        self._chunks = chunks
        self._channels = Channels(chunks, text, vectors)
        self._model = vectors.embedder.model if vectors else None
        self._clock = clock_ms
        self._new_trace_id = new_trace_id

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question, the same for the same index, always."""
        started = self._clock()
        trace = Trace(self._clock)
        facts = self._chunks.facts(self._model)
        ranked, stored = self._ranked(query, facts, trace)
        kept = above_threshold(query, ranked, trace)[: query.settings.top_k]
        hits = trace.timed("snippets", lambda: hits_of(query, kept, stored))
        context = gather_context(
            hits,
            budget=query.settings.context_max_characters,
            adjacent=query.settings.adjacent_chunk_count,
            neighbours=self._chunks.neighbours,
        )
        if context.truncated:
            trace.degrade("context", Degradation.OVER_BUDGET, "not every hit fits into the context")
        diagnostics = _diagnostics(query, trace, len(hits), context)
        return SearchResult(
            query, self._new_trace_id(), hits, context, diagnostics,
            round(self._clock() - started, 3), self._model, facts.chunks,
        )  # fmt: skip

    def _ranked(
        self, query: SearchQuery, facts: LibraryFacts, trace: Trace
    ) -> tuple[list[Fused], Mapping[ChunkKey, StoredChunk]]:
        """Widen the candidate lists until the gate leaves enough or the channels are dry."""
        limit = query.settings.top_k * query.settings.candidate_multiplier
        vector = self._channels.query_vector(query, facts, trace)
        before = len(trace.degraded)
        found, stored = self._gated(query, vector, facts, limit, trace)
        for _ in range(_WIDENINGS):
            if len(stored) >= query.settings.top_k or not trace.gated_out:
                break
            limit *= 4
            del trace.degraded[before:]
            found, stored = self._gated(query, vector, facts, limit, trace)
        return trace.timed("fusion", lambda: fused(query, found, stored, facts, self._model)), stored

    def _gated(
        self, query: SearchQuery, vector: Vector | None, facts: LibraryFacts, limit: int, trace: Trace
    ) -> tuple[Found, Mapping[ChunkKey, StoredChunk]]:
        found = self._channels.find(query, vector, facts, limit, trace)
        keys = found.candidates()
        stored = trace.timed("gate", lambda: self._chunks.visible(keys))
        trace.gated_out = len(keys) - len(stored)
        return found, stored


def _diagnostics(query: SearchQuery, trace: Trace, hits: int, context: Context) -> Diagnostics:
    return Diagnostics(
        requested_channels=requested_channels(query),
        used_channels=tuple(trace.used),
        degraded=tuple(trace.degraded),
        candidate_counts=trace.counts,
        milliseconds={k: round(v, 3) for k, v in trace.milliseconds.items()},
        fusion=query.settings.fusion if query.mode is SearchMode.HYBRID else "none",
        vector_engine=trace.engine,
        vectors_scanned=trace.scanned,
        removed_by_gate=trace.gated_out,
        removed_by_threshold=trace.below,
        removed_by_budget=hits - len({n for g in context.groups for n in g.numbers}),
    )
