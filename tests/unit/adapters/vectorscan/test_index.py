"""The memory-mapped vector file: exact enough, checked, and old or new after any crash."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kb.adapters.vectorscan import columns, scan
from kb.adapters.vectorscan.index import ScanVectors
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.errors import InvalidInput
from kb.domain.failures import StorageFailed
from kb.domain.index import VectorChanges, VectorRow, VectorSnapshot
from tests.contracts.vector_index import MODEL, changes, row, snapshot, some, unit

E5 = EmbeddingModel("e5", "1", "test", 384, "mean", "query: ", "passage: ", 510)


def _clustered(count: int, seed: int) -> NDArray[np.float32]:
    """Return half random, half clustered vectors of length one: neighbours at every distance."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(40, 384))
    near = centres[chance.integers(0, 40, count // 2)] + 0.4 * chance.normal(size=(count // 2, 384))
    found = np.concatenate((near, chance.normal(size=(count - count // 2, 384))))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def _rows(vectors: NDArray[np.float32], first: int = 1) -> list[VectorRow]:
    return [VectorRow(ChunkKey(first + i), Vector(vector.tobytes())) for i, vector in enumerate(vectors)]


@pytest.mark.parametrize("numkong", [True, False])
def test_the_ten_nearest_are_those_of_exact_arithmetic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, numkong: bool
) -> None:
    if not numkong:
        monkeypatch.setattr(scan, "_NUMKONG", None)
    vectors = _clustered(5000, seed=1)
    queries = vectors[::100] + 0.02 * np.random.default_rng(2).normal(size=(50, 384)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    index = ScanVectors(tmp_path, "library")
    index.rebuild(E5, VectorSnapshot(1, 5000, iter(_rows(vectors))))
    exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :10] + 1
    hits = 0
    for query, right in zip(queries, exact, strict=True):
        reply = index.search(E5, Vector(query.astype(np.float32).tobytes()), 10, None)
        assert reply.scanned == 5000
        hits += len({key for key, _ in reply.candidates} & set(right.tolist()))
    assert hits / 500 >= 0.99


def test_pages_do_not_change_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = _clustered(3000, seed=3)
    index = ScanVectors(tmp_path, "library")
    index.rebuild(E5, VectorSnapshot(1, 3000, iter(_rows(vectors))))
    query = Vector(vectors[17].tobytes())
    some_keys = [ChunkKey(key) for key in range(1, 3001, 2)]
    whole, chosen = index.search(E5, query, 30, None), index.search(E5, query, 30, some_keys)
    monkeypatch.setattr(scan, "PAGE", 101)
    assert index.search(E5, query, 30, None) == whole
    assert index.search(E5, query, 30, some_keys) == chosen


def test_more_ties_than_are_looked_at_closely_are_cut_in_key_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "PAGE", 100)
    index = ScanVectors(tmp_path, "library")
    keys = random.Random(1).sample(range(1, 500), 499)
    index.rebuild(MODEL, snapshot(1, row(1000, unit(0, 1)), *(row(key, unit(1)) for key in keys[:250])))
    index.apply(MODEL, changes(2, add=tuple(row(key, unit(1)) for key in keys[250:])))
    found = index.search(MODEL, unit(1), 5, None).candidates
    assert [key for key, _ in found] == [1, 2, 3, 4, 5]


def test_a_search_stops_when_the_index_is_closed(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    index.close()
    with pytest.raises(StorageFailed, match="closed"):
        index.search(MODEL, unit(1), 1, None)


def test_everything_is_there_again_in_the_next_process(tmp_path: Path) -> None:
    first = ScanVectors(tmp_path, "library")
    first.rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 50))))
    first.apply(MODEL, changes(2, remove=(3, 4), add=(row(60, some(60)),)))
    expected = first.search(MODEL, some(7), 10, None)
    second = ScanVectors(tmp_path, "library")
    assert second.position(MODEL) == 2
    assert second.ready(MODEL, 2)
    assert not second.ready(MODEL, 3)
    assert second.search(MODEL, some(7), 10, None) == expected


def test_vectors_of_another_library_are_not_read(tmp_path: Path) -> None:
    ScanVectors(tmp_path, "library").rebuild(MODEL, snapshot(1, row(1, unit(1))))
    assert ScanVectors(tmp_path, "another").position(MODEL) is None


def test_many_changes_are_compacted_and_nothing_is_lost(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 6001))))
    before = sorted(tmp_path.glob("*.scan"))
    for step in range(2, 8):
        gone = range((step - 2) * 400 + 1, (step - 1) * 400 + 1)
        index.apply(MODEL, changes(step, remove=tuple(gone), add=(row(7000 + step, some(step)),)))
    assert sorted(tmp_path.glob("*.scan")) != before
    assert len(list(tmp_path.glob("*.scan"))) == 1
    again = ScanVectors(tmp_path, "library")
    assert again.position(MODEL) == 7
    reply = again.search(MODEL, some(2401), 6000, None)
    assert reply.scanned == 6000 - 2400 + 6
    assert reply.candidates[0][0] == 2401


