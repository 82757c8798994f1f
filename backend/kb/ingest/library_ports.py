"""What ingest needs from the library and from its projections.

Laws: one transaction writes documents, chunks and the index log; projections follow the log, keep
the position they reached with their own commit, and can be rebuilt at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.domain.chunks import Chunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.files import ScannedFile
from kb.domain.index import TextChanges, TextSnapshot, VectorChanges, VectorSnapshot
from kb.domain.items import Item, RawAsset
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId, ItemId


@dataclass(frozen=True, slots=True)
class PendingText:
    """A chunk text that has no vector yet; `text_hash` is its full blake3."""

    text_hash: str
    text: str


class ItemStore(Protocol):
    """Items in the library. Each method is one transaction."""

    def live_items(self) -> dict[WorkspacePath, Item]:
        """Return every item whose file was there at the last scan, by path."""

    def gone_items(self) -> dict[WorkspacePath, Item]:
        """Return, by path, the item whose file was there last and is gone now."""

    def save_item(self, item: Item) -> None:
        """Add or replace an item; its active document stays as stored."""

    def touch(self, files: Sequence[tuple[ItemId, ScannedFile]]) -> None:
        """Record new stat identities and paths on disk of items whose content is unchanged."""

    def delete_items(self, item_ids: Sequence[ItemId]) -> None:
        """Hide items whose file is gone and log the removal of their index entries; some in each transaction."""


class DocumentWriter(Protocol):
    """Documents in the library. Each method is one transaction."""

    def stage(
        self,
        item: Item,
        asset: RawAsset,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        model: EmbeddingModel | None,
    ) -> None:
        """Write item, asset, document, blocks, chunks, pending embedding records, index log.

        The new version is `indexing`: nothing shows it yet. Staging the same document twice is
        staging it once.
        """

    def activate(self, doc_ids: Sequence[DocumentId]) -> None:
        """Make staged versions the active ones; earlier ones become superseded and unindexed."""

    def staged(self) -> Sequence[DocumentId]:
        """Return versions that are still `indexing`, such as a crash leaves behind."""

    def unread(self) -> frozenset[DocumentId]:
        """Return documents of which pages or other parts failed or wait for something."""

    def purge(self, keep_versions: int, keep_deleted_days: int = 0) -> Sequence[str]:
        """Remove superseded versions beyond `keep_versions` that no kept answer cites and no generation needs.

        Of a file that is gone the last version is kept for `keep_deleted_days`. Returns the storage paths of asset
        copies nothing refers to any more.
        """


class VectorStore(Protocol):
    """Vectors in the library, the only truth about them."""

    def adopt(self, model: EmbeddingModel, doc_ids: Sequence[DocumentId] | None = None) -> int:
        """Give pending records, or only those of some documents, the vector their text already has; return how many."""

    def pending(
        self, model: EmbeddingModel, limit: int, doc_ids: Sequence[DocumentId] | None = None
    ) -> Sequence[PendingText]:
        """Return texts without a vector, each once, shortest first; `doc_ids` asks for those of some documents only."""

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        """Store vectors, mark their records `written` and log them, in one transaction."""

    def commit_through(self, model: EmbeddingModel, position: int) -> None:
        """Mark records `committed` whose log entry every vector index has applied."""


class IndexLog(Protocol):
    """The ordered log of index work."""

    def text_changes(self, after: int, limit: int) -> TextChanges | None:
        """Return the next changes after a position, None when there are none."""

    def vector_changes(self, model: EmbeddingModel, after: int, limit: int) -> VectorChanges | None:
        """Return the next vector changes after a position, None when there are none."""

    def text_snapshot(self) -> TextSnapshot:
        """Return all entries the text index should hold."""

    def vector_snapshot(self, model: EmbeddingModel) -> VectorSnapshot:
        """Return all vectors a vector index should hold; damaged ones are left out."""


class TextIndexWriter(Protocol):
    """The full-text projection."""

    def position(self) -> int | None:
        """Return the log position the index holds; None when missing, damaged or of old make."""

    def apply(self, changes: TextChanges) -> None:
        """Apply and commit; applying twice is applying once.

        Raises:
            StorageFailed: the index is missing, damaged or the disk is full.
        """

    def drifts(self) -> bool:
        """Return whether scores depend on texts it no longer holds, and building it anew costs little."""

    def rebuild(self, snapshot: TextSnapshot) -> int:
        """Build the whole index anew beside the old one, swap, return the entries written."""


class VectorIndexWriter(Protocol):
    """A vector projection; it never embeds."""

    @property
    def name(self) -> str:
        """`scan` or `chroma`."""

    def position(self, model: EmbeddingModel) -> int | None:
        """Return the log position held; None when missing, damaged or of another model."""

    def apply(self, model: EmbeddingModel, changes: VectorChanges) -> None:
        """Apply durably; applying twice is applying once.

        Raises:
            StorageFailed: the index is missing, damaged or the disk is full.
        """

    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> int:
        """Build anew, swap, return the vectors written."""
