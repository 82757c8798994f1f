"""One process owns a library, and says who it is."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.files.atomic import write_atomically
from kb.adapters.files.lock import LibraryLock
from kb.domain.failures import Busy, StorageFailed

HOLD = """
import sys, time
from pathlib import Path
from kb.adapters.files.lock import LibraryLock
LibraryLock(Path(sys.argv[1]), "kb serve").acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], env=env, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def test_a_second_process_is_told_at_once_who_holds_the_library(
    tmp_path: Path, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: pytest.fail("waited although it was told not to"))
    with pytest.raises(Busy) as caught:
        LibraryLock(tmp_path, "kb ingest").acquire()
    assert caught.value.message == f"`kb serve` (process {holder.pid}) holds the library"
    assert caught.value.hint


def test_a_lock_is_free_as_soon_as_its_holder_is_killed(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with LibraryLock(tmp_path, "kb ingest") as lock:
        found = lock.holder()
        assert found is not None
        assert (found.owner, found.pid) == ("kb ingest", os.getpid())


def test_waiting_ends_when_the_holder_does(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(Busy):
        LibraryLock(tmp_path, "kb ingest", wait_seconds=0.2).acquire()
    holder.kill()
    LibraryLock(tmp_path, "kb ingest", wait_seconds=10).acquire()


def test_a_lock_given_back_can_be_taken_again(tmp_path: Path) -> None:
    lock = LibraryLock(tmp_path / "new", "kb ingest")
    lock.acquire()
    lock.release()
    lock.release()
    assert lock.holder() is None
    with LibraryLock(tmp_path / "new", "kb serve"):
        pass


def test_a_lock_file_without_a_name_in_it_still_locks(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    (tmp_path / "lock").write_text("{")
    with pytest.raises(Busy, match="another process holds the library"):
        LibraryLock(tmp_path, "kb ingest").acquire()


def test_a_full_disk_costs_the_lock_its_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.write", full)
        broken.setattr("os.ftruncate", full)
        with LibraryLock(tmp_path, "kb search") as lock:
            assert lock.holder() is None
            with pytest.raises(Busy):
                LibraryLock(tmp_path, "kb ingest").acquire()
    with LibraryLock(tmp_path, "kb ingest") as lock:
        holder = lock.holder()
        assert holder is not None
        assert holder.owner == "kb ingest"


def test_a_data_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(StorageFailed, match="data folder"):
        LibraryLock(tmp_path / "data", "kb ingest").acquire()


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "stamp.json"
    write_atomically(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    write_atomically(path, b"newer")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("stamp.json", b"newer")]