def test_a_library_that_outgrows_its_file_gets_a_larger_one(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1))
    for step in range(5):
        added = tuple(row(step * 1500 + i + 1, some(step * 1500 + i)) for i in range(1500))
        index.apply(MODEL, changes(step + 2, add=added))
    assert ScanVectors(tmp_path, "library").search(MODEL, some(0), 1, None).scanned == 7500


def _damage(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    match chance.randrange(4):
        case 0:
            path.unlink()
            return
        case 1:
            data = data[: len(data) // 2]
        case 2:
            data = bytearray()
        case _:
            for _ in range(40):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_file_is_rebuilt_with_the_same_answers(tmp_path: Path, seed: int) -> None:
    rows = [row(key, some(key)) for key in range(1, 4000)]
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(3, *rows))
    expected = index.search(MODEL, some(7), 10, None)
    chance = random.Random(seed)
    _damage(chance.choice(sorted(tmp_path.iterdir())), chance)
    again = ScanVectors(tmp_path, "library")
    if again.position(MODEL) is None:
        assert not again.ready(MODEL, 3)
        with pytest.raises(StorageFailed):
            again.search(MODEL, some(7), 10, None)
        again.rebuild(MODEL, snapshot(3, *rows))
    assert again.search(MODEL, some(7), 10, None) == expected


def test_a_file_cut_while_it_is_open_is_reported_not_read(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    (data,) = tmp_path.glob("*.scan")
    with data.open("r+b") as file:
        file.truncate(100)
    with pytest.raises(StorageFailed, match="damaged"):
        index.search(MODEL, unit(1), 1, None)
    assert index.position(MODEL) is None


def test_a_vector_that_changed_on_disk_is_noticed_by_the_search_that_reads_it(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    (data,) = tmp_path.glob("*.scan")
    content = data.read_bytes()
    fine = np.array([1.0], "<f2").tobytes()
    with data.open("r+b") as file:
        file.seek(content.rindex(fine))
        file.write(b"\x11\x22")
    again = ScanVectors(tmp_path, "library")
    assert again.ready(MODEL, 1)
    with pytest.raises(StorageFailed, match="damaged"):
        again.search(MODEL, unit(1), 1, None)
    assert not again.ready(MODEL, 1)


@pytest.mark.parametrize("change", ["rebuild", "append", "compact"])
def test_a_disk_that_fails_at_any_step_leaves_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    rows = [row(key, some(key)) for key in range(1, 3001)]
    ScanVectors(tmp_path, "library").rebuild(MODEL, snapshot(1, *rows))
    steps = {"left": 99}

    def failing(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def step(*args: object) -> object:
            steps["left"] -= 1
            if steps["left"] < 0:
                raise OSError(28, "No space left on device")
            return real(*args)

        monkeypatch.setattr(owner, name, step)

    failing(columns.ColumnFile, "write")
    failing(os, "fsync")
    failing(Path, "replace")
    gone = tuple(range(1, 2000)) if change == "compact" else ()
    for survived in range(20):
        steps["left"] = survived
        index = ScanVectors(tmp_path, "library")
        try:
            if change == "rebuild":
                index.rebuild(MODEL, snapshot(2, *rows[:100]))
            else:
                index.apply(MODEL, changes(2, remove=gone, add=(row(9000, some(9000)),)))
        except StorageFailed as error:
            failure = error
        else:
            break
        steps["left"] = 99
        assert "No space left" in failure.message
        assert failure.hint
        again = ScanVectors(tmp_path, "library")
        if again.position(MODEL) == 2:  # the last step, making the rename durable, failed after the rename
            again.rebuild(MODEL, snapshot(1, *rows))
        assert again.position(MODEL) == 1
        assert again.search(MODEL, some(7), 3000, None).scanned == 3000
    assert survived > 3
    assert ScanVectors(tmp_path, "library").position(MODEL) == 2


def test_a_query_of_other_dimensions_is_refused(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    with pytest.raises(InvalidInput, match="dimensions"):
        index.search(MODEL, Vector(b"\0" * 12), 1, None)


@pytest.mark.parametrize("bad", [b"\0" * 12, np.full(8, np.nan, "<f4").tobytes()])
def test_a_vector_that_cannot_be_held_changes_nothing(tmp_path: Path, bad: bytes) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    with pytest.raises(StorageFailed):
        index.apply(MODEL, changes(2, add=(row(2, Vector(bad)),)))
    assert index.position(MODEL) == 1


_WRITER = """
import sys
from pathlib import Path
from kb.adapters.vectorscan.index import ScanVectors
from tests.contracts.vector_index import MODEL, changes, row, some
index = ScanVectors(Path(sys.argv[1]), "library")
for step in range(2, 10_000):
    removed = tuple(range((step - 2) * 20 + 1, (step - 2) * 20 + 16))
    index.apply(MODEL, changes(step, remove=removed, add=tuple(row(step * 20 + i, some(i)) for i in range(20))))
    print(step, flush=True)
"""


def _kill_once(folder: Path, delay: float) -> None:
    ScanVectors(folder, "library").rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 40))))
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay)
        child.kill()
        said = [int(line) for line in child.stdout.read().split()]
    index = ScanVectors(folder, "library")
    position = index.position(MODEL)
    assert position is not None
    assert position >= max(said, default=2)
    held = index.search(MODEL, some(1), 1, None).scanned
    # A state between two changes would hold another number of vectors.
    assert held == _expected(position)


