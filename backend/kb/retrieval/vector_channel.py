"""Which vector engine answers: Chroma once ready and unfiltered, else the exact scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.search import Degradation
from kb.retrieval.ports import VectorReply, VectorSearch
from kb.retrieval.values import Degraded

VectorEngine = Literal["auto", "chroma", "scan"]


@dataclass(frozen=True, slots=True)
class VectorAnswer:
    """The reply, the engine that gave it, and what it could not do."""

    reply: VectorReply
    engine: str | None
    degraded: tuple[Degraded, ...]


class VectorChannel:
    """Asks the preferred engine and falls back to the exact scan, saying so.

    Args:
        scan: the exact scan, which can always be rebuilt from the library.
        approximate: Chroma, or None when the settings leave it out.
        engine: `auto` asks Chroma only when it is ready, and that is no degradation otherwise:
            the scan is exact. `chroma` forced and not ready is one.
    """

    def __init__(self, scan: VectorSearch, approximate: VectorSearch | None, engine: VectorEngine) -> None:
        self._scan = scan
        self._approximate = approximate
        self._engine = engine

    def search(
        self,
        model: EmbeddingModel,
        query: Vector,
        limit: int,
        *,
        allowed: Sequence[ChunkKey] | None,
        position: int,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> VectorAnswer:
        """Return the nearest chunks. `position` is the log position an engine must hold.

        Raises:
            Cancelled: `should_stop`, which scans ask between pages, said so.
        """
        notes: list[Degraded] = []
        if self._approximate is not None and allowed is None and self._engine != "scan":
            if self._approximate.ready(model, position):
                try:
                    reply = self._approximate.search(model, query, limit, None, should_stop)
                    return VectorAnswer(reply, self._approximate.name, ())
                except StorageFailed as error:
                    notes.append(_fallback(error.message))
            elif self._engine == "chroma":
                notes.append(_fallback("Chroma is starting, behind or missing; the exact scan answered"))
        if not self._scan.ready(model, position):
            notes.append(_unavailable("the vector scan file is missing or behind"))
            return VectorAnswer(VectorReply((), 0), None, tuple(notes))
        try:
            reply = self._scan.search(model, query, limit, allowed, should_stop)
        except StorageFailed as error:
            notes.append(_unavailable(error.message))
            return VectorAnswer(VectorReply((), 0), None, tuple(notes))
        return VectorAnswer(reply, self._scan.name, tuple(notes))


def _fallback(detail: str) -> Degraded:
    return Degraded("vector", Degradation.VECTOR_ENGINE_FALLBACK, detail)


def _unavailable(detail: str) -> Degraded:
    return Degraded("vector", Degradation.INDEX_INCOMPATIBLE, detail)
