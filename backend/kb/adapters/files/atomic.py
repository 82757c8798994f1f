"""Files of ours appear whole or not at all: a full disk or a kill leaves the old one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import mkstemp

from kb.domain.failures import StorageFailed

_FULL = {errno.ENOSPC, errno.EDQUOT}


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` (mode 0600) to `path` through a temporary file in the same, existing folder.

    Raises:
        OSError: the folder or the disk refuses; nothing is left behind and `path` is as before.
    """
    handle, name = mkstemp(dir=path.parent, prefix=".new-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames inside `folder` survive a power cut; Windows does so by itself."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    """Make what is written in a file survive a power cut."""
    handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritten(what: str, error: OSError) -> StorageFailed:
    """Return the failure to raise when the data folder refuses `what`."""
    if error.errno in _FULL:
        return StorageFailed("the disk is full", hint="free some space, then run `kb ingest` again")
    said = f"{what} could not be written ({error.strerror})"
    return StorageFailed(said, hint="check the data folder with `kb doctor`")


def private_folder(folder: Path) -> Path:
    """Make `folder` and its missing parents, readable by their owner only, and return it."""
    if folder.exists():  # as for nearly every copy: no need to ask for each parent
        return folder
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)
    return folder
