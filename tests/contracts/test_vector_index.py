"""The promise of every vector index, kept by the fake and by the real ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.chroma.index import ChromaVectors
from kb.adapters.vectorscan.index import ScanVectors
from kb.domain.embeddings import ChunkKey
from tests.contracts.vector_index import MODEL, VectorIndexContract, changes, row, snapshot, some, unit
from tests.fakes.search import FakeVectors


class _Exact(VectorIndexContract):
    """What the exact ones promise beyond: filters, and cosines of chosen chunks."""

    def test_only_allowed_chunks_are_compared(self, index: FakeVectors | ScanVectors) -> None:
        index.rebuild(MODEL, snapshot(1, *(row(key, unit(1, key / 10)) for key in range(1, 10))))
        reply = index.search(MODEL, unit(1), 2, [5, 7, 8, 99])  # type: ignore[list-item]
        assert [key for key, _ in reply.candidates] == [5, 7]
        assert reply.scanned == 3
        assert index.search(MODEL, unit(1), 2, []).candidates == ()

    @pytest.mark.parametrize("every", [1, 2, 3, 7, 40])
    def test_however_many_are_allowed_the_nearest_of_them_are_found(
        self, index: FakeVectors | ScanVectors, every: int
    ) -> None:
        index.rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 101))))
        index.apply(MODEL, changes(2, remove=(2, 4, 8, 41)))
        everything = [key for key, _ in index.search(MODEL, some(0), 100, None).candidates]
        allowed = [ChunkKey(key) for key in range(1, 101, every)]
        found = index.search(MODEL, some(0), 5, allowed)
        assert [key for key, _ in found.candidates] == [key for key in everything if key in allowed][:5]
        assert found.scanned == len([key for key in everything if key in allowed])

    def test_chosen_chunks_get_their_cosine(self, index: FakeVectors | ScanVectors) -> None:
        index.rebuild(MODEL, snapshot(1, row(1, unit(1)), row(2, unit(1, 1)), row(3, some(3))))
        found = index.similarities(MODEL, unit(1), [1, 2, 77])  # type: ignore[list-item]
        assert found == pytest.approx({1: 1.0, 2: 0.7071}, abs=1e-3)

    def test_a_fixed_sample_gets_its_cosines_again_after_every_change(self, index: FakeVectors | ScanVectors) -> None:
        index.rebuild(MODEL, snapshot(1, row(1, unit(1)), row(2, unit(1, 1)), row(3, some(3))))
        sample = (ChunkKey(2), ChunkKey(1), ChunkKey(77))
        for _ in range(2):
            assert list(index.background(MODEL, unit(1), sample)) == pytest.approx([0.7071, 1.0], abs=1e-3)
        index.rebuild(MODEL, snapshot(2, row(1, unit(1, 1)), row(2, unit(1))))
        assert list(index.background(MODEL, unit(1), sample)) == pytest.approx([1.0, 0.7071], abs=1e-3)
        assert list(index.background(MODEL, unit(1), ())) == []


class TestFakeVectors(_Exact):
    @pytest.fixture
    def index(self) -> FakeVectors:
        return FakeVectors()


class TestScanVectors(_Exact):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[ScanVectors]:
        index = ScanVectors(tmp_path / "vectors", "library")
        yield index
        index.close()


@pytest.mark.slow
class TestChromaVectors(VectorIndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[ChromaVectors]:
        index = ChromaVectors(tmp_path / "chroma", "library")
        yield index
        index.close()
