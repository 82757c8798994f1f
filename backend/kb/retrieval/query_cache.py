"""Vectors of questions asked a moment ago: typing, paging and comparing settings ask the same again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict

from kb.domain.embeddings import EmbeddingModel, Vector
from kb.retrieval.ports import QueryEmbedder

_MOST = 128


class RememberingEmbedder:
    """Embeds a question once per model; holds the last 128, in memory alone. Failures are not remembered."""

    def __init__(self, embedder: QueryEmbedder, most: int = _MOST) -> None:
        self._embedder = embedder
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Vector] = OrderedDict()

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without loading it."""
        return self._embedder.model

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
        """
        asked = (self._embedder.model.fingerprint(), text)
        with self._lock:
            known = self._known.get(asked)
            if known is not None:
                self._known.move_to_end(asked)
                return known
        vector = self._embedder.embed_query(text)
        with self._lock:
            self._known[asked] = vector
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return vector
