"""The index log of a library in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.ids import content_hash
from kb.domain.index import TextChanges, TextEntry, TextSnapshot, VectorChanges, VectorRow, VectorSnapshot
from kb.domain.metadata import kinds_of
from kb.domain.recipes import DocumentId

if TYPE_CHECKING:
    from tests.fakes.library import FakeLibrary


@dataclass
class FakeIndexLog:
    library: FakeLibrary

    def text_changes(self, after: int, limit: int) -> TextChanges | None:
        rows = [row for row in self.library.log if row[1] == "text" and row[0] > after][:limit]
        if not rows:
            return None
        remove = tuple(dict.fromkeys(DocumentId(row[3]) for row in rows if row[2] == "remove"))
        touched = {row[3] for row in rows}
        add = tuple(entry for entry in self._entries() if entry.doc_id in touched)
        return TextChanges(rows[-1][0], remove, add)

    def vector_changes(self, model: EmbeddingModel, after: int, limit: int) -> VectorChanges | None:
        fingerprint = model.fingerprint()
        rows = [r for r in self.library.log if r[1] == "vector" and r[0] > after and r[4] in {None, fingerprint}]
        if not rows[:limit]:
            return None
        added = {int(row[3]) for row in rows[:limit] if row[2] == "add"}
        remove = tuple(dict.fromkeys(ChunkKey(int(row[3])) for row in rows[:limit] if row[2] == "remove"))
        return VectorChanges(
            rows[:limit][-1][0], remove, tuple(row for row in self._vectors(fingerprint) if row.key in added)
        )

    def text_snapshot(self) -> TextSnapshot:
        return TextSnapshot(self._last("text"), iter(list(self._entries())))

    def vector_snapshot(self, model: EmbeddingModel) -> VectorSnapshot:
        rows = list(self._vectors(model.fingerprint()))
        return VectorSnapshot(self._last("vector"), len(rows), iter(rows))

    def trim(self, text_position: int, vector_position: int) -> None:
        newest = {self._last("text"), self._last("vector")}
        through = {"text": text_position, "vector": vector_position}
        self.library.log = [row for row in self.library.log if row[0] > through[row[1]] or row[0] in newest]

    def _last(self, projection: str) -> int:
        return max((row[0] for row in self.library.log if row[1] == projection), default=0)

    def _entries(self) -> Iterator[TextEntry]:
        for key, path in sorted(self.library.indexable().items()):
            chunk = self.library.chunks[key]
            document, asset = self.library.documents[chunk.doc_id]
            yield TextEntry(
                key=key,
                doc_id=chunk.doc_id,
                path=path,
                text=chunk.text,
                heading=" ".join(dict.fromkeys((document.title, *chunk.heading_path))),
                lang=document.lang,
                tags=tuple(sorted(set(document.metadata.tags))),
                trust_rank=document.metadata.trust_level.rank,
                kinds=kinds_of(document.metadata.source_type, asset.media_type),
            )

    def _vectors(self, fingerprint: str) -> Iterator[VectorRow]:
        for (model_of, key), (state, _) in sorted(self.library.records.items()):
            text_hash = content_hash(self.library.chunks[key].text.encode())
            if model_of == fingerprint and state != "pending" and text_hash not in self.library.damaged:
                yield VectorRow(key, self.library.vectors[fingerprint, text_hash])
