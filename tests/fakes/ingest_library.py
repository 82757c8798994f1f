"""The library in memory as one ingest run sees it, counting its transactions and dying at any of them.

`crash_at(n)` makes the n-th following transaction fail before it does anything, which is how a
kill between two transactions looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.domain.chunks import Chunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.files import ScannedFile
from kb.domain.index import TextChanges, TextSnapshot, VectorChanges, VectorSnapshot
from kb.domain.items import Item, RawAsset
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId, ItemId
from kb.ingest.library_ports import PendingText
from tests.fakes.index_log import FakeIndexLog
from tests.fakes.library import FakeDocumentWriter, FakeItemStore, FakeLibrary, FakeVectorStore


class Crash(BaseException):
    """The process died here."""


@dataclass
class MemoryLibrary:
    """Items, documents, vectors and the log of one `FakeLibrary`."""

    stored: FakeLibrary = field(default_factory=FakeLibrary)
    saves: list[int] = field(default_factory=list)
    activations: list[int] = field(default_factory=list)
    committed_through: int = 0
    trimmed: int = 0
    calls_left: int | None = None

    def __post_init__(self) -> None:
        self._items = FakeItemStore(self.stored)
        self._documents = FakeDocumentWriter(self.stored)
        self._vectors = FakeVectorStore(self.stored)
        self._log = FakeIndexLog(self.stored)

    def crash_at(self, call: int) -> None:
        self.calls_left = call

    def _called(self) -> None:
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left == 0:
                self.calls_left = None
                raise Crash

    # what a person sees

    def visible(self) -> dict[str, list[str]]:
        """The texts that may be shown, by path."""
        texts: dict[str, list[str]] = {}
        for stored in self.stored.visible().values():
            texts.setdefault(stored.path, []).append(stored.chunk.text)
        return texts

    def item(self, path: str) -> Item:
        return self.live_items()[WorkspacePath(path)]

    def vector_count(self) -> int:
        return len(self.stored.vectors)

    # the ports of ingest

    def live_items(self) -> dict[WorkspacePath, Item]:
        return self._items.live_items()

    def gone_items(self) -> dict[WorkspacePath, Item]:
        return self._items.gone_items()

    def save_item(self, item: Item) -> None:
        self._called()
        self._items.save_item(item)

    def touch(self, files: Sequence[tuple[ItemId, ScannedFile]]) -> None:
        self._called()
        self._items.touch(files)

    def delete_items(self, item_ids: Sequence[ItemId]) -> None:
        self._called()
        self._items.delete_items(item_ids)

    def stage(
        self,
        item: Item,
        asset: RawAsset,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        model: EmbeddingModel | None,
    ) -> None:
        self._called()
        self._documents.stage(item, asset, document, chunks, model)

    def activate(self, doc_ids: Sequence[DocumentId]) -> None:
        self._called()
        self.activations.append(len(doc_ids))
        self._documents.activate(doc_ids)

    def staged(self) -> Sequence[DocumentId]:
        return self._documents.staged()

    def unread(self) -> frozenset[DocumentId]:
        return self._documents.unread()

    def purge(self, keep_versions: int, keep_deleted_days: int = 0) -> Sequence[str]:
        self._called()
        return self._documents.purge(keep_versions, keep_deleted_days)

    def adopt(self, model: EmbeddingModel, doc_ids: Sequence[DocumentId] | None = None) -> int:
        self._called()
        return self._vectors.adopt(model, doc_ids)

    def pending(
        self, model: EmbeddingModel, limit: int, doc_ids: Sequence[DocumentId] | None = None
    ) -> Sequence[PendingText]:
        return self._vectors.pending(model, limit, doc_ids)

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        self._called()
        self.saves.append(len(vectors))
        self._vectors.save(model, vectors)

    def commit_through(self, model: EmbeddingModel, position: int) -> None:
        self._called()
        self.committed_through = position
        self._vectors.commit_through(model, position)

    def text_changes(self, after: int, limit: int) -> TextChanges | None:
        self._reach(after)
        return self._log.text_changes(after, limit)

    def vector_changes(self, model: EmbeddingModel, after: int, limit: int) -> VectorChanges | None:
        self._reach(after)
        return self._log.vector_changes(model, after, limit)

    def text_snapshot(self) -> TextSnapshot:
        return self._log.text_snapshot()

    def vector_snapshot(self, model: EmbeddingModel) -> VectorSnapshot:
        return self._log.vector_snapshot(model)

    def _reach(self, after: int) -> None:
        if not self.trimmed <= after <= self.stored.last_seq:
            raise StorageFailed("the index does not belong to this state of the library")
