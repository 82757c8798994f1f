"""Stored chunks, hits and a small searchable library for the tests of retrieval."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kb.domain.chunks import Chunk, StoredChunk
from kb.domain.citations import Citation
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.index import TextEntry, TextSnapshot, VectorRow, VectorSnapshot
from kb.domain.paths import workspace_path
from kb.domain.places import LinePlace
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.search import SearchFilters
from kb.domain.spans import LineSpan, Segment
from kb.retrieval.ports import LibraryFacts
from kb.retrieval.retriever import Retriever, VectorSide
from kb.retrieval.values import ChannelScores, Hit
from kb.retrieval.vector_channel import VectorChannel
from tests.fakes.search import FakeText, FakeVectors

MODEL = EmbeddingModel("letters", "1", "fake", 26, "none", "", "", 512)


def a_stored(key: int, text: str, *, ordinal: int = 0, path: str = "a.md") -> StoredChunk:
    chunk = Chunk(
        ChunkId(f"{key:032x}"),
        DocumentId(f"doc of {path}"),
        ordinal,
        text,
        (),
        (),
        (Segment(0, len(text), LineSpan(ordinal + 1, ordinal + 1)),),
        len(text) // 4,
        "v",
        "p",
    )
    return StoredChunk(ChunkKey(key), chunk, "item", workspace_path(path), path, "en", "markdown")


def a_hit(rank: int, key: int, text: str) -> Hit:
    stored = a_stored(key, text, ordinal=key)
    place = Citation(stored.path, LinePlace(key + 1, key + 1))
    return Hit(rank, 1 / rank, 1 / rank, ChannelScores(), stored, place, text, True, ())


def letters(text: str) -> Vector:
    """A vector of the letter counts of a text, of length one."""
    counts = [text.lower().count(chr(ord("a") + i)) for i in range(26)]
    size = math.sqrt(sum(n * n for n in counts)) or 1.0
    return Vector(struct.pack("<26f", *(n / size for n in counts)))


@dataclass
class LetterEmbedder:
    """Embeds questions by their letters; `broken` makes it fail."""

    broken: Exception | None = None
    model: EmbeddingModel = MODEL

    def embed_query(self, text: str) -> Vector:
        if self.broken:
            raise self.broken
        return letters(text)


@dataclass
class Gate:
    """The final gate over stored chunks; `hidden` keys do not pass."""

    stored: Mapping[ChunkKey, StoredChunk]
    hidden: set[int] = field(default_factory=set)
    vectors: int | None = None
    parent_of: Mapping[ChunkKey, StoredChunk] = field(default_factory=dict)

    def visible(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        return {key: self.stored[key] for key in keys if key in self.stored and key not in self.hidden}

    def parents(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, StoredChunk]:
        return {key: self.parent_of[key] for key in self.visible(keys) if key in self.parent_of}

    def neighbours(self, key: ChunkKey, count: int) -> Sequence[StoredChunk]:
        return [s for s in self.stored.values() if 0 < abs(s.key - key) <= count and s.path == self.stored[key].path]

    def matching(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        return sorted(k for k, s in self.stored.items() if not filters.path_glob or s.path == filters.path_glob)

    def sample(self, count: int) -> Sequence[ChunkKey]:
        visible = [s for s in self.stored.values() if s.key not in self.hidden]
        return [s.key for s in sorted(visible, key=lambda s: s.chunk.chunk_id)[:count]]

    def facts(self, model: EmbeddingModel | None) -> LibraryFacts:
        count = len(self.stored) - len(self.hidden)
        return LibraryFacts(count, count if self.vectors is None else self.vectors, 0, 1, 1)


@dataclass
class Bench:
    """A retriever over texts, with every part at hand."""

    retriever: Retriever
    gate: Gate
    text: FakeText
    scan: FakeVectors
    chroma: FakeVectors
    embedder: LetterEmbedder


def a_bench(*texts: str, engine: str = "auto", with_model: bool = True) -> Bench:
    stored = {ChunkKey(i): a_stored(i, text, path=f"{i}.md") for i, text in enumerate(texts)}
    entries = [TextEntry(s.key, s.chunk.doc_id, s.path, s.chunk.text, "", "en", (), 1, ()) for s in stored.values()]
    rows = [VectorRow(s.key, letters(s.chunk.text)) for s in stored.values()]
    text, scan, chroma = FakeText(), FakeVectors("scan"), FakeVectors("chroma")
    text.rebuild(TextSnapshot(1, iter(entries)))
    for index in (scan, chroma):
        index.rebuild(MODEL, VectorSnapshot(1, len(rows), iter(rows)))
    embedder, gate = LetterEmbedder(), Gate(stored)
    side = VectorSide(embedder, VectorChannel(scan, chroma, engine), scan, gate)  # type: ignore[arg-type]
    ticks = iter(range(10**6))
    retriever = Retriever(
        gate, text, side if with_model else None, clock_ms=lambda: float(next(ticks)), new_trace_id=lambda: "ret_1"
    )
    return Bench(retriever, gate, text, scan, chroma, embedder)
