"""Candidates: what each channel finds, with the exact score of every candidate in the other channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kb.domain.embeddings import ChunkKey, Vector
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed, Unreachable
from kb.domain.search import Degradation, SearchFilters, SearchMode
from kb.retrieval.aside import Aside
from kb.retrieval.ports import (
    ChunkSample,
    GatedChunks,
    GraphReply,
    GraphSearch,
    LibraryFacts,
    QueryEmbedder,
    TextReply,
    TextSearch,
    VectorRescoring,
)
from kb.retrieval.query_cache import RememberingEmbedder
from kb.retrieval.relevance import SAMPLE_SIZE, Background, background_of, calibration_of
from kb.retrieval.trace import NO_MODEL, Trace
from kb.retrieval.values import Degraded, SearchQuery
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
    graph: GraphReply | None = None

    def candidates(self) -> list[ChunkKey]:
        """Return every candidate once, in a fixed order."""
        text = [c.key for c in self.text.candidates] if self.text else []
        vector = [key for key, _ in self.vector.reply.candidates] if self.vector else []
        graph = [key for key, _ in self.graph.candidates] if self.graph else []
        return list(dict.fromkeys([*text, *vector, *graph]))


_TextAnswer: TypeAlias = tuple[TextReply | StorageFailed | None, float]


@dataclass(slots=True)
class Ask:
    """One question on its way: what is worked out once, however often the candidates are widened."""

    query: SearchQuery
    facts: LibraryFacts
    trace: Trace
    vector: Vector | None = None
    allowed: Sequence[ChunkKey] | None = None
    _said: int | None = None

    @property
    def is_prepared(self) -> bool:
        """Return whether vector and filters are known."""
        return self._said is not None

    def prepared(self) -> None:
        """Keep what was said until now."""
        self._said = len(self.trace.degraded)

    def again(self) -> None:
        """Forget what the channels said: they are asked once more."""
        del self.trace.degraded[self._said :]
        self.trace.used.clear()


class Channels:
    """Asks the channels of one library.

    Args:
        chunks: the final gate.
        text: the lexical and cjk channels.
        vectors: the vector channel, None without an embedding model.
        graph: the graph channel, None when it is off.
    """

    def __init__(
        self,
        chunks: GatedChunks,
        text: TextSearch,
        vectors: VectorSide | None,
        graph: GraphSearch | None,
        no_vectors: Degraded = NO_MODEL,
    ) -> None:
        self._chunks = chunks
        self._text = text
        self._vectors = vectors
        self._embedder = RememberingEmbedder(vectors.embedder) if vectors else None
        self._graph = graph
        self._no_vectors = no_vectors

    @property
    def has_graph(self) -> bool:
        """Return whether links can be followed."""
        return self._graph is not None

    def find(self, ask: Ask, limit: int) -> Found:
        """Return at most `limit` candidates of each channel.

        Raises:
            Cancelled: nobody waits for it any more.
        """
        words: Callable[[], _TextAnswer] | None = None
        if not ask.is_prepared:
            self._prepare_filters(ask)
            if self._embeds(ask.query):
                # The words are looked up while the question is embedded and its vector compared.
                words = Aside(lambda: self._asked_text(ask, limit)).result
            ask.vector = self._query_vector(ask)
            ask.prepared()
        ask.again()
        ask.trace.heed()
        if words is None:
            asked = self._asked_text(ask, limit)
            answer = self._asked_vectors(ask, limit)
        else:
            answer = self._asked_vectors(ask, limit)
            asked = words()
        text = self._told_text(ask, *asked)
        self._told_vectors(ask, answer)
        ask.trace.heed()
        return self._scored(ask, text, answer)

    def everything(self, ask: Ask) -> tuple[TextReply | None, VectorAnswer | None]:
        """Return all that words and vectors find, however much it is.

        Raises:
            Cancelled: nobody waits for it any more.
        """
        self._prepare_filters(ask)
        ask.vector = self._query_vector(ask)
        most = max(ask.facts.chunks, 1)
        reply, _ = self._asked_text(ask, most)
        return None if isinstance(reply, StorageFailed) else reply, self._asked_vectors(ask, most)

    def meeting(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        """Return the chunks that meet filters, rising.

        Raises:
            StorageFailed: the text index, which knows where phrases stand, cannot be read.
        """
        bare = replace(filters, phrases=(), excluded=())
        keys = None if bare.is_empty and filters.phrases else set(self._chunks.matching(bare))
        for phrase in filters.phrases:
            holding = set(self._text.holding(phrase))
            keys = holding if keys is None else keys & holding
        for phrase in filters.excluded:
            keys = (keys or set()) - set(self._text.holding(phrase))
        return sorted(keys or ())

    def linked(self, ask: Ask, found: Found, seeds: Sequence[ChunkKey], limit: int) -> Found:
        """Return `found` with what is linked to `seeds`, its candidates scored as the others are."""
        graph, trace = self._graph, ask.trace
        if graph is None:
            return found
        try:
            reply = trace.timed("graph", lambda: graph.related(seeds, limit, ask.allowed))
        except StorageFailed as error:
            trace.degrade("graph", Degradation.GRAPH_NO_EVIDENCE, error.message)
            return found
        trace.counts["graph"] = len(reply.candidates)
        if not reply.candidates:
            trace.degrade("graph", Degradation.GRAPH_NO_EVIDENCE, "nothing is linked with what was found")
            return found
        trace.used.append("graph")
        known = set(found.candidates())
        fresh = sorted(key for key, _ in reply.candidates if key not in known)
        text_scores = dict(found.text_scores)
        if found.text is not None:
            text_scores |= self._text_scores(ask, fresh)
        cosines = dict(found.cosines)
        if found.background is not None and ask.vector is not None:
            cosines |= self._similarities(ask, ask.vector, fresh)
        return replace(found, text_scores=text_scores, cosines=cosines, graph=reply)

    def _embeds(self, query: SearchQuery) -> bool:
        return self._embedder is not None and wants_vectors(query) and wants_text(query)

    def _prepare_filters(self, ask: Ask) -> None:
        """Find the chunks that meet the filters, where a channel does not look at the filters by itself."""
        query, filters = ask.query, ask.query.filters
        if filters.is_empty:
            return
        if wants_vectors(query) or (self.has_graph and wants_graph(query)) or _only_chunks_know(filters):
            try:
                ask.allowed = ask.trace.timed("filter", lambda: self.meeting(filters))
            except StorageFailed as error:
                # Without the index nobody knows where a phrase stands: nothing is better than what may not be shown.
                ask.trace.degrade("lexical", Degradation.LEXICAL_UNAVAILABLE, error.message)
                ask.allowed = ()

    def _query_vector(self, ask: Ask) -> Vector | None:
        query, facts, trace, embedder = ask.query, ask.facts, ask.trace, self._embedder
        if not wants_vectors(query):
            return None
        if embedder is None:
            trace.degraded.append(self._no_vectors)
            return None
        try:
            vector = trace.timed("embed", lambda: embedder.embed_query(query.text))
        except Unreachable as error:
            trace.degrade("vector", Degradation.EMBEDDING_ENDPOINT_UNREACHABLE, error.message)
            return None
        except KebabError as error:
            trace.degrade("vector", Degradation.QUERY_EMBEDDING_FAILED, error.message)
            return None
        if facts.vectors < facts.chunks:
            trace.degrade(
                "vector", Degradation.PARTIAL_VECTORS, f"{facts.vectors} of {facts.chunks} passages have vectors"
            )
        return vector

    def _asked_text(self, ask: Ask, limit: int) -> _TextAnswer:
        """Ask the words, touching no trace: this may run beside the vectors. Also return the milliseconds."""
        if not wants_text(ask.query):
            return None, 0.0
        started = ask.trace.clock()
        filters = ask.query.filters
        allowed = ask.allowed if _only_chunks_know(filters) else None
        try:
            reply: TextReply | StorageFailed = self._text.search(ask.query.text, filters, limit, allowed)
        except StorageFailed as error:
            reply = error
        return reply, ask.trace.clock() - started

    @staticmethod
    def _told_text(ask: Ask, reply: TextReply | StorageFailed | None, spent: float) -> TextReply | None:
        trace = ask.trace
        if reply is None:
            return None
        trace.add("lexical", spent)
        if isinstance(reply, StorageFailed):
            trace.degrade("lexical", Degradation.LEXICAL_UNAVAILABLE, reply.message)
            return None
        for name, terms, ranks in (
            ("lexical", reply.lexical_terms, [c.lexical_rank for c in reply.candidates]),
            ("cjk", reply.cjk_terms, [c.cjk_rank for c in reply.candidates]),
        ):
            if terms:
                trace.used.append(name)
                trace.counts[name] = sum(rank is not None for rank in ranks)
        return reply

    def _asked_vectors(self, ask: Ask, limit: int) -> VectorAnswer | None:
        side, vector = self._vectors, ask.vector
        if side is None or vector is None:
            return None
        return ask.trace.timed(
            "vector",
            lambda: side.channel.search(
                side.embedder.model,
                vector,
                limit,
                allowed=ask.allowed,
                position=ask.facts.vector_position,
                should_stop=ask.trace.should_stop,
            ),
        )

    @staticmethod
    def _told_vectors(ask: Ask, answer: VectorAnswer | None) -> None:
        trace = ask.trace
        if answer is None:
            return
        trace.degraded.extend(answer.degraded)
        trace.engine, trace.scanned = answer.engine, answer.reply.scanned
        trace.counts["vector"] = len(answer.reply.candidates)
        if answer.engine is not None:
            trace.used.append("vector")

    def _scored(self, ask: Ask, text: TextReply | None, answer: VectorAnswer | None) -> Found:
        """Give every candidate its exact score in the channel that did not find it."""
        text_scores = {c.key: c.score for c in text.candidates} if text else {}
        if answer is None or ask.vector is None:
            return Found(text, None, text_scores, {}, None)
        cosines = dict(answer.reply.candidates)
        background: Background | None = None
        if answer.engine is not None:
            unscored = [key for key in cosines if key not in text_scores]
            text_scores |= self._text_scores(ask, unscored) if text else {}
            unknown = [key for key in text_scores if key not in cosines]
            rescored, background = self._rescored(ask, ask.vector, unknown)
            cosines |= rescored
        return Found(text, answer, text_scores, cosines, background)

    def _text_scores(self, ask: Ask, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        """Give candidates of other channels their exact text score."""
        try:
            return ask.trace.timed("rescore", lambda: self._text.scores(ask.query.text, keys)) if keys else {}
        except StorageFailed as error:
            ask.trace.degrade("lexical", Degradation.ROUGH_RELEVANCE, error.message)
            return {}

    def _similarities(self, ask: Ask, vector: Vector, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        """Give candidates of the graph channel their exact cosine."""
        side = self._vectors
        assert side is not None  # noqa: S101 - a query vector exists only with this side
        try:
            return ask.trace.timed("rescore", lambda: side.rescoring.similarities(side.embedder.model, vector, keys))
        except StorageFailed as error:
            ask.trace.degrade("vector", Degradation.ROUGH_RELEVANCE, error.message)
            return {}

    def _rescored(
        self, ask: Ask, vector: Vector, keys: Sequence[ChunkKey]
    ) -> tuple[Mapping[ChunkKey, float], Background]:
        """Give lexical candidates their exact cosine, and measure what unrelated chunks look like."""
        side, trace, facts = self._vectors, ask.trace, ask.facts
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


def requested_channels(query: SearchQuery, *, has_graph: bool) -> tuple[str, ...]:
    """Return the channels that a question asks for, in their fixed order."""
    names = []
    if wants_text(query):
        names += ["lexical", "cjk"]
    if wants_vectors(query):
        names.append("vector")
    if wants_graph(query) and (has_graph or query.asks_graph):
        names.append("graph")
    return tuple(names)


def wants_text(query: SearchQuery) -> bool:
    """Return whether words count."""
    return query.mode is not SearchMode.VECTOR and query.settings.fts_weight > 0


def wants_vectors(query: SearchQuery) -> bool:
    """Return whether meaning counts."""
    return query.mode is not SearchMode.LEXICAL and query.settings.vector_weight > 0


def wants_graph(query: SearchQuery) -> bool:
    """Return whether links count."""
    return query.mode is SearchMode.HYBRID and query.settings.graph_weight > 0


def _only_chunks_know(filters: SearchFilters) -> bool:
    """Return whether a filter is on what no text index holds."""
    return bool(filters.collections or filters.items or filters.changed_from or filters.changed_to)
