"""Chroma's child may die, hang, lie or lose its files: the parent goes on, and the next sync makes it anew."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kb.adapters.chroma.frames import Facts, Frame
from kb.adapters.chroma.index import ChromaVectors
from kb.adapters.chroma.process import Limits, Worker, WorkerFailed
from kb.adapters.chroma.stamp import Stamp, write_stamp
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.index import VectorChanges, VectorRow, VectorSnapshot
from tests.contracts.vector_index import MODEL, changes, row, snapshot, unit
from tests.fakes.chroma_child import FAKE_CHILD

_SHORT = Limits(open_seconds=5, write_seconds=1, query_seconds=1, stop_seconds=1)

Make = Callable[..., ChromaVectors]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ChromaVectors] = []

    def fake(mode: str = "well", limits: Limits = _SHORT) -> ChromaVectors:
        command = (sys.executable, "-c", FAKE_CHILD, mode)
        index = ChromaVectors(tmp_path / "chroma", "library", command=command, limits=limits)
        made.append(index)
        return index

    yield fake
    for index in made:
        index.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("chroma")]


def _wait(index: ChromaVectors, position: int, seconds: float = 20) -> bool:
    """Ask until the index is ready or time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if index.ready(MODEL, position):
            return True
        time.sleep(0.01)
    return False


def _worker(index: ChromaVectors) -> Worker:
    worker = index._store(MODEL)._worker
    assert worker is not None
    return worker


def test_it_starts_in_the_background_and_answers_when_it_is_up(make: Make) -> None:
    first = make()
    first.rebuild(MODEL, snapshot(3, row(1, unit(1)), row(2, unit(1))))
    first.close()
    again = make()
    assert again.position(MODEL) == 3
    assert not again.ready(MODEL, 3)
    with pytest.raises(StorageFailed, match="not running"):
        again.search(MODEL, unit(1), 5, None)
    assert _wait(again, 3)
    assert [key for key, _ in again.search(MODEL, unit(1), 5, None).candidates] == [1, 2]
    assert not again.ready(MODEL, 4)


def test_it_says_no_to_filters(make: Make) -> None:
    index = make()
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    with pytest.raises(StorageFailed, match="chosen"):
        index.search(MODEL, unit(1), 5, [ChunkKey(1)])


@pytest.mark.parametrize("what", ["die in upsert", "hang in upsert", "fail in upsert", "babble in upsert"])
def test_a_change_that_was_not_acknowledged_makes_the_store_void(make: Make, what: str) -> None:
    well = make()
    well.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    well.close()
    ill = make(what)
    start = time.monotonic()
    with pytest.raises(StorageFailed) as caught:
        ill.apply(MODEL, changes(2, add=(row(2, unit(1)),)))
    assert caught.value.hint
    assert time.monotonic() - start < 5
    assert ill.position(MODEL) is None
    assert not ill.ready(MODEL, 1)
    ill.close()
    again = make()
    assert again.position(MODEL) is None
    assert again.rebuild(MODEL, snapshot(2, row(1, unit(1)), row(2, unit(1)))) == 2
    assert again.position(MODEL) == 2


@pytest.mark.parametrize("what", ["die in open", "hang in count", "fail in query", "lie about the count"])
def test_a_store_that_cannot_be_opened_is_void_and_never_waited_for(make: Make, what: str) -> None:
    well = make()
    well.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    well.close()
    ill = make(what, Limits(open_seconds=0.5, stop_seconds=1))
    assert ill.position(MODEL) == 1
    assert not _wait(ill, 1, seconds=1.5)
    assert ill.position(MODEL) is None


def test_asking_whether_it_is_ready_never_waits_for_a_child_that_hangs(make: Make) -> None:
    well = make()
    well.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    well.close()
    # The child is given up after ten minutes: a question that waited for it would outlast the limit of the test.
    ill = make("hang in open", Limits(open_seconds=600, stop_seconds=1))
    assert not any(ill.ready(MODEL, 1) for _ in range(1000))


def test_a_program_that_cannot_be_started_costs_no_store(tmp_path: Path, make: Make) -> None:
    well = make()
    well.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    well.close()
    for command in (("/nowhere/kebab", "worker"), (sys.executable, "-c", "raise SystemExit(3)")):
        ill = ChromaVectors(tmp_path / "chroma", "library", command=command)
        assert not _wait(ill, 1, seconds=0.5)
        ill.close()
        assert ill.position(MODEL) == 1


