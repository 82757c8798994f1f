"""Small wrappers between parts: an embedder that counts, evidence with the files that could not be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kb.domain.embeddings import EmbeddingModel, Vector
from kb.ingest.ports import Tokenizer
from kb.retrieval.results import SearchResult
from kb.retrieval.values import SearchQuery


class Embedder(Protocol):
    """Embeds passages and questions."""

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without loading it."""

    def embed_passage(self, text: str) -> Vector:
        """Return the vector of a passage."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""


class CountingEmbedder:
    """Counts passages embedded, so that a rebuild can show that it embedded none; questions go before passages.

    Args:
        embedder: does the work.
        tokenizer: its own.
        let_by: called before each passage; returns when a question that is being answered is through, or soon.
    """

    def __init__(self, embedder: Embedder, tokenizer: Tokenizer, let_by: Callable[[], object] = lambda: None) -> None:
        self._let_by = let_by
        self._embedder = embedder
        self.tokenizer = tokenizer
        self.passages = 0

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without loading it."""
        return self._embedder.model

    def embed_passage(self, text: str) -> Vector:
        """Return the vector of a passage."""
        self._let_by()
        self.passages += 1
        return self._embedder.embed_passage(text)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._embedder.embed_query(text)


class EvidenceFinder:
    """Finds evidence for answers, and knows how many files could not be read."""

    def __init__(self, retriever: Searcher, unread: Callable[[], int]) -> None:
        self._retriever = retriever
        self._unread = unread

    def search(self, query: SearchQuery) -> SearchResult:
        """Return what was found, with how."""
        return self._retriever.search(query)

    def unread_items(self) -> int:
        """Return how many items of the library could not be searched."""
        return self._unread()


class Searcher(Protocol):
    """The retriever."""

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question."""
