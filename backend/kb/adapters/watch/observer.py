"""The system's own events of a folder and all that is in it."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

# That something was opened or only read is told, too: reading the workspace would then tell us to read it again.
_TOLD = frozenset({"created", "modified", "moved", "deleted", "closed"})
_WINDOWS = sys.platform == "win32"
_log = logging.getLogger(__name__)


class Told(NamedTuple):
    """Something happened to a path, relative to the root in NFC with `/`; None when what it was is not known."""

    path: str
    is_folder: bool | None


class WatchdogEvents:
    """Wraps watchdog's observer of the running system.

    Args:
        root: the folder.
        observe: makes the observer; tests give others.
    """

    def __init__(self, root: Path, observe: Callable[[], BaseObserver] = Observer) -> None:
        self._given = root
        self._observe = observe
        self._observer: BaseObserver | None = None
        self._identity: tuple[int, int] | None = None

    def start(self, on_change: Callable[[Told], object]) -> str | None:
        """Begin to listen; return why that is not possible, in a sentence, or None. `on_change` comes from a thread."""
        # A folder that left and came back is still watched from before; watchdog prints that, with absolute paths.
        warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning, module=r"watchdog\.")
        root = os.path.realpath(self._given)
        observer = self._observe()
        try:
            found = Path(root).stat()
            observer.schedule(_Handler(root, on_change), root, recursive=True)
            observer.start()
        except OSError as error:
            with contextlib.suppress(RuntimeError, OSError):
                observer.stop()
            return _why_not(error)
        self._observer, self._identity = observer, (found.st_dev, found.st_ino)
        return None

    def listens(self) -> bool:
        """Return whether changes are still told: the folder is the one that `start` met, and the thread is alive."""
        if self._observer is None or not self._observer.is_alive():
            return False
        try:
            found = os.stat(os.path.realpath(self._given))  # noqa: PTH116
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def stop(self, timeout_s: float = 3.0) -> None:
        """Listen no more; twice is once."""
        observer, self._observer = self._observer, None
        if observer is not None:
            with contextlib.suppress(RuntimeError, OSError):
                observer.stop()
                observer.join(timeout_s)


class _Handler(FileSystemEventHandler):
    def __init__(self, root: str, on_change: Callable[[Told], object]) -> None:
        self._start = root.rstrip(os.sep) + os.sep
        self._on_change = on_change

    def on_any_event(self, event: FileSystemEvent) -> None:
        kind, is_folder = event.event_type, bool(event.is_directory)
        # That a folder changed says only that something in it did, which is told by itself.
        if kind not in _TOLD or (is_folder and kind == "modified"):
            return
        # Windows cannot tell what a thing was that is gone.
        told = None if _WINDOWS and kind == "deleted" else is_folder
        for raw in (event.src_path, event.dest_path):
            if path := self._relative(raw):
                try:
                    self._on_change(Told(path, told))
                except Exception:  # noqa: BLE001 - the observer's thread would end, and nothing be told any more
                    _log.exception("a change in the workspace could not be taken in")

    def _relative(self, raw: Any) -> str | None:  # noqa: ANN401 - watchdog gives str or bytes
        full = os.fsdecode(raw) if raw else ""
        if not full.startswith(self._start):
            return None
        path = unicodedata.normalize("NFC", full[len(self._start) :].replace(os.sep, "/"))
        try:
            path.encode()
        except UnicodeEncodeError:  # the next comparison says of it that its name cannot be read
            return None
        return path


def _why_not(error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EMFILE}:
        limit = "fs.inotify.max_user_watches" if error.errno == errno.ENOSPC else "fs.inotify.max_user_instances"
        return f"the system lets no more folders be watched (raise {limit}); the workspace is compared every minute"
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "the workspace folder is missing; it is looked for every minute"
    return f"the system does not tell of changes here ({error.strerror}); the workspace is compared every minute"
