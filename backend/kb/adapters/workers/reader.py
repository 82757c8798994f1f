"""Files read in child processes, several at once: what the port `FormatReader` stands for."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Mapping

from kb.adapters.workers.process import ChildSetup, remove_leftovers
from kb.adapters.workers.reading import ChildReading
from kb.adapters.workers.runner import ChildRules, Runner
from kb.adapters.workers.scratch import Scratch
from kb.domain.failures import Cancelled
from kb.domain.files import FileBytes
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import SourceFile

COMMAND = (sys.executable, "-m", "kb.app.reader_child")
"""How a child is started from an ordinary installation; a frozen program passes its own way."""


class ChildReader:
    """A queue of files in front of up to `width` children; first come, first read.

    A file that crashes, hangs or eats memory costs its child and itself; it is not tried again here, and the next
    file gets a fresh child. Children are started when the first file comes and end when none has come for a while.

    Args:
        versions: the parser version of every kind that children can read.
        setup: how children are started; its folder is made, and has to be this library's own.
        width: files at once; 0 means one for each core.
        rules: when children come and go.
    """

    def __init__(
        self, versions: Mapping[MediaType, str], setup: ChildSetup, *, width: int = 0, rules: ChildRules | None = None
    ) -> None:
        self._versions = dict(versions)
        self._setup = setup
        self._width = width or os.cpu_count() or 1
        self._rules = rules or ChildRules()
        self._scratch = Scratch(setup.folder)
        self._waiting: deque[ChildReading] = deque()
        self._changed = threading.Condition()
        self._runners: dict[threading.Thread, ChildReading | None] = {}
        self._idle = 0
        self._closing = False
        self._prepared = False

    @property
    def media_types(self) -> frozenset[MediaType]:
        """Return what can be read."""
        return frozenset(self._versions)

    def version(self, media_type: MediaType) -> str:
        """Return the parser's version, without starting a child."""
        return self._versions[media_type]

    @property
    def width(self) -> int:
        """Return how many files are read at once."""
        return self._width

    def begin(
        self, content: FileBytes, path: WorkspacePath, media_type: MediaType, password: str | None = None
    ) -> ChildReading:
        """Queue a file; it is read as soon as a child is free.

        Raises:
            Cancelled: the reader has been closed.
        """
        source = SourceFile(path, media_type, content.data, content.checksum, content.disk_path, password)
        reading = ChildReading(source)
        with self._changed:
            if self._closing:
                raise Cancelled("the library is being closed")
            self._prepare()
            self._waiting.append(reading)
            if self._idle >= len(self._waiting) or len(self._runners) >= self._width:
                self._changed.notify()
            else:
                self._start_runner()
        return reading

    def close(self) -> None:
        """Stop what is read and wait until every child has ended."""
        with self._changed:
            self._closing = True
            given_up = [*self._waiting, *filter(None, self._runners.values())]
            runners = list(self._runners)
            self._waiting.clear()
            self._changed.notify_all()
        for reading in given_up:
            reading.cancel()
        for runner in runners:
            runner.join()

    def _prepare(self) -> None:
        if self._prepared:
            return
        self._prepared = True
        if self._setup.folder is not None:
            self._setup.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            remove_leftovers(self._setup.folder)
            self._scratch.forget_old()

    def _start_runner(self) -> None:
        runner = Runner(self._setup, self._rules, self._scratch, self._following, lambda: self._closing)
        # Its whole life long it is one thread: Linux ends a child with the thread that started it.
        thread = threading.Thread(target=runner.run, name="reader-runner", daemon=True)
        self._runners[thread] = None
        thread.start()

    def _following(self, seconds: float) -> ChildReading | None:
        """Return the next reading for the runner that asks; None, and the runner is forgotten, when none comes."""
        me = threading.current_thread()
        with self._changed:
            self._runners[me] = None
            self._idle += 1
            self._changed.wait_for(lambda: self._closing or bool(self._waiting), timeout=seconds)
            self._idle -= 1
            while self._waiting and not self._closing:
                reading = self._waiting.popleft()
                if not reading.cancelled:
                    self._runners[me] = reading
                    return reading
            # In the same breath as the look into the queue: what comes next starts another runner.
            del self._runners[me]
            return None
