"""The projections: full text and vectors, in the folder of the generation they were made for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.models import ModelParts
from kb.domain.generations import FIRST, GenerationId

if TYPE_CHECKING:
    from kb.adapters.chroma.index import ChromaVectors
    from kb.adapters.sqlite.names import SqliteNames
    from kb.adapters.tantivy.index import TantivyTextIndex
    from kb.adapters.vectorscan.index import ScanVectors
    from kb.ingest.library_ports import VectorIndexWriter


def index_folder(data_dir: Path, generation: GenerationId) -> Path:
    """Return where the projections of a generation lie: those of the first beside the library, as they always did."""
    return data_dir if generation == FIRST else data_dir / "generations" / str(generation)


class Projections:
    """The projections in one folder, made when first asked for.

    Args:
        folder: holds `tantivy`, `vectors` and `chroma`.
        library_id: stamps them.
        uses_chroma: whether Chroma is one of them.
        tolerates_typos: whether a word that no text has also finds those like it.
        damaged: told when a search finds one of them missing or damaged.
    """

    def __init__(
        self,
        folder: Path,
        library_id: str,
        *,
        uses_chroma: bool,
        tolerates_typos: bool = False,
        damaged: Callable[[], object] = lambda: None,
    ) -> None:
        self._folder = folder
        self._library_id = library_id
        self._uses_chroma = uses_chroma
        self._tolerates_typos = tolerates_typos
        self._damaged = damaged

    @cached_property
    def text_index(self) -> TantivyTextIndex:
        """Return the full-text index."""
        from kb.adapters.tantivy.index import TantivyTextIndex

        return TantivyTextIndex(
            self._folder / "tantivy", self._library_id, tolerant=self._tolerates_typos, damaged=self._damaged
        )

    @cached_property
    def scan(self) -> ScanVectors:
        """Return the exact vector index."""
        from kb.adapters.vectorscan.index import ScanVectors

        return ScanVectors(self._folder / "vectors", self._library_id, damaged=self._damaged)

    @cached_property
    def chroma(self) -> ChromaVectors | None:
        """Return Chroma, None when the settings leave it out."""
        if not self._uses_chroma:
            return None
        from kb.adapters.chroma.index import ChromaVectors

        return ChromaVectors(self._folder / "chroma", self._library_id, damaged=self._damaged)

    @property
    def vector_indexes(self) -> Sequence[VectorIndexWriter]:
        """Return the vector indexes, the exact one first."""
        return [self.scan, *([self.chroma] if self.chroma is not None else [])]

    def close(self) -> None:
        """Let go of files and children."""
        for name in ("chroma", "scan", "text_index"):
            part = self.__dict__.get(name)
            if part is not None:
                part.close()


class ProjectionParts(ModelParts):
    """What can be deleted and built anew from the library."""

    def projections_of(self, generation: GenerationId) -> Projections:
        """Return the projections of any generation, to be closed by who asks."""
        folder = index_folder(self.configuration.data_dir, generation)
        search = self.settings.search
        return Projections(
            folder,
            self.library_id,
            uses_chroma=search.vector_engine != "scan",
            tolerates_typos=search.typo_tolerance,
            damaged=self._tell_damage,
        )

    def _tell_damage(self) -> None:
        self.damage_noticed()

    @property
    def index_folder(self) -> Path:
        """Return where the projections that serve lie."""
        return index_folder(self.configuration.data_dir, self.serving.generation_id)

    @made_once
    def text_index(self) -> TantivyTextIndex:
        """Return the full-text index that serves."""
        return self.projections_of(self.serving.generation_id).text_index

    @made_once
    def scan(self) -> ScanVectors:
        """Return the exact vector index that serves."""
        return self.projections_of(self.serving.generation_id).scan

    @made_once
    def chroma(self) -> ChromaVectors | None:
        """Return the Chroma that serves, None when the settings leave it out."""
        return self.projections_of(self.serving.generation_id).chroma

    @made_once
    def names(self) -> SqliteNames:
        """Return the names of all items, in memory."""
        from kb.adapters.sqlite.names import SqliteNames
        from kb.adapters.tantivy.scripts import simplified

        return SqliteNames(self.library, lambda text: text.translate(simplified()))

    @property
    def vector_indexes(self) -> Sequence[VectorIndexWriter]:
        """Return the vector indexes in use, the exact one first; none without a model, which spares importing numpy."""
        if self.model is None:
            return []
        return [self.scan, *([self.chroma] if self.chroma is not None else [])]
