"""The projections: full text and vectors, in their folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.models import ModelParts

if TYPE_CHECKING:
    from kb.adapters.chroma.index import ChromaVectors
    from kb.adapters.tantivy.index import TantivyTextIndex
    from kb.adapters.vectorscan.index import ScanVectors
    from kb.ingest.library_ports import VectorIndexWriter


class ProjectionParts(ModelParts):
    """What can be deleted and built anew from the library."""

    @made_once
    def text_index(self) -> TantivyTextIndex:
        """Return the full-text index."""
        from kb.adapters.tantivy.index import TantivyTextIndex

        return TantivyTextIndex(self.configuration.data_dir / "tantivy", self.library_id)

    @made_once
    def scan(self) -> ScanVectors:
        """Return the exact vector index."""
        from kb.adapters.vectorscan.index import ScanVectors

        return ScanVectors(self.configuration.data_dir / "vectors", self.library_id)

    @made_once
    def chroma(self) -> ChromaVectors | None:
        """Return Chroma, None when the settings leave it out."""
        if self.settings.search.vector_engine == "scan":
            return None
        from kb.adapters.chroma.index import ChromaVectors

        return ChromaVectors(self.configuration.data_dir / "chroma", self.library_id)

    @property
    def vector_indexes(self) -> Sequence[VectorIndexWriter]:
        """Return the vector indexes in use, the exact one first; none without a model, which spares importing numpy."""
        if self.model is None:
            return []
        return [self.scan, *([self.chroma] if self.chroma is not None else [])]
