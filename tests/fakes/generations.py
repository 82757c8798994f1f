"""A generation in memory while it is made: what is shown, what is held, and texts that have a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.domain.chunks import Chunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.generations import GenerationCounts, GenerationId, ShownItem
from kb.domain.ids import content_hash
from kb.domain.index import TextEntry, TextSnapshot, VectorRow, VectorSnapshot
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId, ItemId
from kb.ingest.library_ports import PendingText


@dataclass
class MemoryBuild:
    """`shown` is changed by tests as an ingest would; `position` is that of both logs."""

    shown: dict[str, ShownItem] = field(default_factory=dict)
    texts: dict[ItemId, list[str]] = field(default_factory=dict)
    checksums: dict[ItemId, str] = field(default_factory=dict)
    kept: list[ItemId] = field(default_factory=list)
    vectors: dict[str, Vector] = field(default_factory=dict)
    saves: list[int] = field(default_factory=list)
    position: int = 7
    lost_entries: int = 0

    def outdated(self, generation: GenerationId) -> Sequence[ShownItem]:
        items = [self.shown[path] for path in sorted(self.shown)]
        return [one for one in items if self.checksums.get(one.item.item_id) != one.asset.checksum]

    def take_over(self, generation: GenerationId, items: Sequence[ItemId], *, whole: bool = True) -> None:
        by_id = {one.item.item_id: one for one in self.shown.values()}
        for item_id in items:
            self.checksums[item_id] = by_id[item_id].asset.checksum
            self.texts[item_id] = [f"as it was: {by_id[item_id].item.path}"]
            if not whole:
                self.kept.append(item_id)

    def stage(
        self,
        generation: GenerationId,
        shown: ShownItem,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        fingerprint: str,
    ) -> None:
        self.checksums[shown.item.item_id] = shown.asset.checksum
        self.texts[shown.item.item_id] = [chunk.text for chunk in chunks]

    def pending(self, generation: GenerationId, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        found = [PendingText(content_hash(text.encode()), text) for text in sorted(set(self._all()))]
        return [one for one in found if one.text_hash not in self.vectors][:limit]

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        self.saves.append(len(vectors))
        self.vectors.update((text.text_hash, vector) for text, vector in vectors)

    def text_snapshot(self, generation: GenerationId) -> TextSnapshot:
        entries = [
            TextEntry(ChunkKey(key), DocumentId("d"), self._paths()[0], text, "", "en", (), 2, ())
            for key, text in enumerate(self._all())
        ]
        return TextSnapshot(self.position, iter(entries[self.lost_entries :]))

    def vector_snapshot(self, generation: GenerationId, model: EmbeddingModel) -> VectorSnapshot:
        known = [(key, content_hash(text.encode())) for key, text in enumerate(self._all())]
        rows = [VectorRow(ChunkKey(key), self.vectors[name]) for key, name in known if name in self.vectors]
        return VectorSnapshot(self.position, len(rows), iter(rows))

    def positions(self) -> tuple[int, int]:
        return self.position, self.position

    def counts(self) -> GenerationCounts:
        texts = self._all()
        known = [text for text in texts if content_hash(text.encode()) in self.vectors]
        return GenerationCounts(
            len(self.texts), len(self.shown), len(texts), len(known), len(set(texts)), len(set(self.kept))
        )

    def _all(self) -> list[str]:
        return [text for item_id in sorted(self.texts) for text in self.texts[item_id]]

    def _paths(self) -> list[WorkspacePath]:
        return [WorkspacePath(path) for path in sorted(self.shown)]
