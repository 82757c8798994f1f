"""The parent's side of one child: started, sent a file, heard, measured, killed; what it wrote aside is removed."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import kb
from kb.adapters.workers.frames import LONGEST_REPLY, Facts, Frame, read_frame, write_frame
from kb.domain.limits import ReadingLimits

_BACKEND = str(Path(kb.__file__).parents[1])
_SECRETS = re.compile(r"\AKB_|KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "HF_HUB_OFFLINE": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    # The child stands in a folder into which files are unpacked: modules are never looked for there.
    "PYTHONSAFEPATH": "1",
}
"""One thread a child, for there is a child for each core; nothing is fetched, nothing reported."""
TEMPORARY = "child-"
"""How the names of children's temporary folders begin."""


@dataclass(frozen=True, slots=True)
class ChildSetup:
    """How children are started.

    Attributes:
        command: starts a child that speaks frames on stdin and stdout.
        limits: for each file.
        model_places: folders in which models may lie.
        folder: where children get their temporary folders; the system's when None.
    """

    command: tuple[str, ...]
    limits: ReadingLimits
    model_places: tuple[Path, ...] = ()
    folder: Path | None = None


class Child:
    """One child process. Only the thread that made it may use it; `kill` is for all.

    Linux ends a child together with the thread that started it, so that thread has to live as long as the child.

    Attributes:
        heard: what the child says, in order; None when it says nothing more.
        files: how many it has read.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, setup: ChildSetup) -> None:
        self.heard: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self.files = 0
        self._measured: Any = None
        self._folder = tempfile.mkdtemp(prefix=TEMPORARY, dir=setup.folder)
        try:
            self._process = _started(setup.command, self._folder)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._listener = threading.Thread(target=self._listen, name="reader-listener", daemon=True)
        self._listener.start()
        places = [str(place) for place in setup.model_places]
        self.send({"limits": asdict(setup.limits), "parent": os.getpid(), "models": places})

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether it runs."""
        return self._process.poll() is None

    def send(self, facts: Facts, tail: Sequence[bytes] = ()) -> None:
        """Send a message, without waiting for the child to take it: it may hang."""
        threading.Thread(target=self._write, args=(facts, tail), name="reader-sender", daemon=True).start()

    def memory(self) -> int:
        """Return its resident memory in bytes, 0 when it has ended."""
        import psutil

        try:
            if self._measured is None:
                self._measured = psutil.Process(self._process.pid)
            return int(self._measured.memory_info().rss)
        except psutil.Error:
            return 0

    def kill(self) -> None:
        """End it at once, by its id; any thread may."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill it, for between files it holds nothing worth keeping, and remove what it wrote aside."""
        self.kill()
        self._process.wait()
        self._listener.join()
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _stdin(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdin)

    @property
    def _stdout(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdout)

    def _write(self, facts: Facts, tail: Sequence[bytes]) -> None:
        # A closed pipe is a ValueError once `end` has closed our side.
        with contextlib.suppress(OSError, ValueError):
            write_frame(self._stdin, facts, tail)

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (frame := read_frame(self._stdout, LONGEST_REPLY)) is not None:
                self.heard.put(frame)
        # It ended, or what it says is no longer to be understood.
        self.kill()
        self.heard.put(None)


def child_environment() -> dict[str, str]:
    """Return the environment of a child that opens strange files: no keys, one thread, no modules of its folder."""
    kept = {name: value for name, value in os.environ.items() if not _SECRETS.search(name)}
    paths = os.pathsep.join(filter(None, (_BACKEND, os.environ.get("PYTHONPATH"))))
    return {**kept, **_ALONE, "PYTHONPATH": paths}


def remove_leftovers(folder: Path) -> None:
    """Remove temporary folders of children whose program was killed; only where no other program has children."""
    for left in folder.glob(f"{TEMPORARY}*"):
        shutil.rmtree(left, ignore_errors=True)


def _started(command: Sequence[str], folder: str) -> subprocess.Popen[bytes]:
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**child_environment(), **places},
        cwd=folder,
        creationflags=flags,
    )
