"""One library put in place of another, whole or not at all: by renames that a journal can always bring to their end."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from kb.adapters.files.atomic import private_folder, sync_file, sync_folder, unwritten, write_atomically
from kb.domain.failures import StorageFailed

JOURNAL = "restore.json"
STAGED = ".restored-"
KEPT = "before-restore"
# All that is a library's own. The rest of a data folder stays: backups, models, the lock.
_MEMBERS = (
    "kb.sqlite",
    "kb.sqlite-wal",
    "kb.sqlite-shm",
    "kb.sqlite-journal",
    "assets",
    "artifacts",
    "tantivy",
    "vectors",
    "chroma",
    "generations",
    "runs",
)
_STAGED = re.compile(r"\.restored-[A-Za-z0-9_]+\Z")
_KEPT = re.compile(rf"{KEPT}/[0-9A-Za-z-]+\Z")
_WHAT = "the library"
# One call for any number of files; elsewhere it returns before they are written.
_WAITS_FOR_SYNC = sys.platform == "linux"

_Phase = Literal["aside", "place"]


class LibrarySwap:
    """Wraps the data folder of a library that nobody has opened; the lock is held.

    Args:
        data_dir: the data folder.
        on_step: told the name of each step before it is done, and once after the last.
    """

    def __init__(self, data_dir: Path, on_step: Callable[[str], object] = lambda _step: None) -> None:
        self._data = data_dir
        self._on_step = on_step

    def swap(self, staged: Path, kept: str) -> str | None:
        """Put what lies in `staged`, a folder `.restored-…` of the data folder, in place of the library there.

        Args:
            staged: gone afterwards.
            kept: the name below `before-restore` under which the earlier library is kept.

        Returns:
            Where the earlier library is kept, below the data folder; None when there was none.

        Raises:
            StorageFailed: the disk refuses; `heal` goes on from there.
        """
        try:
            self._settle(staged)
            was_there = (self._data / "kb.sqlite").exists()
            self._note("aside", staged.name, f"{KEPT}/{kept}")
            self.heal()
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        return f"{KEPT}/{kept}" if was_there else None

    def heal(self) -> bool:
        """Bring a swap that was cut off to its end, and clear away what others left; return whether there was one.

        Raises:
            StorageFailed: the disk refuses, or the journal is not one of ours.
        """
        journal = self._data / JOURNAL
        try:
            found = journal.read_bytes()
        except FileNotFoundError:
            self._clear()
            return False
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        phase, staged, kept = _journal(found)
        try:
            if phase == "aside":
                self._move_aside(self._data / kept)
                self._note("place", staged, kept)
            self._place(self._data / staged)
            self._step("forget the journal")
            journal.unlink()
            sync_folder(self._data)
            self._step("clear")
            self._clear()
            self._step("done")
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        return True

    def _move_aside(self, kept: Path) -> None:
        for name in _MEMBERS:
            if os.path.lexists(self._data / name):
                private_folder(kept)
                self._step(f"keep {name}")
                (self._data / name).rename(kept / name)
        if kept.exists():
            sync_folder(kept)
        sync_folder(self._data)

    def _place(self, staged: Path) -> None:
        for name in _MEMBERS:
            if os.path.lexists(staged / name):
                self._step(f"place {name}")
                (staged / name).rename(self._data / name)
        sync_folder(self._data)

    def _note(self, phase: _Phase, staged: str, kept: str) -> None:
        self._step(f"note {phase}")
        text = json.dumps({"phase": phase, "staged": staged, "kept": kept})
        write_atomically(self._data / JOURNAL, text.encode())

    def _settle(self, staged: Path) -> None:
        self._step("settle")
        if _WAITS_FOR_SYNC:
            os.sync()
            return
        for folder, _, files in os.walk(staged):
            for name in files:
                sync_file(Path(folder, name))
            sync_folder(Path(folder))

    def _clear(self) -> None:
        for pattern in (f"{STAGED}*", ".backup-*"):
            for left in self._data.glob(pattern):
                shutil.rmtree(left, ignore_errors=True)
        for part in (self._data / "backups").glob(".new-*.part"):
            part.unlink(missing_ok=True)

    def _step(self, name: str) -> None:
        self._on_step(name)


def _journal(data: bytes) -> tuple[_Phase, str, str]:
    try:
        value = json.loads(data)
        phase, staged, kept = value["phase"], str(value["staged"]), str(value["kept"])
    except (ValueError, KeyError, TypeError) as error:
        raise _unknown() from error
    if phase not in {"aside", "place"} or not _STAGED.match(staged) or not _KEPT.match(kept):
        raise _unknown()
    return phase, staged, kept


def _unknown() -> StorageFailed:
    return StorageFailed(
        "a restore was cut off, and its journal cannot be read",
        hint=f"move {JOURNAL} out of the data folder, then restore the backup again; what was there is kept beside it",
    )
