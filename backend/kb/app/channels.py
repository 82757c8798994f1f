"""All channels follow a change of passages: keywords, then vectors, each as soon as it can."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import KebabError, Unreadable
from kb.domain.recipes import DocumentId
from kb.ingest.library_ports import IndexLog, TextIndexWriter, VectorIndexWriter, VectorStore
from kb.ingest.ports import PassageEmbedder
from kb.ingest.projections import catch_up_text, catch_up_vectors, follow_vectors

WAIT_S = 10.0
"""So long a change waits for search to follow; what takes longer goes on, and is said."""

_TEXTS = 64
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FollowedBy:
    """How far search follows; `note` says why it does not, if something is in the way."""

    keyword: Literal["done", "waiting"]
    vector: Literal["done", "waiting", "disabled"]
    note: str = ""
    window: int | None = None
    """Tokens that a vector is made of at most; None without a model."""


class Indexed(Protocol):
    """An opened library: its log, and the indexes and the model that serve now."""

    @property
    def log(self) -> IndexLog:
        """The index log."""

    @property
    def text_index(self) -> TextIndexWriter:
        """The full-text index."""

    @property
    def vectors(self) -> VectorStore:
        """The vectors of the library."""

    @property
    def scan(self) -> VectorIndexWriter:
        """The exact vector index."""

    @property
    def vector_indexes(self) -> Sequence[VectorIndexWriter]:
        """Every vector index in use."""

    @property
    def embedder(self) -> PassageEmbedder | None:
        """What makes vectors; None without one."""

    @property
    def model(self) -> EmbeddingModel | None:
        """Whose vectors serve; None without any."""


@dataclass(slots=True)
class _Following:
    """One change on its way into the indexes."""

    doc_id: DocumentId
    keyword: bool = False
    vector: bool = False
    note: str = ""
    settled: threading.Event = field(default_factory=threading.Event)


class Channels:
    """Brings the indexes to what the library says, one change after the other, on a thread of its own.

    Whatever fails here is made up for later: the index log holds it, and what has no vector waits for one.
    """

    def __init__(self, parts: Indexed, *, wait_s: float = WAIT_S) -> None:
        self._parts = parts
        self._wait_s = wait_s
        self._thread = ThreadPoolExecutor(1, "channels")

    def follow(self, doc_id: DocumentId) -> FollowedBy:
        """Let the indexes follow what changed in a document, for a while; return how far they are."""
        following = _Following(doc_id)
        self._thread.submit(self._run, following)
        following.settled.wait(self._wait_s)
        model = self._parts.model
        return FollowedBy(
            "done" if following.keyword else "waiting",
            ("done" if following.vector else "waiting") if model else "disabled",
            following.note,
            model.max_tokens if model else None,
        )

    def close(self) -> None:
        """Wait for what is under way."""
        self._thread.shutdown(wait=True)

    def _run(self, following: _Following) -> None:
        parts = self._parts
        try:
            catch_up_text(parts.log, parts.text_index)
            following.keyword = True
            embedder = parts.embedder
            if embedder is not None:
                left = self._embed(embedder, following.doc_id)
                follow_vectors(parts.log, embedder.model, parts.scan)
                following.vector = not left
                following.note = "passages of this document wait for their vector: the next ingest makes it" * left
        except KebabError as error:
            _log.warning("a change is not in every index yet: %s", error)
            following.note = error.message
        except Exception:  # noqa: BLE001 - logged
            # Unknown, but the change itself is committed: the next ingest brings the indexes up.
            _log.exception("a change is not in every index yet")
        finally:
            following.settled.set()
        with suppress(KebabError):
            if following.keyword and parts.model is not None:
                catch_up_vectors(parts.log, parts.vectors, parts.model, parts.vector_indexes)

    def _embed(self, embedder: PassageEmbedder, doc_id: DocumentId) -> bool:
        """Make the vectors that a document lacks, for as long as somebody waits; return whether some are left."""
        vectors, until = self._parts.vectors, time.monotonic() + self._wait_s
        vectors.adopt(embedder.model, [doc_id])
        refused: set[str] = set()
        while found := vectors.pending(embedder.model, _TEXTS + len(refused), [doc_id]):
            fresh = [pending for pending in found if pending.text_hash not in refused]
            if not fresh:
                return True
            for pending in fresh:
                if time.monotonic() > until:
                    return True
                try:
                    vector = embedder.embed_passage(pending.text)
                except Unreadable:
                    refused.add(pending.text_hash)
                else:
                    vectors.save(embedder.model, [(pending, vector)])
        return False
