"""One process owns a library: a lock the system frees when its holder dies."""

from __future__ import annotations

import contextlib
import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from kb.adapters.files.atomic import private_folder
from kb.domain.failures import Busy, StorageFailed

_PAUSE_S = 0.05
_FAR = 1 << 30  # Windows locks bytes for readers too: one that is never written


class Holder(NamedTuple):
    """Who holds a library: the command, its process, when it started."""

    owner: str
    pid: int
    started_at: str


class LibraryLock:
    """`lock` in the data folder. Not for two threads of one process."""

    def __init__(self, data_dir: Path, owner: str, *, wait_seconds: float = 0.0) -> None:
        """Prepare; `owner` is what people know the process by, such as `kb ingest`."""
        self._path = data_dir / "lock"
        self._owner = owner
        self._wait_seconds = wait_seconds
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock, waiting as long as was said.

        Raises:
            Busy: another process has it; the message names it.
            StorageFailed: the data folder cannot be written.
        """
        try:
            private_folder(self._path.parent)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StorageFailed(
                f"the data folder cannot be written ({error.strerror})", hint="check the data folder with `kb doctor`"
            ) from error
        try:
            self._wait(handle)
            self._sign(handle)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; twice is once."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        with contextlib.suppress(OSError):  # a name left behind costs nothing, a lock that is not given back does
            os.ftruncate(handle, 0)
        _unlock(handle)
        os.close(handle)

    def holder(self) -> Holder | None:
        """Return who wrote last that they hold the library; None when nobody did."""
        try:
            value = json.loads(self._path.read_bytes())
            return Holder(str(value["owner"]), int(value["pid"]), str(value["started_at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _wait(self, handle: int) -> None:
        deadline = time.monotonic() + self._wait_seconds
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise self._busy()
            time.sleep(_PAUSE_S)

    def _sign(self, handle: int) -> None:
        """Write who holds the library; on a full disk the lock holds without a name."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, json.dumps({"owner": self._owner, "pid": os.getpid(), "started_at": started}).encode())

    def _busy(self) -> Busy:
        holder = self.holder()
        who = f"`{holder.owner}` (process {holder.pid})" if holder else "another process"
        return Busy(f"{who} holds the library", hint="wait until it has finished, or stop it, then try again")


def _try_lock(handle: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, _FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _unlock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)
