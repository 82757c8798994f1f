"""What retrieval needs from outside: the channels, the query embedder, the gated chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.search import SearchFilters


@dataclass(frozen=True, slots=True)
class TextCandidate:
    """A chunk the text index found: `score` is BM25 over all fields, the others per channel."""

    key: ChunkKey
    score: float
    lexical_rank: int | None
    lexical_score: float | None
    cjk_rank: int | None
    cjk_score: float | None


@dataclass(frozen=True, slots=True)
class TextReply:
    """Candidates, best first.

    Attributes:
        ceiling: the best score any text could get for this query; unseen terms count.
        lexical_terms: how many terms went to the lexical channel.
        cjk_terms: how many went to the cjk channel.
        seen: share (0-1) of the ceiling that terms the index has make up, the same for every candidate.
        familiar: share (0-1) of the words and CJK letters of the query that the index has, rare or common alike: low
            where the library does not hold the language.
        similar: words of the query that the index lacks, each with those like it that were looked for instead.
    """

    candidates: tuple[TextCandidate, ...]
    ceiling: float
    lexical_terms: int
    cjk_terms: int
    seen: float = 1.0
    familiar: float = 1.0
    similar: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class VectorReply:
    """Candidates with their cosine, best first; `scanned` vectors were compared."""

    candidates: tuple[tuple[ChunkKey, float], ...]
    scanned: int


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """How much can be searched: chunks in all, those with a vector, items that could not be read."""

    chunks: int
    vectors: int
    unread_items: int
    vector_position: int
    text_position: int


@dataclass(frozen=True, slots=True)
class GraphReply:
    """Candidates with their score (0-1), best first, and how many links were followed."""

    candidates: tuple[tuple[ChunkKey, float], ...]
    links: int


class TextSearch(Protocol):
    """The lexical and cjk channels."""

    def scores(self, text: str, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        """Return the score over all fields of each of `keys` that shares a term with `text`.

        Raises:
            StorageFailed: the index is missing, damaged or of old make.
        """

    def search(
        self, text: str, filters: SearchFilters, limit: int, allowed: Sequence[ChunkKey] | None = None
    ) -> TextReply:
        """Return the best `limit` chunks, among `allowed` (rising keys) if given; ties in key order.

        Of the filters those on collections, items and days are not looked at: `allowed` holds what meets them.

        Raises:
            StorageFailed: the index is missing, damaged or of old make.
        """

    def holding(self, phrase: str) -> Sequence[ChunkKey]:
        """Return the keys of all chunks in which the words of `phrase` stand next to each other, rising.

        Raises:
            StorageFailed: the index is missing, damaged or of old make.
        """


class GraphSearch(Protocol):
    """The graph channel: chunks of items that are linked with those of the best candidates so far."""

    def related(self, seeds: Sequence[ChunkKey], limit: int, allowed: Sequence[ChunkKey] | None) -> GraphReply:
        """Return chunks of linked items, best first, among `allowed` (rising keys) if given; none without links.

        Args:
            seeds: the best candidates of the other channels, best first.
            limit: how many at most.
            allowed: which chunks count.
        """


class Reranker(Protocol):
    """A model that says how well each text answers a question."""

    @property
    def name(self) -> str:
        """The model, as diagnostics name it."""

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        """Return a score for each text, 0 to 1, in order; at most 100 texts of 8,000 characters.

        Raises:
            ModelUnavailable: the model cannot be loaded, answered wrongly or not in time.
        """


class VectorSearch(Protocol):
    """One way to compare a query with the stored vectors."""

    @property
    def name(self) -> str:
        """`scan` or `chroma`."""

    def ready(self, model: EmbeddingModel, position: int) -> bool:
        """Return whether it can answer now and holds the log up to `position`; never waits."""

    def search(
        self,
        model: EmbeddingModel,
        query: Vector,
        limit: int,
        allowed: Sequence[ChunkKey] | None,
        should_stop: Callable[[], bool] = ...,
    ) -> VectorReply:
        """Return the `limit` nearest chunks, among `allowed` (rising keys) if given.

        Args:
            model: which vectors are compared.
            query: the question's.
            limit: how many at most.
            allowed: which chunks count.
            should_stop: asked between pages.

        Raises:
            Cancelled: `should_stop` said so.
            StorageFailed: the index is missing, damaged or its process died.
        """


class VectorRescoring(Protocol):
    """Exact cosines of chosen chunks."""

    def similarities(self, model: EmbeddingModel, query: Vector, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        """Return the cosine of each chunk that has a vector."""

    def background(self, model: EmbeddingModel, query: Vector, sample: Sequence[ChunkKey]) -> Sequence[float]:
        """Return the cosines of those of `sample` that have a vector, in its order.

        The same sample is asked for with every question: what does not change between questions may be kept.
        """


class QueryEmbedder(Protocol):
    """Turns a question into a vector."""

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without loading it."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
        """


class ChunkSample(Protocol):
    """A fixed sample of the library, as a measure of what is unrelated."""

    def sample(self, count: int) -> Sequence[ChunkKey]:
        """Return the keys of the `count` visible chunks with the smallest chunk ids, all if fewer."""


class GatedChunks(Protocol):
    """Chunks that may be seen now: every read goes through the final gate."""

    def visible(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        """Return those of `keys` that pass the final gate."""

    def parents(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        """Return, for those of `keys` that are visible children, the parent whose text a context may give instead."""

    def neighbours(self, key: ChunkKey, count: int) -> Sequence[StoredChunk]:
        """Return up to `count` visible chunks on each side, in document order, `key` left out."""

    def matching(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        """Return the keys of visible chunks that meet `filters`, rising."""

    def facts(self, model: EmbeddingModel | None) -> LibraryFacts:
        """Return the counts of what can be searched now."""