def test_a_query_that_hangs_is_cut_off_and_the_child_replaced(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.adapters.chroma.store._RETRY_SECONDS", 0.0)
    index = make()
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    assert _wait(index, 1)
    stopped = _worker(index)
    os.kill(stopped.pid, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(StorageFailed, match="in time"):
        index.search(MODEL, unit(1), 5, None)
    assert time.monotonic() - start < 3
    assert _wait(index, 1)
    assert _worker(index).pid != stopped.pid
    assert index.search(MODEL, unit(1), 5, None).candidates[0][0] == 1


def test_a_child_that_dies_again_and_again_makes_its_store_void(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.adapters.chroma.store._RETRY_SECONDS", 0.0)
    index = make()
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    for _ in range(3):
        assert _wait(index, 1)
        os.kill(_worker(index).pid, signal.SIGKILL)
        with pytest.raises(StorageFailed):
            index.search(MODEL, unit(1), 5, None)
    assert index.position(MODEL) is None


def test_a_file_that_changed_while_nothing_ran_makes_the_store_void(tmp_path: Path, make: Make) -> None:
    first = make()
    first.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    first.close()
    (data,) = tmp_path.rglob("chroma.sqlite3")
    data.write_text("1 2")
    again = make()
    assert again.position(MODEL) is None
    assert not _wait(again, 1, seconds=0.5)


def test_a_child_that_was_killed_at_rest_leaves_a_store_that_is_tried_again(make: Make) -> None:
    first = make()
    first.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    os.kill(_worker(first).pid, signal.SIGKILL)
    first.close()
    again = make()
    assert again.position(MODEL) == 1
    assert _wait(again, 1)


def test_deleting_the_folder_makes_it_missing(tmp_path: Path, make: Make) -> None:
    index = make()
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    for path in sorted((tmp_path / "chroma").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert index.position(MODEL) is None
    assert not index.ready(MODEL, 1)
    assert index.rebuild(MODEL, snapshot(2, row(1, unit(1)))) == 1


def test_stores_of_another_library_or_make_are_not_read(tmp_path: Path, make: Make) -> None:
    index = make()
    index.rebuild(MODEL, snapshot(1, row(1, unit(1))))
    index.close()
    other = ChromaVectors(tmp_path / "chroma", "another")
    assert other.position(MODEL) is None
    (path,) = tmp_path.rglob("stamp.json")
    made = json.loads(path.read_text())
    write_stamp(path, Stamp(**{**made, "version": "0"}))
    assert make().position(MODEL) is None


def test_batches_stay_below_what_chroma_takes(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.adapters.chroma.store.BATCH", 7)
    sizes: list[object] = []
    real = Worker.ask

    def watched(self: Worker, do: str, facts: Facts, tail: bytes = b"", *, seconds: float) -> Frame:
        if do == "upsert":
            sizes.append(facts["count"])
        return real(self, do, facts, tail, seconds=seconds)

    monkeypatch.setattr(Worker, "ask", watched)
    assert make().rebuild(MODEL, snapshot(1, *(row(key, unit(1)) for key in range(20)))) == 20
    assert sizes == [7, 7, 6]


def test_a_child_that_is_not_there_is_said_so() -> None:
    with pytest.raises(WorkerFailed, match="started"):
        Worker(("/nowhere/kebab",), Limits())


_PARENT = """
import sys, time
from pathlib import Path
from kb.adapters.chroma.index import ChromaVectors
from tests.contracts.vector_index import MODEL, row, snapshot, some
index = ChromaVectors(Path(sys.argv[1]), "library")
index.rebuild(MODEL, snapshot(1, *(row(key, some(key)) for key in range(1, 300))))
print(index._store(MODEL)._worker.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_child_ends_with_its_parent_and_works_under_limits(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path / "chroma")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"backend{os.pathsep}."},
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        limits = Path(f"/proc/{child}/limits").read_text()
        assert str(8 << 30) in next(line for line in limits.splitlines() if line.startswith("Max file size"))
        assert int(Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[16]) >= 5
        parent.kill()
    end = time.monotonic() + 5
    while Path(f"/proc/{child}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Callable[[], ChromaVectors]]:
    made: list[ChromaVectors] = []

    def new() -> ChromaVectors:
        made.append(ChromaVectors(tmp_path / "chroma", "library"))
        return made[-1]

    yield new
    for index in made:
        index.close()


_DEEP = EmbeddingModel("e5", "1", "test", 64, "mean", "", "", 510)


def _rows(first: int, count: int) -> tuple[VectorRow, ...]:
    numbers = np.random.default_rng(first).normal(size=(count, _DEEP.dimensions)).astype("<f4")
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return tuple(VectorRow(ChunkKey(first + i), Vector(vector.tobytes())) for i, vector in enumerate(numbers))


def _kill_in_the_middle(new: Callable[[], ChromaVectors], delay: float) -> None:
    index = new()
    rows = list(_rows(1, 2000))
    index.rebuild(_DEEP, VectorSnapshot(1, 2000, iter(rows)))
    worker = index._store(_DEEP)._worker
    assert worker is not None
    killer = threading.Timer(delay, os.kill, (worker.pid, signal.SIGKILL))
    killer.start()
    position = 1
    try:
        for step in range(2, 1000):
            added = _rows(step * 10_000, 200)
            index.apply(_DEEP, VectorChanges(step, (), added))
            rows += added
            position = step
    except StorageFailed:
        pass
    else:
        pytest.fail("the kill came too late")
    killer.join()
    index.close()
    again = new()
    held = again.position(_DEEP)
    assert held in {None, position}
    if held is None:
        again.rebuild(_DEEP, VectorSnapshot(position, len(rows), iter(rows)))
    end = time.monotonic() + 60
    while not again.ready(_DEEP, position) and time.monotonic() < end:
        if again.position(_DEEP) is None:
            again.rebuild(_DEEP, VectorSnapshot(position, len(rows), iter(rows)))
        time.sleep(0.02)
    reply = again.search(_DEEP, rows[-1].vector, 1, None)
    assert reply.candidates[0][0] == rows[-1].key
    again.close()


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05, 0.4])
def test_a_child_killed_in_the_middle_of_upserts_is_replaced_by_the_next_sync(
    real: Callable[[], ChromaVectors], delay: float
) -> None:
    _kill_in_the_middle(real, delay)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(30))
def test_thirty_kills_in_the_middle_of_upserts(real: Callable[[], ChromaVectors], seed: int) -> None:
    _kill_in_the_middle(real, random.Random(seed).uniform(0, 3))


@pytest.mark.slow
@pytest.mark.parametrize("half", ["data_level0.bin", "chroma.sqlite3", "link_lists.bin", "header.bin"])
def test_a_store_cut_by_half_is_made_anew_with_the_same_answers(
    tmp_path: Path, real: Callable[[], ChromaVectors], half: str
) -> None:
    rows = _rows(1, 1500)
    first = real()
    first.rebuild(_DEEP, VectorSnapshot(1, 1500, iter(rows)))
    expected = first.search(_DEEP, rows[7].vector, 10, None)
    first.close()
    files = [path for path in tmp_path.rglob(half) if path.stat().st_size]
    if not files:
        pytest.skip(f"this Chroma writes nothing to {half} for so few vectors")
    for path in files:
        os.truncate(path, path.stat().st_size // 2)
    again = real()
    assert again.position(_DEEP) is None
    assert not again.ready(_DEEP, 1)
    again.rebuild(_DEEP, VectorSnapshot(1, 1500, iter(rows)))
    found = again.search(_DEEP, rows[7].vector, 10, None)
    assert [key for key, _ in found.candidates] == [key for key, _ in expected.candidates]


def test_a_rebuild_that_its_rows_end_leaves_no_half_store_and_can_be_made_again(make: Make) -> None:
    index = make()
    index.rebuild(MODEL, snapshot(1, row(1, unit(0))))

    def ended() -> Iterator[VectorRow]:
        yield row(1, unit(0))
        raise LookupError

    with pytest.raises(LookupError):
        index.rebuild(MODEL, VectorSnapshot(2, 2, ended()))
    assert index.position(MODEL) is None
    assert index.rebuild(MODEL, snapshot(2, row(1, unit(0)), row(2, unit(1)))) == 2
    assert index.position(MODEL) == 2
