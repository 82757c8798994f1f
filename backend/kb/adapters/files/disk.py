"""Room on the disk, asked before work begins that would fill it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from kb.domain.failures import StorageFailed

_MB = 1 << 20


def free_bytes(folder: Path) -> int | None:
    """Return the bytes a person may still write where `folder` is or will be; None when it cannot be known."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    try:
        return shutil.disk_usage(there).free
    except OSError:
        return None


def taken_bytes(folder: Path) -> int:
    """Return the bytes of all files in `folder`; what vanishes meanwhile counts nothing."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(here, name)).st_size  # noqa: PTH118 - many files
            except OSError:
                continue
    return total


def require_room(folder: Path, floor_mb: int) -> None:
    """Refuse to begin when less than `floor_mb` megabytes are free.

    Raises:
        StorageFailed: there is less.
    """
    free = free_bytes(folder)
    if free is not None and free < floor_mb * _MB:
        raise StorageFailed(
            f"the disk of the library is nearly full: {free // _MB} MB are free",
            hint=f"free some space; nothing is begun below {floor_mb} MB (storage.min_free_mb)",
        )
