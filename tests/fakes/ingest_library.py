"""A library in memory, as far as ingest knows it: items, versions, vectors and the index log.

One call is one transaction. `crash_at(n)` makes the n-th following call fail before it does anything,
which is how a kill between two transactions looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kb.domain.chunks import Chunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.files import ScannedFile
from kb.domain.ids import content_hash
from kb.domain.index import TextChanges, TextEntry, TextSnapshot, VectorChanges, VectorRow, VectorSnapshot
from kb.domain.items import Item, ItemState, RawAsset
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import ChunkId, DocumentId, ItemId
from kb.ingest.library_ports import PendingText


class Crash(Exception):
    """The process died here."""


@dataclass
class Version:
    item_id: ItemId
    document: CanonicalDocument
    chunks: tuple[Chunk, ...]
    state: str = "indexing"


@dataclass
class MemoryLibrary:
    items: dict[ItemId, Item] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    waiting: dict[DocumentId, Version] = field(default_factory=dict)
    keys: dict[ChunkId, ChunkKey] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    records: dict[ChunkKey, str] = field(default_factory=dict)
    log: list[tuple[str, str, DocumentId | ChunkKey]] = field(default_factory=list)
    committed_through: int = 0
    trimmed: int = 0
    saves: list[int] = field(default_factory=list)
    activations: list[int] = field(default_factory=list)
    calls_left: int | None = None

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
        """Texts by path of every active ready document."""
        return {
            item.path: [chunk.text for chunk in version.chunks]
            for item in self.items.values()
            for version in self.versions
            if item.state is not ItemState.DELETED
            and version.state == "ready"
            and version.document.doc_id == item.active_doc_id
        }

    def item(self, path: str) -> Item:
        return self.live_items()[WorkspacePath(path)]

    # items

    def live_items(self) -> dict[WorkspacePath, Item]:
        return {item.path: item for item in self.items.values() if item.state is not ItemState.DELETED}

    def save_item(self, item: Item) -> None:
        self._called()
        self._put(item)

    def _put(self, item: Item) -> None:
        before = self.items.get(item.item_id)
        self.items[item.item_id] = replace(item, active_doc_id=before.active_doc_id if before else None)

    def touch(self, files: Sequence[tuple[ItemId, ScannedFile]]) -> None:
        self._called()
        for item_id, file in files:
            self.items[item_id] = replace(self.items[item_id], identity=file.identity, disk_name=file.disk_name)

    def delete_items(self, item_ids: Sequence[ItemId]) -> None:
        self._called()
        for item_id in item_ids:
            self.items[item_id] = replace(self.items[item_id], state=ItemState.DELETED, active_doc_id=None)
            for version in self.versions:
                if version.item_id == item_id and version.state in {"ready", "indexing"}:
                    self._retire(version)

    # documents

    def stage(
        self,
        item: Item,
        asset: RawAsset,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        model: EmbeddingModel | None,
    ) -> None:
        self._called()
        self._put(item)
        if document.doc_id in self.waiting:
            return
        version = Version(item.item_id, document, tuple(chunks))
        self.waiting[document.doc_id] = version
        self.versions.append(version)
        for chunk in chunks:
            key = self.keys.setdefault(chunk.chunk_id, ChunkKey(len(self.keys) + 1))
            if model:
                self.records.setdefault(key, "pending")
        self.log.append(("text", "add", document.doc_id))

    def activate(self, doc_ids: Sequence[DocumentId]) -> None:
        self._called()
        self.activations.append(len(doc_ids))
        changed = {version.item_id for doc_id in doc_ids if (version := self.waiting.get(doc_id))}
        for old in self.versions:
            if old.item_id in changed and old.state == "ready":
                self._retire(old)
        for doc_id in doc_ids:
            if version := self.waiting.pop(doc_id, None):
                version.state = "ready"
                self.items[version.item_id] = replace(self.items[version.item_id], active_doc_id=doc_id)

    def staged(self) -> Sequence[DocumentId]:
        return list(self.waiting)

    def purge(self, keep_versions: int) -> Sequence[str]:
        self._called()
        old = [version for version in self.versions if version.state == "superseded"]
        by_item: dict[ItemId, list[Version]] = {}
        for version in old:
            by_item.setdefault(version.item_id, []).append(version)
        dead = [version for versions in by_item.values() for version in versions[: len(versions) - keep_versions]]
        self.versions = [version for version in self.versions if version not in dead]
        return [f"assets/{v.document.asset_id[:2]}/{v.document.asset_id}" for v in dead]

    def _retire(self, version: Version) -> None:
        self.waiting.pop(version.document.doc_id, None)
        version.state = "superseded"
        self.log.append(("text", "remove", version.document.doc_id))
        for chunk in version.chunks:
            self.log.append(("vector", "remove", self.keys[chunk.chunk_id]))
            self.records.pop(self.keys[chunk.chunk_id], None)

    # vectors

    def adopt(self, model: EmbeddingModel) -> int:
        self._called()
        found = [
            (key, text)
            for key, text in self._indexed().items()
            if self.records.get(key) == "pending" and content_hash(text.encode()) in self.vectors
        ]
        for key, _ in found:
            self._written(key)
        return len(found)

    def pending(self, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        texts = {text for key, text in self._indexed().items() if self.records.get(key) == "pending"}
        ordered = sorted(texts, key=lambda text: (len(text), text))[:limit]
        return [PendingText(content_hash(text.encode()), text) for text in ordered]

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        self._called()
        self.saves.append(len(vectors))
        self.vectors.update((text.text_hash, vector) for text, vector in vectors)
        hashes = {text.text_hash for text, _ in vectors}
        for key, text in self._indexed().items():
            if self.records.get(key) == "pending" and content_hash(text.encode()) in hashes:
                self._written(key)

    def commit_through(self, model: EmbeddingModel, position: int) -> None:
        self._called()
        self.committed_through = position

    def _written(self, key: ChunkKey) -> None:
        self.records[key] = "written"
        self.log.append(("vector", "add", key))

    def _indexed(self) -> dict[ChunkKey, str]:
        versions = [version for version in self.versions if version.state in {"indexing", "ready"}]
        return {self.keys[chunk.chunk_id]: chunk.text for version in versions for chunk in version.chunks}

    # the log

    def text_changes(self, after: int, limit: int) -> TextChanges | None:
        self._reach(after)
        rows = self._rows("text", after)[:limit]
        if not rows:
            return None
        docs = {doc for _, _, doc in rows}
        removed = tuple(dict.fromkeys(DocumentId(str(doc)) for _, op, doc in rows if op == "remove"))
        entries = tuple(entry for entry in self._entries() if entry.doc_id in docs)
        return TextChanges(rows[-1][0], removed, entries)

    def vector_changes(self, model: EmbeddingModel, after: int, limit: int) -> VectorChanges | None:
        self._reach(after)
        rows = self._rows("vector", after)[:limit]
        if not rows:
            return None
        added = {key for _, op, key in rows if op == "add"}
        removed = tuple(ChunkKey(int(key)) for _, op, key in rows if op == "remove")
        return VectorChanges(rows[-1][0], removed, tuple(row for row in self._vector_rows() if row.key in added))

    def text_snapshot(self) -> TextSnapshot:
        return TextSnapshot(len(self.log), iter(self._entries()))

    def vector_snapshot(self, model: EmbeddingModel) -> VectorSnapshot:
        rows = self._vector_rows()
        return VectorSnapshot(len(self.log), len(rows), iter(rows))

    def _reach(self, after: int) -> None:
        if not self.trimmed <= after <= len(self.log):
            raise StorageFailed("the index does not belong to this state of the library")

    def _rows(self, kind: str, after: int) -> list[tuple[int, str, DocumentId | ChunkKey]]:
        return [(n, op, what) for n, (k, op, what) in enumerate(self.log, 1) if n > after and k == kind]

    def _entries(self) -> list[TextEntry]:
        return [
            TextEntry(
                self.keys[chunk.chunk_id],
                version.document.doc_id,
                version.document.workspace_path,
                chunk.text,
                version.document.title,
                version.document.lang,
                (),
                1,
                (),
            )
            for version in self.versions
            if version.state in {"indexing", "ready"}
            for chunk in version.chunks
        ]

    def _vector_rows(self) -> list[VectorRow]:
        return [
            VectorRow(key, self.vectors[content_hash(text.encode())])
            for key, text in sorted(self._indexed().items())
            if self.records.get(key) in {"written", "committed"}
        ]
