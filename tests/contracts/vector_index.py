"""What every vector index promises, whatever it is made of."""

from __future__ import annotations

import math
import random
import struct
from typing import Protocol

import pytest

from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.index import VectorChanges, VectorRow, VectorSnapshot
from kb.retrieval.ports import VectorReply

MODEL = EmbeddingModel("tiny", "1", "test", 8, "mean", "query: ", "passage: ", 510)
OTHER = EmbeddingModel("tiny", "2", "test", 8, "mean", "query: ", "passage: ", 510)


class VectorIndex(Protocol):
    """Both sides of a vector index, as one object has them."""

    def position(self, model: EmbeddingModel) -> int | None: ...
    def ready(self, model: EmbeddingModel, position: int) -> bool: ...
    def apply(self, model: EmbeddingModel, changes: VectorChanges) -> None: ...
    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> int: ...
    def search(
        self, model: EmbeddingModel, query: Vector, limit: int, allowed: list[ChunkKey] | None
    ) -> VectorReply: ...


def unit(*numbers: float) -> Vector:
    """Return a vector of length one that points towards `numbers`, filled with zeros."""
    filled = (*numbers, *[0.0] * (8 - len(numbers)))
    length = math.sqrt(sum(n * n for n in filled)) or 1.0
    return Vector(struct.pack("<8f", *(n / length for n in filled)))


def some(seed: int) -> Vector:
    """Return one of many vectors."""
    chance = random.Random(seed)
    return unit(*(chance.gauss(0, 1) for _ in range(8)))


def row(key: int, vector: Vector) -> VectorRow:
    return VectorRow(ChunkKey(key), vector)


def snapshot(position: int, *rows: VectorRow) -> VectorSnapshot:
    return VectorSnapshot(position, len(rows), iter(rows))


def changes(position: int, *, add: tuple[VectorRow, ...] = (), remove: tuple[int, ...] = ()) -> VectorChanges:
    return VectorChanges(position, tuple(ChunkKey(key) for key in remove), add)


class VectorIndexContract:
    """Subclasses give the fixture `index`, empty and new."""

    def found(self, index: VectorIndex, query: Vector, limit: int = 10) -> list[int]:
        return [key for key, _ in index.search(MODEL, query, limit, None).candidates]

    def test_a_new_index_holds_nothing_and_says_so(self, index: VectorIndex) -> None:
        assert index.position(MODEL) is None
        assert not index.ready(MODEL, 0)
        with pytest.raises(StorageFailed):
            index.search(MODEL, unit(1), 5, None)
        with pytest.raises(StorageFailed):
            index.apply(MODEL, changes(1, add=(row(1, unit(1)),)))

    def test_after_a_rebuild_it_holds_the_position_and_finds_the_nearest_first(self, index: VectorIndex) -> None:
        rows = (row(3, unit(1, 0.2)), row(5, unit(0, 1)), row(9, unit(1)))
        assert index.rebuild(MODEL, snapshot(7, *rows)) == 3
        assert index.position(MODEL) == 7
        reply = index.search(MODEL, unit(1), 2, None)
        assert [key for key, _ in reply.candidates] == [9, 3]
        assert reply.candidates[0][1] == pytest.approx(1, abs=2e-3)
        assert reply.candidates[1][1] == pytest.approx(1 / math.hypot(1, 0.2), abs=2e-3)

    def test_an_index_of_no_vectors_is_an_index(self, index: VectorIndex) -> None:
        assert index.rebuild(MODEL, snapshot(4)) == 0
        assert index.position(MODEL) == 4
        assert index.search(MODEL, unit(1), 5, None).candidates == ()

    def test_changes_replace_remove_and_add(self, index: VectorIndex) -> None:
        index.rebuild(MODEL, snapshot(1, row(1, unit(1)), row(2, unit(0, 1)), row(3, unit(0, 0, 1))))
        index.apply(MODEL, changes(2, remove=(1,), add=(row(2, unit(1, 0.1)), row(4, unit(0, 1)))))
        assert index.position(MODEL) == 2
        assert self.found(index, unit(1))[:1] == [2]
        assert self.found(index, unit(0, 1))[:1] == [4]
        assert sorted(self.found(index, unit(1))) == [2, 3, 4]

    def test_applying_twice_is_applying_once(self, index: VectorIndex) -> None:
        index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
        twice = changes(2, remove=(1,), add=(row(2, unit(0, 1)),))
        index.apply(MODEL, twice)
        index.apply(MODEL, twice)
        assert self.found(index, unit(1)) == [2]
        assert index.position(MODEL) == 2

    def test_equal_vectors_come_in_key_order(self, index: VectorIndex) -> None:
        index.rebuild(MODEL, snapshot(1, *(row(key, unit(1)) for key in (1, 2, 3, 4))))
        index.apply(MODEL, changes(2, add=(row(9, unit(1)), row(5, unit(1)))))
        assert self.found(index, unit(1)) == [1, 2, 3, 4, 5, 9]

    def test_another_model_has_another_index(self, index: VectorIndex) -> None:
        index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
        assert index.position(OTHER) is None
        index.rebuild(OTHER, snapshot(2, row(2, unit(1))))
        assert index.position(MODEL) == 1
        assert self.found(index, unit(1)) == [1]

    def test_a_rebuild_forgets_what_was_there(self, index: VectorIndex) -> None:
        index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
        index.rebuild(MODEL, snapshot(5, row(2, unit(1))))
        assert self.found(index, unit(1)) == [2]
        assert index.position(MODEL) == 5

    def test_the_same_question_gets_the_same_answer(self, index: VectorIndex) -> None:
        index.rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 300))))
        first = index.search(MODEL, some(1000), 20, None)
        assert all(index.search(MODEL, some(1000), 20, None) == first for _ in range(20))
