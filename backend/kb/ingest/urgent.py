"""A few files ahead of everything else: their own passages, and the exact index, which takes them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.recipes import DocumentId
from kb.ingest.library_ports import PendingText, VectorIndexWriter, VectorStore

MOST_FILES = 200
"""More changed files than this are no longer a matter of a moment."""
PRIORITY = 10
"""Of jobs that go before what a long ingest has still to do."""
_EXACT = "scan"


@dataclass(frozen=True, slots=True)
class TextsOf:
    """The texts of some documents, as what embeds pending texts sees them."""

    vectors: VectorStore
    doc_ids: Sequence[DocumentId]

    def pending(self, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        """Return texts without a vector, each once, shortest first."""
        return self.vectors.pending(model, limit, self.doc_ids)

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        """Store vectors, in one transaction."""
        self.vectors.save(model, vectors)


def exact(indexes: Sequence[VectorIndexWriter]) -> Sequence[VectorIndexWriter]:
    """Return the index that takes a few vectors at once; the others follow with the next whole run."""
    return [index for index in indexes if index.name == _EXACT]
