"""Vectors for texts that have none: single passages on threads of their own, shortest first."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.errors import CannotRun
from kb.domain.failures import ModelUnavailable
from kb.ingest.library_ports import PendingText
from kb.ingest.ports import PassageEmbedder

_WINDOW = 512
_SAVED_AT_ONCE = 64
_GLANCE_S = 0.1
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of it.

    Attributes:
        made: texts that were given a vector.
        refused: texts the model could not take; they stay without one.
        unavailable: why the model could not run, None when it could.
    """

    made: int
    refused: int
    unavailable: ModelUnavailable | None


class PendingTexts(Protocol):
    """Gives texts without a vector and keeps the vectors."""

    def pending(self, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        """Return texts without a vector, each once, shortest first."""

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        """Store vectors, in one transaction."""


def embed_pending(
    store: PendingTexts,
    embedder: PassageEmbedder,
    workers: int,
    *,
    should_stop: Callable[[], bool],
    on_progress: Callable[[int, int], object],
) -> Embedded:
    """Embed every pending text; what is made is saved also when it ends early.

    Args:
        store: gives the texts and keeps the vectors, 64 in a transaction.
        embedder: called from `workers` threads, one passage a call.
        workers: how many passages are embedded at once.
        should_stop: asked between passages.
        on_progress: called with (done, known so far) after passages.

    Raises:
        StorageFailed: the library cannot be read or written.
    """
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="embed") as pool:
        crew = _Crew(store, embedder, pool, 2 * workers, should_stop, on_progress)
        while crew.next_window():
            crew.work()
    return Embedded(crew.done, len(crew.refused), crew.unavailable)


class _Crew:
    """The threads, what lies before them, and what they have made."""

    def __init__(  # noqa: PLR0917 - made in one place, just above
        self,
        store: PendingTexts,
        embedder: PassageEmbedder,
        pool: ThreadPoolExecutor,
        at_once: int,
        should_stop: Callable[[], bool],
        on_progress: Callable[[int, int], object],
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.pool = pool
        # Two a worker: the next text lies ready while a vector is being stored.
        self.at_once = at_once
        self.should_stop = should_stop
        self.on_progress = on_progress
        self.waiting: deque[PendingText] = deque()
        self.running: dict[Future[Vector], PendingText] = {}
        self.made: list[tuple[PendingText, Vector]] = []
        self.refused: set[str] = set()
        self.done = 0
        self.unavailable: ModelUnavailable | None = None

    def next_window(self) -> bool:
        """Take the next texts from the store; return whether there is work and leave to do it."""
        if self.unavailable or self.should_stop():
            return False
        texts = self.store.pending(self.embedder.model, _WINDOW + len(self.refused))
        self.waiting.extend(text for text in texts if text.text_hash not in self.refused)
        return bool(self.waiting)

    def work(self) -> None:
        """Embed what is waiting and save it."""
        known = self.done + len(self.waiting)
        self._feed()
        while self.running:
            finished, _ = wait(self.running, timeout=_GLANCE_S, return_when=FIRST_COMPLETED)
            for future in finished:
                self._settle(self.running.pop(future), future)
            if self.unavailable or self.should_stop():
                self._drop_the_rest()
            self._feed()
            if len(self.made) >= _SAVED_AT_ONCE:
                self._save()
            self.on_progress(self.done + len(self.made), known)
        self._save()

    def _feed(self) -> None:
        while self.waiting and len(self.running) < self.at_once:
            text = self.waiting.popleft()
            self.running[self.pool.submit(self.embedder.embed_passage, text.text)] = text

    def _drop_the_rest(self) -> None:
        self.waiting.clear()
        for future in list(self.running):
            if future.cancel():
                del self.running[future]

    def _settle(self, text: PendingText, future: Future[Vector]) -> None:
        try:
            self.made.append((text, future.result()))
        except ModelUnavailable as error:
            self.unavailable = error
        except CannotRun:
            raise
        except Exception:  # noqa: BLE001
            # One odd text must not cost the vectors of all the others.
            _log.exception("a passage could not be embedded: %s", text.text_hash)
            self.refused.add(text.text_hash)

    def _save(self) -> None:
        if self.made:
            self.store.save(self.embedder.model, tuple(self.made))
            self.done += len(self.made)
            self.made.clear()
