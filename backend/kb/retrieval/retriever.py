"""From a question to ranked hits: plan, candidates, gate, fusion, thresholds, context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey, Vector
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed
from kb.domain.search import Degradation, SearchMode
from kb.retrieval.context import gather_context
from kb.retrieval.fusion import Evidence, fuse_ranks, fuse_scores
from kb.retrieval.ports import (
    ChunkSample,
    GatedChunks,
    LibraryFacts,
    QueryEmbedder,
    TextReply,
    TextSearch,
    VectorRescoring,
)
from kb.retrieval.relevance import SAMPLE_SIZE, Background, Question, background_of, calibration_of
from kb.retrieval.results import Diagnostics, SearchResult
from kb.retrieval.snippets import narrowed_citation, own_start, snippet_of
from kb.retrieval.terms import terms_of
from kb.retrieval.values import ChannelScores, Degraded, Fused, Hit, SearchQuery
from kb.retrieval.vector_channel import VectorAnswer, VectorChannel

T = TypeVar("T")
_WIDENINGS = 3


@dataclass(frozen=True, slots=True)
class VectorSide:
    """All that the vector channel needs; absent as a whole when there is no embedding model."""

    embedder: QueryEmbedder
    channel: VectorChannel
    rescoring: VectorRescoring
    sample: ChunkSample


@dataclass(slots=True)
class _Trace:
    """What happened during one search; filled by the steps, read once at the end."""

    used: list[str] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    engine: str | None = None
    scanned: int = 0
    gated_out: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    text: TextReply | None
    vector: VectorAnswer | None
    text_scores: Mapping[ChunkKey, float]
    cosines: Mapping[ChunkKey, float]
    background: Background | None

    def candidates(self) -> list[ChunkKey]:
        """Return every candidate once, in a fixed order."""
        text = [c.key for c in self.text.candidates] if self.text else []
        vector = [key for key, _ in self.vector.reply.candidates] if self.vector else []
        return list(dict.fromkeys([*text, *vector]))


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
        self._text = text
        self._vectors = vectors
        self._clock = clock_ms
        self._new_trace_id = new_trace_id

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question, the same for the same index, always."""
        started = self._clock()
        trace = _Trace()
        model = self._vectors.embedder.model if self._vectors else None
        facts = self._chunks.facts(model)
        ranked, stored = self._ranked(query, facts, trace)
        kept = self._above_threshold(query, ranked, trace)[: query.settings.top_k]
        hits = self._hits(query, kept, stored, trace)
        context = gather_context(
            hits,
            budget=query.settings.context_max_characters,
            adjacent=query.settings.adjacent_chunk_count,
            neighbours=self._chunks.neighbours,
        )
        if context.truncated:
            trace.degraded.append(Degraded("context", Degradation.OVER_BUDGET, "not every hit fits into the context"))
        diagnostics = Diagnostics(
            requested_channels=_requested(query),
            used_channels=tuple(trace.used),
            degraded=tuple(trace.degraded),
            candidate_counts=trace.counts,
            milliseconds={k: round(v, 3) for k, v in trace.milliseconds.items()},
            fusion=query.settings.fusion if query.mode is SearchMode.HYBRID else "none",
            vector_engine=trace.engine,
            vectors_scanned=trace.scanned,
            removed_by_gate=trace.gated_out,
            removed_by_threshold=trace.below,
            removed_by_budget=len(hits) - len({n for g in context.groups for n in g.numbers}),
        )
        return SearchResult(
            query, self._new_trace_id(), hits, context, diagnostics,
            round(self._clock() - started, 3), model, facts.chunks,
        )  # fmt: skip

    def _ranked(
        self, query: SearchQuery, facts: LibraryFacts, trace: _Trace
    ) -> tuple[list[Fused], Mapping[ChunkKey, StoredChunk]]:
        """Widen the candidate lists until the gate leaves enough or the channels are dry."""
        limit = query.settings.top_k * query.settings.candidate_multiplier
        vector = self._query_vector(query, facts, trace)
        before = len(trace.degraded)
        found, stored = self._gated(query, vector, facts, limit, trace)
        for _ in range(_WIDENINGS):
            if len(stored) >= query.settings.top_k or not trace.gated_out:
                break
            limit *= 4
            del trace.degraded[before:]
            found, stored = self._gated(query, vector, facts, limit, trace)
        started = self._clock()
        question = Question(
            ceiling=found.text.ceiling if found.text else 0.0,
            seen=found.text.seen if found.text else 0.0,
            familiar=found.text.familiar if found.text else 0.0,
            chunks=facts.chunks,
            background=found.background,
            calibration=calibration_of(self._vectors.embedder.model if self._vectors else None),
            fts_weight=query.settings.fts_weight,
            vector_weight=query.settings.vector_weight,
        )
        evidence = _evidence(found, stored)
        if query.mode is SearchMode.HYBRID and query.settings.fusion == "rrf":
            ranked = fuse_ranks(evidence, question, query.settings.rrf_k)
        else:
            ranked = fuse_scores(evidence, question)
        trace.milliseconds["fusion"] = self._clock() - started
        return ranked, stored

    def _gated(
        self,
        query: SearchQuery,
        vector: Vector | None,
        facts: LibraryFacts,
        limit: int,
        trace: _Trace,
    ) -> tuple[_Found, Mapping[ChunkKey, StoredChunk]]:
        found = self._candidates(query, vector, facts, limit, trace)
        keys = found.candidates()
        stored = self._timed("gate", trace, lambda: self._chunks.visible(keys))
        trace.gated_out = len(keys) - len(stored)
        return found, stored

    def _query_vector(self, query: SearchQuery, facts: LibraryFacts, trace: _Trace) -> Vector | None:
        if not _wants_vectors(query):
            return None
        if self._vectors is None:
            trace.degraded.append(Degraded("vector", Degradation.NO_EMBEDDING_MODEL, "no embedding model is installed"))
            return None
        try:
            embedder = self._vectors.embedder
            vector = self._timed("embed", trace, lambda: embedder.embed_query(query.text))
        except KebabError as error:
            trace.degraded.append(Degraded("vector", Degradation.QUERY_EMBEDDING_FAILED, error.message))
            return None
        if facts.vectors < facts.chunks:
            trace.degraded.append(
                Degraded(
                    "vector",
                    Degradation.PARTIAL_VECTORS,
                    f"{facts.vectors} of {facts.chunks} passages have vectors",
                )
            )
        return vector

    def _candidates(
        self,
        query: SearchQuery,
        vector: Vector | None,
        facts: LibraryFacts,
        limit: int,
        trace: _Trace,
    ) -> _Found:
        trace.used.clear()
        text = self._text_candidates(query, limit, trace)
        text_scores = {c.key: c.score for c in text.candidates} if text else {}
        if vector is None or self._vectors is None:
            return _Found(text, None, text_scores, {}, None)
        answer = self._vector_candidates(query, vector, facts, limit, trace)
        cosines = dict(answer.reply.candidates)
        background: Background | None = None
        if answer.engine is not None:
            unscored = [key for key in cosines if key not in text_scores]
            text_scores |= self._text_scores(query, unscored, trace) if text else {}
            unknown = [key for key in text_scores if key not in cosines]
            rescored, background = self._rescored(vector, unknown, facts, trace)
            cosines |= rescored
        return _Found(text, answer, text_scores, cosines, background)

    def _text_candidates(self, query: SearchQuery, limit: int, trace: _Trace) -> TextReply | None:
        if query.mode is SearchMode.VECTOR or query.settings.fts_weight == 0:
            return None
        try:
            reply = self._timed("lexical", trace, lambda: self._text.search(query.text, query.filters, limit))
        except StorageFailed as error:
            trace.degraded.append(Degraded("lexical", Degradation.LEXICAL_UNAVAILABLE, error.message))
            return None
        for name, terms, ranks in (
            ("lexical", reply.lexical_terms, [c.lexical_rank for c in reply.candidates]),
            ("cjk", reply.cjk_terms, [c.cjk_rank for c in reply.candidates]),
        ):
            if terms:
                trace.used.append(name)
                trace.counts[name] = sum(rank is not None for rank in ranks)
        return reply

    def _vector_candidates(
        self, query: SearchQuery, vector: Vector, facts: LibraryFacts, limit: int, trace: _Trace
    ) -> VectorAnswer:
        side = self._vectors
        assert side is not None  # noqa: S101 - a query vector exists only with this side
        allowed = None
        if not query.filters.is_empty:
            allowed = self._timed("filter", trace, lambda: self._chunks.matching(query.filters))
        answer = self._timed(
            "vector",
            trace,
            lambda: side.channel.search(
                side.embedder.model, vector, limit, allowed=allowed, position=facts.vector_position
            ),
        )
        trace.degraded.extend(answer.degraded)
        trace.engine, trace.scanned = answer.engine, answer.reply.scanned
        trace.counts["vector"] = len(answer.reply.candidates)
        if answer.engine is not None:
            trace.used.append("vector")
        return answer

    def _text_scores(self, query: SearchQuery, keys: Sequence[ChunkKey], trace: _Trace) -> Mapping[ChunkKey, float]:
        """Give candidates of the vector channel their exact text score."""
        try:
            return self._timed("rescore", trace, lambda: self._text.scores(query.text, keys)) if keys else {}
        except StorageFailed as error:
            trace.degraded.append(Degraded("lexical", Degradation.ROUGH_RELEVANCE, error.message))
            return {}

    def _rescored(
        self, vector: Vector, keys: Sequence[ChunkKey], facts: LibraryFacts, trace: _Trace
    ) -> tuple[Mapping[ChunkKey, float], Background]:
        """Give lexical candidates their exact cosine, and measure what unrelated chunks look like."""
        side = self._vectors
        assert side is not None  # noqa: S101 - a query vector exists only with this side
        sample = side.sample.sample(SAMPLE_SIZE)
        model = side.embedder.model
        try:
            cosines = self._timed("rescore", trace, lambda: side.rescoring.background(model, vector, sample))
            found = self._timed("rescore", trace, lambda: side.rescoring.similarities(model, vector, sorted(keys)))
        except StorageFailed as error:
            # What is usually unrelated stands in for what is so here; without any the order would be lost as well.
            trace.degraded.append(Degraded("vector", Degradation.ROUGH_RELEVANCE, error.message))
            return {}, background_of((), facts.vectors, calibration_of(model))
        return found, background_of(cosines, facts.vectors, calibration_of(model))

    def _above_threshold(self, query: SearchQuery, ranked: Sequence[Fused], trace: _Trace) -> list[Fused]:
        """Drop hits that only the vector channel found and whose cosine is below the setting."""
        floor = query.settings.minimum_vector_similarity
        kept = [
            hit for hit in ranked if hit.scores.channels != ("vector",) or (hit.scores.vector_similarity or 0) >= floor
        ]
        trace.below = len(ranked) - len(kept)
        if trace.below:
            trace.degraded.append(Degraded("vector", Degradation.BELOW_THRESHOLD, f"{trace.below} hits below {floor}"))
        return kept

    def _hits(
        self,
        query: SearchQuery,
        ranked: Sequence[Fused],
        stored: Mapping[ChunkKey, StoredChunk],
        trace: _Trace,
    ) -> tuple[Hit, ...]:
        started = self._clock()
        terms = terms_of(query.text)
        hits = []
        for rank, fused in enumerate(ranked, start=1):
            found = stored[fused.key]
            begin = own_start(found.chunk.text, found.chunk.segments)
            snippet = snippet_of(found.chunk.text, terms, query.settings.snippet_chars, begin)
            hits.append(
                Hit(
                    rank=rank,
                    score=fused.score,
                    relevance=fused.relevance,
                    scores=fused.scores,
                    stored=found,
                    citation=narrowed_citation(found.path, found.chunk, snippet, terms),
                    snippet=snippet.text,
                    snippet_is_full_text=snippet.is_full_text,
                    highlights=snippet.highlights,
                )
            )
        trace.milliseconds["snippets"] = self._clock() - started
        return tuple(hits)

    def _timed(self, name: str, trace: _Trace, step: Callable[[], T]) -> T:
        started = self._clock()
        try:
            return step()
        finally:
            spent = self._clock() - started
            trace.milliseconds[name] = trace.milliseconds.get(name, 0.0) + spent


