"""Projections and an embedder in memory: they count, and fail when told to."""

from __future__ import annotations

import hashlib
import struct
import threading
from dataclasses import dataclass, field

from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import ModelUnavailable, StorageFailed
from kb.domain.index import TextChanges, TextEntry, TextSnapshot, VectorChanges, VectorSnapshot

MODEL = EmbeddingModel("fake-e5", "1", "fake", 4, "mean", "query: ", "passage: ", 480)


@dataclass
class MemoryTextIndex:
    """Entries by chunk key, and the log position they stand for; `lost` is what a deleted folder gives."""

    entries: dict[ChunkKey, TextEntry] = field(default_factory=dict)
    at: int | None = 0
    commits: int = 0
    rebuilds: int = 0
    failures: int = 0

    def lose(self) -> None:
        self.entries.clear()
        self.at = None

    def position(self) -> int | None:
        return self.at

    def apply(self, changes: TextChanges) -> None:
        if self.failures:
            self.failures -= 1
            raise StorageFailed("the disk is full", hint="free some space")
        gone = set(changes.remove)
        self.entries = {key: entry for key, entry in self.entries.items() if entry.doc_id not in gone}
        self.entries.update((entry.key, entry) for entry in changes.add)
        self.at = changes.position
        self.commits += 1

    def drifts(self) -> bool:
        return False  # its scores, if it had any, would be of what it holds

    def rebuild(self, snapshot: TextSnapshot) -> int:
        if self.failures:
            self.failures -= 1
            raise StorageFailed("the disk is full", hint="free some space")
        self.entries = {entry.key: entry for entry in snapshot.entries}
        self.at = snapshot.position
        self.rebuilds += 1
        return len(self.entries)

    def texts(self) -> list[str]:
        return sorted(entry.text for entry in self.entries.values())


@dataclass
class MemoryVectorIndex:
    """Vectors by chunk key under one model."""

    name: str = "scan"
    rows: dict[ChunkKey, Vector] = field(default_factory=dict)
    at: int | None = 0
    rebuilds: int = 0
    broken: bool = False

    def lose(self) -> None:
        self.rows.clear()
        self.at = None

    def position(self, model: EmbeddingModel) -> int | None:
        return self.at

    def apply(self, model: EmbeddingModel, changes: VectorChanges) -> None:
        self._check()
        for key in changes.remove:
            self.rows.pop(key, None)
        self.rows.update((row.key, row.vector) for row in changes.add)
        self.at = changes.position

    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> int:
        self._check()
        self.rows = {row.key: row.vector for row in snapshot.rows}
        self.at = snapshot.position
        self.rebuilds += 1
        return len(self.rows)

    def _check(self) -> None:
        if self.broken:
            raise StorageFailed(f"the process of {self.name} died")


@dataclass
class CountingEmbedder:
    """Vectors made from a hash of the text; remembers every text it was given, in order."""

    model: EmbeddingModel = MODEL
    texts: list[str] = field(default_factory=list)
    unavailable: bool = False
    refuses: str | None = None
    threads: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def embed_passage(self, text: str) -> Vector:
        with self._lock:
            if self.unavailable:
                raise ModelUnavailable("the embedding model is missing", hint="run `kb models pull`")
            if self.refuses and self.refuses in text:
                raise ValueError(text)
            self.texts.append(text)
            self.threads.add(threading.current_thread().name)
        return vector_of(text)


def vector_of(text: str) -> Vector:
    """The made-up vector of a text, of length one."""
    numbers = [byte + 1 for byte in hashlib.sha256(text.encode()).digest()[:4]]
    length = sum(n * n for n in numbers) ** 0.5
    return Vector(struct.pack("<4f", *(n / length for n in numbers)))