def _expected(position: int) -> int:
    keys = set(range(1, 40))
    for step in range(2, position + 1):
        keys -= set(range((step - 2) * 20 + 1, (step - 2) * 20 + 16))
        keys |= {step * 20 + i for i in range(20)}
    return len(keys)


@pytest.mark.parametrize("delay", [0.05, 0.2])
def test_a_writer_killed_while_it_appends_leaves_an_old_or_a_new_state(
    tmp_path: Path, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "backend:.")
    _kill_once(tmp_path, delay)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(40))
def test_forty_kills_leave_old_or_new_states(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "backend:.")
    _kill_once(tmp_path, random.Random(seed).uniform(0, 1.5))


def test_searches_go_on_while_changes_are_applied(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 5001))))
    done = threading.Event()

    def ask() -> list[int]:
        counts = [5000]
        while not done.is_set():
            counts.append(index.search(MODEL, some(1), 5, None).scanned)
        return counts

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        for step in range(2, 30):
            gone = tuple(range((step - 2) * 100 + 1, (step - 1) * 100 + 1))
            index.apply(MODEL, changes(step, remove=gone, add=(row(9000 + step, some(step)),)))
        done.set()
        seen = [counts.result(60) for counts in asking]
    # One change takes a hundred away and adds one: nobody sees the half of it.
    assert all(counts == sorted(counts, reverse=True) for counts in seen)
    assert {(5000 - count) % 99 for counts in seen for count in counts} == {0}


def test_changes_of_a_position_already_held_are_not_applied_again(tmp_path: Path) -> None:
    index = ScanVectors(tmp_path, "library")
    index.rebuild(MODEL, snapshot(5, row(1, unit(1))))
    index.apply(MODEL, VectorChanges(4, (ChunkKey(1),), ()))
    assert index.position(MODEL) == 5
    assert index.search(MODEL, unit(1), 1, None).scanned == 1