def _requested(query: SearchQuery) -> tuple[str, ...]:
    names = []
    if query.mode is not SearchMode.VECTOR and query.settings.fts_weight > 0:
        names += ["lexical", "cjk"]
    if _wants_vectors(query):
        names.append("vector")
    return tuple(names)


def _wants_vectors(query: SearchQuery) -> bool:
    return query.mode is not SearchMode.LEXICAL and query.settings.vector_weight > 0


def _evidence(found: _Found, stored: Mapping[ChunkKey, StoredChunk]) -> list[Evidence]:
    by_text = {c.key: c for c in found.text.candidates} if found.text else {}
    nearest = found.vector.reply.candidates if found.vector else ()
    by_vector = {key: rank for rank, (key, _) in enumerate(nearest, start=1)}
    evidence = []
    for key in found.candidates():
        if key not in stored:
            continue
        text, chunk = by_text.get(key), stored[key].chunk
        evidence.append(
            Evidence(
                key=key,
                text_score=found.text_scores.get(key),
                cosine=found.cosines.get(key),
                scores=ChannelScores(
                    lexical_rank=text.lexical_rank if text else None,
                    lexical_score=text.lexical_score if text else None,
                    cjk_rank=text.cjk_rank if text else None,
                    cjk_score=text.cjk_score if text else None,
                    vector_rank=by_vector.get(key),
                    vector_similarity=found.cosines.get(key),
                ),
                tie=(stored[key].path, chunk.ordinal, chunk.chunk_id),
            )
        )
    return evidence
