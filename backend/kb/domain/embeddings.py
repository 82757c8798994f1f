"""Embedding models and vectors as the core sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NewType

from kb.domain.ids import id_from

Vector = NewType("Vector", bytes)
"""`dimensions` little-endian float32, of length one."""

ChunkKey = NewType("ChunkKey", int)
"""The row number of a chunk in this library: never reused, carried by projections, never shown."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """One embedding model with all that shapes its vectors.

    Attributes:
        max_tokens: the window of a passage less its prefix and special tokens.
    """

    id: str
    version: str
    provider: str
    dimensions: int
    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    endpoint: str = ""

    def fingerprint(self) -> str:
        """Return the id of the model: vectors under different fingerprints never meet."""
        return _fingerprint(self)


@lru_cache(maxsize=16)  # every search asks several times for that of the one model
def _fingerprint(model: EmbeddingModel) -> str:
    return id_from(
        {
            "kind": "embedding_model",
            "id": model.id,
            "version": model.version,
            "provider": model.provider,
            "dimensions": model.dimensions,
            "pooling": model.pooling,
            "query_prefix": model.query_prefix,
            "passage_prefix": model.passage_prefix,
            "endpoint": model.endpoint,
        }
    )
