"""The approximate vector index as ingest writes it and retrieval reads it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from kb.adapters.chroma.process import Limits
from kb.adapters.chroma.store import ModelStore
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.errors import InvalidInput
from kb.domain.failures import StorageFailed
from kb.domain.index import VectorChanges, VectorSnapshot
from kb.retrieval.ports import VectorReply

_TIES = 32
_DIGITS = 6

WORKER = (sys.executable, "-m", "kb.adapters.chroma.worker")
"""How the child is started from an ordinary installation; a frozen program passes its own way."""


class ChromaVectors:
    """Chroma's HNSW graphs, one folder and one child process per model.

    Nothing depends on them: a store that is damaged, or whose child dies or hangs, is left out and made anew
    from the library at the next sync.

    Args:
        folder: the `chroma` folder of the library; made when first written.
        library_id: stores of another library are not read.
        command: starts the child.
        limits: time, memory and file size of the child.
        damaged: told when a search finds a store missing or damaged; called often, so it must be quick.
    """

    def __init__(
        self,
        folder: Path,
        library_id: str,
        *,
        command: Sequence[str] = WORKER,
        limits: Limits | None = None,
        damaged: Callable[[], object] = lambda: None,
    ) -> None:
        self._folder = folder
        self._library_id = library_id
        self._command = tuple(command)
        self._limits = limits or Limits()
        self._damaged = damaged
        self._stores: dict[str, ModelStore] = {}
        self._making = threading.Lock()

    @property
    def name(self) -> str:
        """Return `chroma`."""
        return "chroma"

    def position(self, model: EmbeddingModel) -> int | None:
        """Return the log position held; None when missing, damaged, or left in the middle of a change."""
        stamp = self._store(model).checked_stamp()
        return None if stamp is None else stamp.position

    def ready(self, model: EmbeddingModel, position: int) -> bool:
        """Return whether the child is up and holds the log up to `position`; starts it in the background if not."""
        return self._store(model).is_ready(position)

    def apply(self, model: EmbeddingModel, changes: VectorChanges) -> None:
        """Send changes to the child and wait until it has them.

        Raises:
            StorageFailed: the store is missing or damaged, the child died or took too long, the disk is full.
        """
        self._store(model).apply(changes)

    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> int:
        """Throw the store of this model away and fill a new one.

        Raises:
            StorageFailed: the child died or took too long, the disk is full.
        """
        return self._store(model).rebuild(snapshot)

    def search(
        self,
        model: EmbeddingModel,
        query: Vector,
        limit: int,
        allowed: Sequence[ChunkKey] | None,
        should_stop: Callable[[], bool] = lambda: False,  # noqa: ARG002 - a graph has no pages to stop between
    ) -> VectorReply:
        """Return about the nearest chunks; `scanned` counts those that came back to be ordered.

        Raises:
            StorageFailed: the child is not up, died or took too long; or `allowed` is given, for which a graph
                is slower than the exact scan.
        """
        if allowed is not None:
            raise StorageFailed("Chroma does not search among chosen chunks", hint="the exact scan does")
        if len(query) != 4 * model.dimensions:
            raise InvalidInput(f"the query has {len(query) // 4} dimensions, the model {model.dimensions}")
        found = self._store(model).query(query, limit + _TIES)
        ordered = sorted(((round(cosine, _DIGITS), key) for key, cosine in found), key=lambda row: (-row[0], row[1]))
        return VectorReply(tuple((key, cosine) for cosine, key in ordered[:limit]), len(found))

    def keys(self, model: EmbeddingModel) -> Sequence[ChunkKey]:
        """Return the key of every vector, in no order.

        Raises:
            StorageFailed: the store is missing or damaged, the child died or took too long.
        """
        return self._store(model).keys()

    def close(self) -> None:
        """End the children."""
        for store in self._stores.values():
            store.close()

    def _store(self, model: EmbeddingModel) -> ModelStore:
        fingerprint = model.fingerprint()
        with self._making:
            if fingerprint not in self._stores:
                self._stores[fingerprint] = ModelStore(
                    self._folder / fingerprint,
                    self._library_id,
                    model,
                    self._command,
                    self._limits,
                    damaged=self._damaged,
                )
            return self._stores[fingerprint]
