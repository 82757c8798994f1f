"""A file on its way through a child, as the one who waits for it sees it."""

from __future__ import annotations

import threading
from typing import Protocol

from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled
from kb.ingest.reading_ports import SourceFile


class Killable(Protocol):
    """What a file in work can cost."""

    def kill(self) -> None:
        """End it at once."""


class ChildReading:
    """Waits, is read, has ended; safe for several threads.

    Attributes:
        source: the file; None once the reading has ended, for its bytes may be many.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source: SourceFile | None = source
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._child: Killable | None = None
        self._cancelled = False
        self._progress = (0, 0, "")
        self._end: ParsedDocument | Unreadable | Cancelled | None = None

    # for the one who waits

    def wait(self, seconds: float) -> bool:
        """Wait for the end; return whether it has come."""
        return self._ended.wait(seconds)

    def progress(self) -> tuple[int, int, str]:
        """Return units done, units in all and their kind; (0, 0, "") before anything is known."""
        return self._progress

    def result(self) -> ParsedDocument:
        """Return the document, waiting for it.

        Raises:
            Unreadable: as the parser says; or `crashed`, `too_slow`, `too_much_memory` of the child.
            Cancelled: it was given up.
        """
        self._ended.wait()
        if isinstance(self._end, ParsedDocument):
            return self._end
        raise self._end or Cancelled("reading the file was stopped")

    def cancel(self) -> None:
        """Give up: a file in work costs its child, one that waits nothing."""
        with self._lock:
            self._cancelled = True
            if self._child is not None:
                self._child.kill()
            else:
                self._close(None)

    # for the one who reads

    def begun(self, child: Killable) -> SourceFile | None:
        """Say which child reads it; returns the file, None when it was given up meanwhile."""
        with self._lock:
            if self._cancelled:
                return None
            self._child = child
            return self.source

    def told(self, done: int, total: int, unit: str) -> None:
        """Take progress."""
        self._progress = (done, total, unit)

    @property
    def cancelled(self) -> bool:
        """Return whether it was given up."""
        return self._cancelled

    def finish(self, end: ParsedDocument | Unreadable) -> None:
        """Say what became of it; a reading that was given up stays given up."""
        with self._lock:
            self._child = None
            self._close(None if self._cancelled else end)

    def _close(self, end: ParsedDocument | Unreadable | None) -> None:
        if not self._ended.is_set():
            self._end = end
            self.source = None
            self._ended.set()
