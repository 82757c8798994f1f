"""From a question to ranked hits: plan, candidates, gate, fusion, thresholds, rerank, context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kb.domain.chunks import ChunkRole, StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.search import Degradation, SearchFilters, SearchMode
from kb.retrieval.candidates import Ask, Channels, Found, VectorSide, requested_channels, wants_graph
from kb.retrieval.context import gather_context
from kb.retrieval.places import places_of
from kb.retrieval.ports import GatedChunks, GraphSearch, Reranker, TextSearch
from kb.retrieval.results import Candidate, ChannelPlace, Context, Diagnostics, SearchResult
from kb.retrieval.stages import above_threshold, candidates_of, fused, hits_of, reordered
from kb.retrieval.trace import NO_MODEL, Trace
from kb.retrieval.values import Degraded, Fused, Hit, SearchQuery

__all__ = ["Retriever", "VectorSide"]

_WIDENINGS = 3


class Retriever:
    """Searches one library. Safe to call from several threads when its ports are.

    Args:
        chunks: the final gate.
        text: the lexical and cjk channels.
        vectors: the vector channel, None without an embedding model.
        graph: the graph channel, None when it is off.
        reranker: orders candidates again when a search asks for a model, None without one.
        no_vectors: what is said without the vector channel.
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
        graph: GraphSearch | None = None,
        reranker: Reranker | None = None,
        no_vectors: Degraded = NO_MODEL,
    ) -> None:
        self._chunks = chunks
        self._channels = Channels(chunks, text, vectors, graph, no_vectors)
        self._model = vectors.embedder.model if vectors else None
        self._reranker = reranker
        self._clock = clock_ms
        self._new_trace_id = new_trace_id

    def search(self, query: SearchQuery, should_stop: Callable[[], bool] = lambda: False) -> SearchResult:
        """Return the best hits for a question, the same for the same index, always.

        Raises:
            Cancelled: `should_stop`, asked between steps and pages of a scan, said so.
        """
        started = self._clock()
        trace = Trace(self._clock, should_stop)
        ask = Ask(query, self._chunks.facts(self._model), trace)
        ranked, stored = self._ranked(ask)
        above = above_threshold(query, ranked, trace)
        trace.stage("threshold", len(ranked), len(above))
        trace.heed()
        placed = reordered(query, above, stored, self._reranker, trace)
        kept = placed[: query.settings.top_k]
        trace.stage("top_k", len(placed), len(kept))
        trace.heed()
        hits = trace.timed("snippets", lambda: hits_of(query, kept, stored))
        context = trace.timed("context", lambda: self._context(query, hits))
        if context.truncated:
            trace.degrade("context", Degradation.OVER_BUDGET, "not every hit fits into the context")
        in_context = {number for group in context.groups for number in group.numbers}
        trace.stage("context", len(hits), len(in_context))
        ways = candidates_of(ranked, above, placed, stored, top_k=query.settings.top_k, in_context=in_context)
        diagnostics = self._diagnostics(ask, len(hits) - len(in_context), ways)
        return SearchResult(
            query, self._new_trace_id(), hits, context, diagnostics,
            round(self._clock() - started, 3), self._model, ask.facts.chunks,
        )  # fmt: skip

    def places(
        self, query: SearchQuery, chosen: Mapping[ChunkKey, str], should_stop: Callable[[], bool] = lambda: False
    ) -> tuple[ChannelPlace, ...]:
        """Return where the best of chosen passages (ids by key) stands in each channel, without any limit.

        Raises:
            Cancelled: `should_stop` said so.
        """
        ask = Ask(query, self._chunks.facts(self._model), Trace(self._clock, should_stop))
        return places_of(self._channels, ask, chosen)

    def meeting(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        """Return the passages that meet filters, rising.

        Raises:
            StorageFailed: the text index, which knows where phrases stand, cannot be read.
        """
        return self._channels.meeting(filters)

    def _ranked(self, ask: Ask) -> tuple[list[Fused], Mapping[ChunkKey, StoredChunk]]:
        """Widen the candidate lists until the gate leaves enough or the channels are dry."""
        settings, trace = ask.query.settings, ask.trace
        limit = settings.top_k * settings.candidate_multiplier
        found, stored = self._gated(ask, limit)
        for _ in range(_WIDENINGS):
            if len(stored) >= settings.top_k or not trace.gated_out:
                break
            limit *= 4
            found, stored = self._gated(ask, limit)
        ranked = trace.timed("fusion", lambda: fused(ask.query, found, stored, ask.facts, self._model))
        if wants_graph(ask.query):
            if self._channels.has_graph:
                found, stored = self._linked(ask, found, stored, ranked)
                ranked = trace.timed("fusion", lambda: fused(ask.query, found, stored, ask.facts, self._model))
            elif ask.query.asks_graph:
                trace.degrade("graph", Degradation.GRAPH_OFF, "links are not followed: `graph.enabled` is off")
        trace.stage("gate", len(stored) + trace.gated_out, len(stored))
        return ranked, stored

    def _gated(self, ask: Ask, limit: int) -> tuple[Found, Mapping[ChunkKey, StoredChunk]]:
        found = self._channels.find(ask, limit)
        keys = found.candidates()
        stored = ask.trace.timed("gate", lambda: self._chunks.visible(keys))
        ask.trace.gated_out = len(keys) - len(stored)
        return found, stored

    def _linked(
        self, ask: Ask, found: Found, stored: Mapping[ChunkKey, StoredChunk], ranked: list[Fused]
    ) -> tuple[Found, Mapping[ChunkKey, StoredChunk]]:
        """Follow the links of what would be shown now."""
        settings = ask.query.settings
        seeds = [one.key for one in ranked[: settings.top_k]]
        known = set(found.candidates())
        found = self._channels.linked(ask, found, seeds, settings.top_k * settings.candidate_multiplier)
        fresh = [key for key in found.candidates() if key not in known]
        if fresh:
            seen = ask.trace.timed("gate", lambda: self._chunks.visible(fresh))
            ask.trace.gated_out += len(fresh) - len(seen)
            stored = {**stored, **seen}
        return found, stored

    def _context(self, query: SearchQuery, hits: tuple[Hit, ...]) -> Context:
        return gather_context(
            hits,
            budget=query.settings.context_max_characters,
            adjacent=query.settings.adjacent_chunk_count,
            neighbours=self._chunks.neighbours,
            parents=self._chunks.parents([hit.stored.key for hit in hits if hit.stored.chunk.role is ChunkRole.CHILD]),
        )

    def _diagnostics(self, ask: Ask, over_budget: int, candidates: tuple[Candidate, ...]) -> Diagnostics:
        query, trace = ask.query, ask.trace
        return Diagnostics(
            requested_channels=requested_channels(query, has_graph=self._channels.has_graph),
            used_channels=tuple(trace.used),
            degraded=tuple(trace.degraded),
            candidate_counts=trace.counts,
            milliseconds={k: round(v, 3) for k, v in trace.milliseconds.items()},
            fusion=query.settings.fusion if query.mode is SearchMode.HYBRID else "none",
            vector_engine=trace.engine,
            vectors_scanned=trace.scanned,
            removed_by_gate=trace.gated_out,
            removed_by_threshold=trace.below,
            removed_by_budget=over_budget,
            stages=tuple(trace.stages),
            candidates=candidates,
            rerank=trace.rerank,
        )
