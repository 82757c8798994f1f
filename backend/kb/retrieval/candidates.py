"""Candidates: what each channel finds, with the exact score of every candidate in the other channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.domain.embeddings import ChunkKey, Vector
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed
from kb.domain.search import Degradation, SearchMode
from kb.retrieval.ports import (
    ChunkSample,
    GatedChunks,
    LibraryFacts,
    QueryEmbedder,
    TextReply,
    TextSearch,
    VectorRescoring,
)
from kb.retrieval.relevance import SAMPLE_SIZE, Background, background_of, calibration_of
from kb.retrieval.trace import Trace
from kb.retrieval.values import SearchQuery
from kb.retrieval.vector_channel import VectorAnswer, VectorChannel


@dataclass(frozen=True, slots=True)
class VectorSide:
    """All that the vector channel needs; absent as a whole when there is no embedding model."""

    embedder: QueryEmbedder
    channel: VectorChannel
    rescoring: VectorRescoring
    sample: ChunkSample


@dataclass(frozen=True, slots=True)
class Found:
    """What the channels found for one question."""

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


class Channels:
    """Asks the channels of one library.

    Args:
        chunks: the final gate.
        text: the lexical and cjk channels.
        vectors: the vector channel, None without an embedding model.
    """

    def __init__(self, chunks: GatedChunks, text: TextSearch, vectors: VectorSide | None) -> None:
        self._chunks = chunks
        self._text = text
        self._vectors = vectors

    def query_vector(self, query: SearchQuery, facts: LibraryFacts, trace: Trace) -> Vector | None:
        """Return the vector of the question, None when vectors are not wanted or there is none."""
        if not wants_vectors(query):
            return None
        if self._vectors is None:
            trace.degrade("vector", Degradation.NO_EMBEDDING_MODEL, "no embedding model is installed")
            return None
        embedder = self._vectors.embedder
        try:
            vector = trace.timed("embed", lambda: embedder.embed_query(query.text))
        except KebabError as error:
            trace.degrade("vector", Degradation.QUERY_EMBEDDING_FAILED, error.message)
            return None
        if facts.vectors < facts.chunks:
            trace.degrade(
                "vector", Degradation.PARTIAL_VECTORS, f"{facts.vectors} of {facts.chunks} passages have vectors"
            )
        return vector

    def find(self, query: SearchQuery, vector: Vector | None, facts: LibraryFacts, limit: int, trace: Trace) -> Found:
        """Return at most `limit` candidates of each channel."""
        trace.used.clear()
        text = self._text_candidates(query, limit, trace)
        text_scores = {c.key: c.score for c in text.candidates} if text else {}
        if vector is None or self._vectors is None:
            return Found(text, None, text_scores, {}, None)
        answer = self._vector_candidates(query, vector, facts, limit, trace)
        cosines = dict(answer.reply.candidates)
        background: Background | None = None
        if answer.engine is not None:
            unscored = [key for key in cosines if key not in text_scores]
            text_scores |= self._text_scores(query, unscored, trace) if text else {}
            unknown = [key for key in text_scores if key not in cosines]
            rescored, background = self._rescored(vector, unknown, facts, trace)
            cosines |= rescored
        return Found(text, answer, text_scores, cosines, background)

    def _text_candidates(self, query: SearchQuery, limit: int, trace: Trace) -> TextReply | None:
        if not wants_text(query):
            return None
        try:
            reply = trace.timed("lexical", lambda: self._text.search(query.text, query.filters, limit))
        except StorageFailed as error:
            trace.degrade("lexical", Degradation.LEXICAL_UNAVAILABLE, error.message)
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
        self, query: SearchQuery, vector: Vector, facts: LibraryFacts, limit: int, trace: Trace
    ) -> VectorAnswer:
        side = self._vectors
        assert side is not None  # noqa: S101 - a query vector exists only with this side
        allowed = None
        if not query.filters.is_empty:
            allowed = trace.timed("filter", lambda: self._chunks.matching(query.filters))
        answer = trace.timed(
            "vector",
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

    def _text_scores(self, query: SearchQuery, keys: Sequence[ChunkKey], trace: Trace) -> Mapping[ChunkKey, float]:
        """Give candidates of the vector channel their exact text score."""
        try:
            return trace.timed("rescore", lambda: self._text.scores(query.text, keys)) if keys else {}
        except StorageFailed as error:
            trace.degrade("lexical", Degradation.ROUGH_RELEVANCE, error.message)
            return {}

    def _rescored(
        self, vector: Vector, keys: Sequence[ChunkKey], facts: LibraryFacts, trace: Trace
    ) -> tuple[Mapping[ChunkKey, float], Background]:
        """Give lexical candidates their exact cosine, and measure what unrelated chunks look like."""
        side = self._vectors
        assert side is not None  # noqa: S101 - a query vector exists only with this side
        sample = side.sample.sample(SAMPLE_SIZE)
        model = side.embedder.model
        try:
            cosines = trace.timed("rescore", lambda: side.rescoring.background(model, vector, sample))
            found = trace.timed("rescore", lambda: side.rescoring.similarities(model, vector, sorted(keys)))
        except StorageFailed as error:
            # What is usually unrelated stands in for what is so here; without any the order would be lost as well.
            trace.degrade("vector", Degradation.ROUGH_RELEVANCE, error.message)
            return {}, background_of((), facts.vectors, calibration_of(model))
        return found, background_of(cosines, facts.vectors, calibration_of(model))


def requested_channels(query: SearchQuery) -> tuple[str, ...]:
    """Return the channels that a question asks for, in their fixed order."""
    names = []
    if wants_text(query):
        names += ["lexical", "cjk"]
    if wants_vectors(query):
        names.append("vector")
    return tuple(names)


def wants_text(query: SearchQuery) -> bool:
    """Return whether words count."""
    return query.mode is not SearchMode.VECTOR and query.settings.fts_weight > 0


def wants_vectors(query: SearchQuery) -> bool:
    """Return whether meaning counts."""
    return query.mode is not SearchMode.LEXICAL and query.settings.vector_weight > 0
