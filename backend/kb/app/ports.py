"""What the facade reads beside the ports of the core: the catalogue, one document, runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kb.domain.catalogue import (
    ChunkInspection,
    IngestRun,
    ItemRow,
    LibrarySummary,
    Page,
)
from kb.domain.chunks import StoredChunk
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import DocumentSummary
from kb.domain.embeddings import EmbeddingModel
from kb.domain.ids import Json
from kb.domain.items import ItemState
from kb.domain.paths import WorkspacePath
from kb.domain.reading import DocumentDetails, KeptBlock, KeptChunk, Original
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.spans import PartSpan


class Documents(Protocol):
    """Documents that can be seen."""

    def documents(self, after: str | None = None, limit: int = 100) -> Page[DocumentSummary]:
        """Return documents by path."""

    def document(self, doc_id: DocumentId) -> DocumentSummary | None:
        """Return one document."""

    def coverage(self, doc_id: DocumentId) -> tuple[CoverageUnit, ...]:
        """Return what became of every line, page or part of a document."""

    def summary(self, model: EmbeddingModel | None) -> LibrarySummary:
        """Return the counts of the library."""


class Items(Protocol):
    """Files of the workspace."""

    def items(
        self,
        after: str | None = None,
        limit: int = 100,
        state: ItemState | None = None,
        *,
        attention: bool = False,
    ) -> Page[ItemRow]:
        """Return items by path."""

    def item_at(self, path: WorkspacePath) -> ItemRow | None:
        """Return the item at a path."""

    def item(self, item_id: str) -> ItemRow | None:
        """Return the item with an id."""


class Chunks(Protocol):
    """Chunks of documents that can be seen."""

    def chunk(self, chunk_id: ChunkId) -> ChunkInspection | None:
        """Return one chunk with its vectors."""

    def every_chunk(
        self, doc_id: DocumentId, after: int = -1, limit: int = 100, holding: str = ""
    ) -> Page[ChunkInspection]:
        """Return the chunks that hold some letters, also parents and those that people took out."""


class Passages(Protocol):
    """Chunks that can be found."""

    def chunks(self, doc_id: DocumentId, after: int = -1, limit: int = 100) -> Page[StoredChunk]:
        """Return the chunks of a document in order."""

    def originals(self, doc_id: DocumentId) -> Sequence[StoredChunk]:
        """Return the edited chunks of a document that can be seen, as the file says them."""


class Catalogue(Documents, Items, Chunks, Passages, Protocol):
    """All lists of the library."""


class Reading(Protocol):
    """One document, chunk or original at a time, shown or kept."""

    def details(self, doc_id: DocumentId) -> DocumentDetails | None:
        """Return outline, aliases, warnings of a kept document."""

    def kept_chunk(self, chunk_id: ChunkId) -> KeptChunk | None:
        """Return a chunk of a shown or superseded version."""

    def passages(self, doc_id: DocumentId) -> tuple[StoredChunk, ...]:
        """Return the passages of a shown or superseded version, in order."""

    def blocks(self, doc_id: DocumentId) -> tuple[KeptBlock, ...]:
        """Return the blocks of a kept document, in order."""

    def parts(self, doc_id: DocumentId) -> tuple[PartSpan, ...]:
        """Return the numbered or named parts that a kept document has text of, each once."""

    def former_item(self, path: WorkspacePath) -> str | None:
        """Return the item that had a document at a path where now there is none."""

    def original(self, item_id: str, doc_id: str | None) -> Original | None:
        """Return where the bytes of a version are."""


class Runs(Protocol):
    """Ingest runs, item by item."""

    def save(self, run: IngestRun, items: Sequence[Mapping[str, Json]] = ()) -> None:
        """Add or renew a run."""

    def get(self, run_id: str) -> IngestRun | None:
        """Return a run."""

    def items(self, run_id: str, after: int = -1, limit: int = 1000) -> Page[Mapping[str, Json]]:
        """Return what a run did to each item."""
