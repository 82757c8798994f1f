"""Folders in which unfinished work of a file's content waits for the next try."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from pathlib import Path

_KEPT_SECONDS = 30 * 86_400


class Scratch:
    """One folder per content, named by its checksum.

    Args:
        folder: above them; None gives nobody a folder.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    def take(self, checksum: str) -> str | None:
        """Return the folder of a content, made when it is not there; None while another reading of it has it."""
        if self._folder is None or not checksum.isalnum():
            return None
        with self._lock:
            if checksum in self._taken:
                return None
            self._taken.add(checksum)
        folder = self._folder / checksum
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            self.give_back(checksum, finished=False)
            return None
        return str(folder)

    def give_back(self, checksum: str, *, finished: bool) -> None:
        """Leave the folder: removed with all that is in it when `finished`, else only when nothing is."""
        if self._folder is None:
            return
        folder = self._folder / checksum
        if finished:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        with self._lock:
            self._taken.discard(checksum)

    def forget_old(self) -> None:
        """Remove what nobody came back for in a month."""
        if self._folder is None or not self._folder.is_dir():
            return
        for folder in self._folder.iterdir():
            with contextlib.suppress(OSError):
                if folder.is_dir() and time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
