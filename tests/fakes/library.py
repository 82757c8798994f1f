"""A library in memory that keeps the same promises as the file: tests/contracts/test_library.py holds both to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kb.domain.chunks import Chunk, ChunkRole, StoredChunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.files import ScannedFile
from kb.domain.globs import glob_pattern
from kb.domain.ids import content_hash
from kb.domain.items import Item, ItemState, RawAsset
from kb.domain.metadata import kinds_of
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId, ItemId
from kb.domain.search import SearchFilters
from kb.ingest.library_ports import PendingText
from kb.retrieval.ports import LibraryFacts

_UNREAD = {ItemState.FAILED, ItemState.WAITING, ItemState.UNSUPPORTED}
_Record = tuple[str, ChunkKey]


@dataclass
class Version:
    item_id: ItemId
    doc_id: DocumentId
    chunks: tuple[ChunkKey, ...]
    state: str = "indexing"


@dataclass
class FakeLibrary:
    """Everything at once: each port sees its own methods."""

    items: dict[ItemId, Item] = field(default_factory=dict)
    documents: dict[DocumentId, tuple[CanonicalDocument, RawAsset]] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    chunks: dict[ChunkKey, Chunk] = field(default_factory=dict)
    records: dict[_Record, tuple[str, int]] = field(default_factory=dict)
    vectors: dict[tuple[str, str], Vector] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    log: list[tuple[int, str, str, str, str | None]] = field(default_factory=list)
    pinned: set[str] = field(default_factory=set)
    last_seq: int = 0
    last_key: int = 0

    def write(self, projection: str, op: str, what: object, fingerprint: str | None = None) -> int:
        self.last_seq += 1
        self.log.append((self.last_seq, projection, op, str(what), fingerprint))
        return self.last_seq

    def live(self) -> dict[ItemId, Item]:
        return {key: item for key, item in self.items.items() if item.state is not ItemState.DELETED}

    def indexable(self) -> dict[ChunkKey, WorkspacePath]:
        live = self.live()
        return {
            key: live[version.item_id].path
            for version in self.versions
            if version.state in {"indexing", "ready"} and version.item_id in live
            for key in version.chunks
            if self.chunks[key].role is not ChunkRole.PARENT
        }

    def visible(self) -> dict[ChunkKey, StoredChunk]:
        found: dict[ChunkKey, StoredChunk] = {}
        for version in self.versions:
            item = self.live().get(version.item_id)
            if item is None or version.state != "ready" or item.active_doc_id != version.doc_id:
                continue
            document, asset = self.documents[version.doc_id]
            for key in version.chunks:
                if self.chunks[key].role is not ChunkRole.PARENT:
                    found[key] = StoredChunk(
                        key,
                        self.chunks[key],
                        item.item_id,
                        item.path,
                        document.title,
                        document.lang,
                        asset.media_type.value,
                    )
        return found

    def withdraw(self, doc_ids: Sequence[DocumentId]) -> None:
        kept = self.indexable()
        for doc_id in dict.fromkeys(doc_ids):
            self.write("text", "remove", doc_id)
            if any(self.chunks[key].doc_id == doc_id for key in kept):
                self.write("text", "add", doc_id)
            for record, (state, _) in list(self.records.items()):
                if self.chunks[record[1]].doc_id == doc_id and record[1] not in kept:
                    if state != "pending":
                        self.write("vector", "remove", record[1])
                    del self.records[record]

    def hide(self, item_ids: Sequence[ItemId]) -> None:
        shown: list[DocumentId] = []
        for item_id in item_ids:
            if item_id in self.items:
                self.items[item_id] = replace(self.items[item_id], state=ItemState.DELETED, active_doc_id=None)
            for version in self.versions:
                if version.item_id == item_id and version.state in {"indexing", "ready"}:
                    version.state = "superseded"
                    shown.append(version.doc_id)
        self.withdraw(shown)

    def put(self, item: Item) -> None:
        rivals = [o.item_id for o in self.live().values() if o.path == item.path and o.item_id != item.item_id]
        self.hide(rivals)
        before = self.items.get(item.item_id)
        self.items[item.item_id] = replace(item, active_doc_id=before.active_doc_id if before else None)
        if before and before.path != item.path and before.active_doc_id:
            self.write("text", "remove", before.active_doc_id)
            self.write("text", "add", before.active_doc_id)


@dataclass
class FakeItemStore:
    library: FakeLibrary

    def live_items(self) -> dict[WorkspacePath, Item]:
        return {item.path: item for item in self.library.live().values()}

    def gone_items(self) -> dict[WorkspacePath, Item]:
        return {item.path: item for item in self.library.items.values() if item.state is ItemState.DELETED}

    def save_item(self, item: Item) -> None:
        self.library.put(item)

    def touch(self, files: Sequence[tuple[ItemId, ScannedFile]]) -> None:
        moving = {item_id for item_id, _ in files}
        taken = {file.path for _, file in files}
        live = self.library.live().values()
        self.library.hide([item.item_id for item in live if item.path in taken and item.item_id not in moving])
        for item_id, file in files:
            item = self.library.live().get(item_id)
            if item:
                moved = replace(item, path=file.path, disk_name=file.disk_name, identity=file.identity)
                self.library.items[item_id] = moved
                if item.path != file.path and item.active_doc_id:
                    self.library.write("text", "remove", item.active_doc_id)
                    self.library.write("text", "add", item.active_doc_id)

    def delete_items(self, item_ids: Sequence[ItemId]) -> None:
        self.library.hide(item_ids)


@dataclass
class FakeDocumentWriter:
    library: FakeLibrary

    def stage(
        self,
        item: Item,
        asset: RawAsset,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        model: EmbeddingModel | None,
    ) -> None:
        lib = self.library
        lib.put(item)
        known = document.doc_id in lib.documents
        lib.documents[document.doc_id] = (document, asset)
        by_id = {chunk.chunk_id: key for key, chunk in lib.chunks.items()}
        keys = []
        for chunk in chunks:
            if chunk.chunk_id not in by_id:
                lib.last_key += 1
                by_id[chunk.chunk_id] = ChunkKey(lib.last_key)
                lib.chunks[ChunkKey(lib.last_key)] = chunk
            keys.append(by_id[chunk.chunk_id])
        newest = next((v for v in reversed(lib.versions) if v.item_id == item.item_id), None)
        made = (document.doc_id, tuple(keys))
        same = newest is not None and (newest.doc_id, newest.chunks) == made and newest.state in {"indexing", "ready"}
        if not same:
            lib.versions.append(Version(item.item_id, document.doc_id, tuple(keys)))
        elif newest and newest.state == "ready":
            self._show(newest)
        if model:
            for key in keys:
                if lib.chunks[key].role is not ChunkRole.PARENT:
                    lib.records.setdefault((model.fingerprint(), key), ("pending", 0))
        if not same or (newest and newest.state == "ready"):
            if known:
                lib.write("text", "remove", document.doc_id)
            lib.write("text", "add", document.doc_id)

    def unread(self) -> frozenset[DocumentId]:
        kept = (document for document, _ in self.library.documents.values())
        return frozenset(one.doc_id for one in kept if any(u.state in {"failed", "waiting"} for u in one.coverage))

    def activate(self, doc_ids: Sequence[DocumentId]) -> None:
        lib = self.library
        superseded: list[DocumentId] = []
        for doc_id in doc_ids:
            for version in [v for v in lib.versions if v.doc_id == doc_id and v.state == "indexing"]:
                for earlier in lib.versions[: lib.versions.index(version)]:
                    if earlier.item_id == version.item_id and earlier.state in {"indexing", "ready"}:
                        earlier.state = "superseded"
                        superseded.append(earlier.doc_id)
                version.state = "ready"
                self._show(version)
        lib.withdraw(superseded)

    def _show(self, version: Version) -> None:
        item = self.library.items[version.item_id]
        empty = item.state is ItemState.EMPTY
        self.library.items[item.item_id] = replace(
            item,
            active_doc_id=version.doc_id,
            state=ItemState.EMPTY if empty else ItemState.READY,
            reason=item.reason if empty else None,
        )

    def staged(self) -> Sequence[DocumentId]:
        return sorted({version.doc_id for version in self.library.versions if version.state == "indexing"})

    def purge(self, keep_versions: int, keep_deleted_days: int = 0) -> Sequence[str]:
        lib = self.library
        seen: dict[ItemId, int] = {}
        for version in reversed(lib.versions):
            if version.state == "superseded":
                seen[version.item_id] = seen.get(version.item_id, 0) + 1
                is_gone = lib.items[version.item_id].state is ItemState.DELETED
                most = keep_versions if not is_gone else max(keep_versions, 1) if keep_deleted_days else 0
                if seen[version.item_id] > most and version.doc_id not in lib.pinned:
                    version.state = "purged"
        kept = {version.doc_id for version in lib.versions if version.state != "purged"}
        gone = [lib.documents.pop(doc_id) for doc_id in list(lib.documents) if doc_id not in kept]
        used = {key for version in lib.versions if version.state != "purged" for key in version.chunks}
        lib.chunks = {key: chunk for key, chunk in lib.chunks.items() if key in used}
        hashes = {content_hash(chunk.text.encode()) for chunk in lib.chunks.values()}
        lib.vectors = {key: vector for key, vector in lib.vectors.items() if key[1] in hashes}
        needed = {asset.asset_id for _, asset in lib.documents.values()}
        needed |= {item.asset_id for item in lib.live().values() if item.asset_id}
        unused = {asset.storage_path for _, asset in gone if asset.asset_id not in needed}
        return sorted(unused)


@dataclass
class FakeVectorStore:
    library: FakeLibrary

    def adopt(self, model: EmbeddingModel, doc_ids: Sequence[DocumentId] | None = None) -> int:
        lib, fingerprint = self.library, model.fingerprint()
        for key in lib.indexable():
            lib.records.setdefault((fingerprint, key), ("pending", 0))
        known = [
            key
            for (model_of, key), (state, _) in sorted(lib.records.items())
            if model_of == fingerprint
            and state == "pending"
            and (fingerprint, self._hash(key)) in lib.vectors
            and (doc_ids is None or lib.chunks[key].doc_id in doc_ids)
        ]
        self._mark(fingerprint, known)
        return len(known)

    def pending(
        self, model: EmbeddingModel, limit: int, doc_ids: Sequence[DocumentId] | None = None
    ) -> Sequence[PendingText]:
        texts = {
            self._hash(key): self.library.chunks[key].text
            for (fingerprint, key), (state, _) in self.library.records.items()
            if fingerprint == model.fingerprint()
            and state == "pending"
            and (doc_ids is None or self.library.chunks[key].doc_id in doc_ids)
        }
        shortest = sorted(texts.items(), key=lambda pair: (len(pair[1]), pair[0]))
        return [PendingText(text_hash, text) for text_hash, text in shortest[:limit]]

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        lib, fingerprint = self.library, model.fingerprint()
        for pending, vector in vectors:
            lib.vectors[fingerprint, pending.text_hash] = vector
            lib.damaged.discard(pending.text_hash)
            waiting = [
                key
                for (model_of, key), (state, _) in sorted(lib.records.items())
                if model_of == fingerprint and state == "pending" and self._hash(key) == pending.text_hash
            ]
            self._mark(fingerprint, waiting)

    def commit_through(self, model: EmbeddingModel, position: int) -> None:
        for record, (state, seq) in self.library.records.items():
            if record[0] == model.fingerprint() and state == "written" and seq <= position:
                self.library.records[record] = ("committed", seq)

    def _hash(self, key: ChunkKey) -> str:
        return content_hash(self.library.chunks[key].text.encode())

    def _mark(self, fingerprint: str, keys: Sequence[ChunkKey]) -> None:
        for key in keys:
            self.library.records[fingerprint, key] = ("written", self.library.write("vector", "add", key, fingerprint))


@dataclass
class FakeGatedChunks:
    library: FakeLibrary

    def visible(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        return {key: stored for key, stored in self.library.visible().items() if key in keys}

    def parents(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        kept = {chunk.chunk_id: (key, chunk) for key, chunk in self.library.chunks.items()}
        found: dict[ChunkKey, StoredChunk] = {}
        for key, stored in self.visible(keys).items():
            if stored.chunk.parent_chunk_id in kept:
                parent_key, parent = kept[stored.chunk.parent_chunk_id]
                found[key] = replace(stored, key=parent_key, chunk=parent)
        return found

    def neighbours(self, key: ChunkKey, count: int) -> Sequence[StoredChunk]:
        shown = self.library.visible()
        if key not in shown:
            return ()
        of_document = [s for s in shown.values() if s.chunk.doc_id == shown[key].chunk.doc_id]
        order = sorted(of_document, key=lambda stored: stored.chunk.ordinal)
        at = order.index(shown[key])
        return [*order[max(0, at - count) : at], *order[at + 1 : at + 1 + count]]

    def matching(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        return sorted(key for key, stored in self.library.visible().items() if self._meets(stored, filters))

    def _meets(self, stored: StoredChunk, filters: SearchFilters) -> bool:
        document, asset = self.library.documents[stored.chunk.doc_id]
        metadata = document.metadata
        kinds = {*kinds_of(metadata.source_type, asset.media_type)}
        return (
            (not filters.tags_any or bool({*filters.tags_any} & {*metadata.tags}))
            and (filters.lang is None or f"{document.lang}-".startswith(f"{filters.lang}-"))
            and (filters.path_glob is None or bool(glob_pattern(filters.path_glob).match(stored.path)))
            and (filters.trust_min is None or metadata.trust_level.rank >= filters.trust_min.rank)
            and (not filters.source_types or bool({*filters.source_types} & kinds))
        )

    def facts(self, model: EmbeddingModel | None) -> LibraryFacts:
        lib = self.library
        shown = lib.visible()
        fingerprint = model.fingerprint() if model else None
        ready = [r for r, (state, _) in lib.records.items() if r[0] == fingerprint and state != "pending"]
        moves = [row[0] for row in lib.log if row[1] == "vector" and row[4] in {None, fingerprint}]
        return LibraryFacts(
            chunks=len(shown),
            vectors=sum(key in shown for _, key in ready),
            unread_items=sum(item.state in _UNREAD for item in lib.live().values()),
            vector_position=max(moves, default=0),
            text_position=max((row[0] for row in lib.log if row[1] == "text"), default=0),
        )
