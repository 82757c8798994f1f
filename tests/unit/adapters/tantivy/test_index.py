"""The folder of the text index: damage is noticed, crashes and full disks leave a usable state."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import tantivy

from kb.adapters.tantivy import analysis, meta, stamp, swapping
from kb.adapters.tantivy import index as index_module
from kb.adapters.tantivy.index import TantivyTextIndex
from kb.adapters.tantivy.schema import schema
from kb.domain.failures import StorageFailed
from kb.domain.index import TextEntry
from tests.contracts.text_search import ANY, changes, entry, found, snapshot


def _entries(count: int) -> list[TextEntry]:
    return [entry(key, f"word {'more ' * (key % 5)} text{key} 문장{key % 7}") for key in range(1, count + 1)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = TantivyTextIndex(tmp_path / "tantivy", "library")
    made.rebuild(snapshot(3, *_entries(200)))
    made.apply(changes(4, remove=("doc-1", "doc-2"), add=(entry(300, "word text300"),)))
    made.close()
    return tmp_path / "tantivy"


def _damage(folder: Path, chance: random.Random) -> str:
    path = chance.choice([file for file in sorted(folder.iterdir()) if file.stat().st_size])
    data = bytearray(path.read_bytes())
    match chance.randrange(3):
        case 0:
            path.unlink()
            return path.name
        case 1:
            data = data[: len(data) // 2]
        case _:
            for _ in range(40):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    # A new file in its place: to cut one that is mapped kills the process that reads it, whoever it is.
    path.unlink()
    path.write_bytes(data)
    return path.name


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_file_is_noticed_and_the_index_rebuilt_with_the_same_answers(folder: Path, seed: int) -> None:
    expected = TantivyTextIndex(folder, "library").search("word more 문장3", ANY, 10)
    name = _damage(folder, random.Random(seed))
    again = TantivyTextIndex(folder, "library")
    if name == ".managed.json":  # Tantivy's list of its own files, read only to remove old ones
        assert again.position() in {None, 4}
    else:
        assert again.position() is None
        with pytest.raises(StorageFailed, match="missing, damaged or"):
            again.search("word", ANY, 5)
    entries = [made for made in _entries(200) if made.key > 2] + [entry(300, "word text300")]
    again.rebuild(snapshot(4, *entries))
    keys = [candidate.key for candidate in again.search("word more 문장3", ANY, 10).candidates]
    assert keys == [candidate.key for candidate in expected.candidates]
    assert again.position() == 4


@pytest.mark.parametrize("size", [0, 1, 7, 8])
def test_a_file_cut_shorter_than_its_footer_is_damage_and_no_accident(folder: Path, size: int) -> None:
    for path in sorted(folder.glob("*.store")):
        data = path.read_bytes()[:size]
        path.unlink()
        path.write_bytes(data)
    again = TantivyTextIndex(folder, "library")
    assert again.position() is None
    with pytest.raises(StorageFailed, match="missing, damaged or"):
        again.search("word", ANY, 5)


def test_an_index_of_another_library_version_or_analyzer_is_made_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert TantivyTextIndex(folder, "another").position() is None
    assert TantivyTextIndex(folder, "library").position() == 4
    monkeypatch.setattr(stamp, "ANALYZER_VERSION", analysis.ANALYZER_VERSION + "x")
    assert TantivyTextIndex(folder, "library").position() is None


def test_a_folder_that_is_deleted_while_it_is_open_is_missing(folder: Path) -> None:
    index = TantivyTextIndex(folder, "library")
    assert found(index, "text7") == [7]
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert index.position() is None
    with pytest.raises(StorageFailed):
        index.search("word", ANY, 5)
    index.rebuild(snapshot(9, *_entries(3)))
    assert index.position() == 9
    assert [path.name for path in folder.parent.iterdir()] == ["tantivy"]


def test_a_lock_held_by_another_is_a_clear_error_and_nothing_is_wiped(folder: Path) -> None:
    other = tantivy.Index(schema(), path=str(folder))
    writer = other.writer(20_000_000, 1)
    index = TantivyTextIndex(folder, "library")
    for change in (
        lambda: index.apply(changes(5, add=(entry(400, "x"),))),
        lambda: index.rebuild(snapshot(9)),
    ):
        with pytest.raises(StorageFailed, match="another process") as caught:
            change()
        assert caught.value.hint
    assert index.position() == 4
    assert found(index, "text7") == [7]
    writer.wait_merging_threads()
    index.apply(changes(5, add=(entry(400, "unlocked"),)))
    assert found(index, "unlocked") == [400]


def test_a_folder_that_may_not_be_read_is_an_error_and_not_a_missing_index(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    index = TantivyTextIndex(folder, "library")
    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(StorageFailed) as caught:
        index.position()
    assert "rights" in caught.value.hint
    with pytest.raises(StorageFailed):
        index.rebuild(snapshot(9))
    monkeypatch.undo()
    assert TantivyTextIndex(folder, "library").position() == 4


@pytest.mark.parametrize("change", ["apply", "rebuild"])
def test_a_disk_that_fails_at_any_step_leaves_an_index_that_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    steps = {"left": 99}

    def failing(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def step(*args: object, **named: object) -> object:
            steps["left"] -= 1
            if steps["left"] == -1:
                raise OSError(28, "No space left on device")
            return real(*args, **named)

        monkeypatch.setattr(owner, name, step)

    failing(index_module, "write_stamp")
    failing(index_module, "document")
    failing(swapping, "sync_folder")
    failing(os, "fsync")
    failing(Path, "rename")
    for survived in range(30):
        steps["left"] = survived
        index = TantivyTextIndex(folder, "library")
        try:
            if change == "apply":
                index.apply(changes(5, remove=("doc-3",), add=(entry(400, "newest"), entry(401, "newest"))))
            else:
                index.rebuild(snapshot(5, entry(7, "text7"), entry(400, "newest"), entry(401, "newest")))
        except StorageFailed as error:
            failure = error
        else:
            break
        steps["left"] = 999
        assert "full" in failure.message
        assert failure.hint
        again = TantivyTextIndex(folder, "library")
        assert again.position() in {4, 5}
        assert found(again, "text7") == [7]
        if again.position() == 5:
            break
    assert survived > 2
    steps["left"] = 999
    again = TantivyTextIndex(folder, "library")
    assert again.position() == 5
    assert found(again, "newest") == [400, 401]
    assert not [path for path in folder.parent.iterdir() if ".new-" in path.name]


def test_a_commit_without_its_stamp_has_happened_and_leaves_no_deleted_doubles(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, deleted = meta.counted(folder)
    real = stamp.write_stamp
    calls: list[object] = []

    def first_only(*args: object, **named: object) -> None:
        calls.append(args)
        if len(calls) == 2:  # the one after the commit
            raise OSError(5, "killed here")
        real(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(index_module, "write_stamp", first_only)
    killed = TantivyTextIndex(folder, "library")
    change = changes(5, add=(entry(400, "newest"),))
    with pytest.raises(StorageFailed):
        killed.apply(change)
    again = TantivyTextIndex(folder, "library")
    assert again.position() == 5
    for index in (again, killed):
        index.apply(change)
        assert index.position() == 5
        assert found(index, "newest") == [400]
        assert meta.counted(folder)[1] == deleted
    again.apply(changes(6, add=(entry(401, "newest"),)))
    assert found(again, "newest") == [400, 401]


def test_a_commit_that_did_not_happen_is_made_by_the_next_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_args: object, **_named: object) -> None:
        raise OSError(5, "killed here")

    change = changes(5, remove=("doc-3",), add=(entry(400, "newest"),))
    with monkeypatch.context() as patch:
        patch.setattr(index_module, "_add", killed)
        with pytest.raises(StorageFailed):
            TantivyTextIndex(folder, "library").apply(change)
    again = TantivyTextIndex(folder, "library")
    assert again.position() == 4
    again.apply(change)
    assert found(again, "newest") == [400]
    assert found(again, "text3") == []


def test_scores_drift_with_what_was_replaced_until_the_index_is_built_anew(tmp_path: Path) -> None:
    index = TantivyTextIndex(tmp_path / "tantivy", "library")
    index.rebuild(snapshot(1, *_entries(60)))
    index.apply(changes(2, add=(entry(61, "word"),)))
    assert not index.drifts()
    for position in range(3, 10):
        index.apply(changes(position, remove=("doc-7",), add=(entry(7, f"word text7 again {position}"),)))
    assert index.drifts()
    assert TantivyTextIndex(tmp_path / "tantivy", "library").drifts()
    built = TantivyTextIndex(tmp_path / "built", "library")
    held = [*(e for e in _entries(60) if e.key != 7), entry(7, "word text7 again 9"), entry(61, "word")]
    for one in (index, built):
        one.rebuild(snapshot(10, *held))
        assert not one.drifts()
    assert index.search("word again", ANY, 50) == built.search("word again", ANY, 50)


def test_what_a_killed_commit_left_does_not_block_the_next_one(folder: Path) -> None:
    index = TantivyTextIndex(folder, "library")
    last = json.loads((folder / "meta.json").read_bytes())
    deleted = next(s for s in last["segments"] if s["deletes"])
    name = deleted["segment_id"].replace("-", "")
    (folder / f"{'0' * 32}.term").write_bytes(b"half")
    for opstamp in range(last["opstamp"] + 1, last["opstamp"] + 20):
        (folder / f"{name}.{opstamp}.del").write_bytes(b"half")
    held = stamp.read_stamp(folder)
    assert held is not None
    stamp.write_stamp(folder, replace(held, writing=True))
    index.apply(changes(5, remove=("doc-3",), add=(entry(400, "newest"),)))
    assert found(index, "newest") == [400]
    assert found(index, "text3") == []
    assert TantivyTextIndex(folder, "library").position() == 5
    assert not (folder / f"{'0' * 32}.term").exists()


def test_an_index_of_mostly_deleted_texts_asks_to_be_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_FEW_DEAD", 10)
    index = TantivyTextIndex(tmp_path / "tantivy", "library")
    index.rebuild(snapshot(1, *_entries(60)))
    index.apply(changes(2, remove=tuple(f"doc-{key}" for key in range(1, 20))))
    assert index.position() == 2
    index.apply(changes(3, remove=tuple(f"doc-{key}" for key in range(20, 50))))
    assert index.position() is None


def test_searches_go_on_while_changes_are_applied(folder: Path) -> None:
    index = TantivyTextIndex(folder, "library")
    done = threading.Event()

    def ask() -> list[int]:
        counts = [0]
        while not done.is_set():
            counts.append(len(found(index, "stepping", limit=99)))
        return counts

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        for step in range(5, 15):
            index.apply(changes(step, add=(entry(400 + step, "stepping"),)))
        index.rebuild(snapshot(20, *(entry(key, "stepping") for key in range(20))))
        done.set()
        seen = [counts.result(60) for counts in asking]
    assert all(counts == sorted(counts) for counts in seen)
    assert len(found(index, "stepping", limit=99)) == 20


_WRITER = """
import sys
from pathlib import Path
from kb.adapters.tantivy.index import TantivyTextIndex
from tests.contracts.text_search import changes, entry
index = TantivyTextIndex(Path(sys.argv[1]), "library")
for step in range(5, 10_000):
    index.apply(changes(step, remove=(f"doc-{step - 2}",), add=(entry(1000 + step, "stepping"),)))
    print(step, flush=True)
"""


def _kill_once(folder: Path, delay: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"backend{os.pathsep}."},
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay)
        child.kill()
        said = [int(line) for line in child.stdout.read().split()]
    index = TantivyTextIndex(folder, "library")
    position = index.position()
    assert position is not None
    assert position >= max(said, default=5)
    for step in range(position + 1, position + 3):
        index.apply(changes(step, remove=(f"doc-{step - 2}",), add=(entry(1000 + step, "stepping"),)))
    assert sorted(found(index, "stepping", limit=99_999)) == [1000 + step for step in range(5, position + 3)]


@pytest.mark.parametrize("delay", [0.1, 0.33])
def test_a_writer_killed_while_it_commits_loses_nothing_it_acknowledged(folder: Path, delay: float) -> None:
    _kill_once(folder, delay)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(30))
def test_thirty_kills_lose_nothing_acknowledged(folder: Path, seed: int) -> None:
    _kill_once(folder, random.Random(seed).uniform(0, 1.5))
