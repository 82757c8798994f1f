"""The parent's side of the child: started, asked, and killed when it does not answer in time."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import kb
from kb.adapters.chroma.frames import Facts, Frame, read_frame, write_frame

_BACKEND = str(Path(kb.__file__).parents[1])


class WorkerFailed(Exception):
    """The child died, did not answer in time (`died`), or could not do what was asked."""

    def __init__(self, reason: str, *, died: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.died = died


@dataclass(frozen=True, slots=True)
class Limits:
    """What the child may take: seconds per request, bytes of a file and of memory."""

    open_seconds: float = 60.0
    write_seconds: float = 120.0
    query_seconds: float = 5.0
    stop_seconds: float = 10.0
    file_bytes: int = 8 << 30
    memory_bytes: int = 64 << 30


class Worker:
    """One child process. Requests go one at a time.

    Args:
        command: starts the child; it speaks frames on stdin and stdout.
        limits: time, memory, file size.

    Raises:
        WorkerFailed: the child cannot be started.
    """

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._limits = limits
        self._asking = threading.Lock()
        self._started = threading.Event()
        self._processes: list[subprocess.Popen[bytes]] = []
        # A thread of its own for the whole life of the child: Linux ends a child with the thread that started it,
        # and the one that asks for it may be short-lived.
        self._keeper = threading.Thread(target=self._keep, args=(list(command),), name="chroma-keeper", daemon=True)
        self._keeper.start()
        self._started.wait()
        if not self._processes:
            self._keeper.join()
            raise WorkerFailed("the child could not be started", died=True)
        facts: Facts = {"file_bytes": limits.file_bytes, "memory_bytes": limits.memory_bytes, "parent": os.getpid()}
        try:
            self.ask("limit", facts, seconds=limits.open_seconds)
        except WorkerFailed:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Return whether the child runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Return the child's process id."""
        return self._process.pid

    def ask(self, do: str, facts: Facts, tail: bytes = b"", *, seconds: float, patience: float = -1) -> Frame:
        """Send a request and return the reply.

        Args:
            do: the operation.
            facts: its arguments.
            tail: its numbers.
            seconds: after these the child is killed.
            patience: seconds to wait for an earlier request; without limit if negative.

        Raises:
            WorkerFailed: no reply, a reply that is an error, or the child stayed busy.
        """
        if not self._asking.acquire(timeout=patience):
            raise WorkerFailed("busy", died=False)
        try:
            reply = self._exchange(Frame({"do": do, **facts}, tail), seconds)
        finally:
            self._asking.release()
        if "error" in reply.facts:
            raise WorkerFailed(str(reply.facts["error"]), died=False)
        return reply

    def stop(self) -> bool:
        """Let the child finish and end; kill it when that takes too long. Return whether it ended well."""
        with self._killed_after(self._limits.stop_seconds):
            with self._asking, contextlib.suppress(OSError):
                self._stdin.close()
            self._keeper.join()
        self._stdout.close()
        return self._process.returncode == 0

    def kill(self) -> None:
        """End the child at once, by its id."""
        with contextlib.suppress(OSError):
            self._process.kill()

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        return self._processes[0]

    @property
    def _stdin(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdin)

    @property
    def _stdout(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdout)

    def _exchange(self, frame: Frame, seconds: float) -> Frame:
        reply = None
        with self._killed_after(seconds), contextlib.suppress(OSError, ValueError):
            write_frame(self._stdin, frame)
            reply = read_frame(self._stdout)
        if reply is None:
            self.kill()
            raise WorkerFailed("the child died or did not answer in time", died=True)
        return reply

    @contextlib.contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        watchdog = threading.Timer(seconds, self.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()

    def _keep(self, command: list[str]) -> None:
        paths = os.pathsep.join(filter(None, (_BACKEND, os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": paths, "ANONYMIZED_TELEMETRY": "False"}
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError:
            self._started.set()
            return
        self._processes.append(process)
        self._started.set()
        process.wait()
