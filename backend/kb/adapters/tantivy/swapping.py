"""A folder built beside another takes its place; a crash in the middle leaves one of the two to be put back."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from kb.adapters.tantivy.disk import FOLDER_MODE, sync_folder
from kb.adapters.tantivy.stamp import is_sound, read_stamp


def made_beside(folder: Path) -> Path:
    """Make an empty folder beside `folder`, which may take its place later."""
    folder.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    made = folder.with_name(f"{folder.name}.new-{secrets.token_hex(4)}")
    made.mkdir(mode=FOLDER_MODE)
    return made


def swap(made: Path, folder: Path) -> None:
    """Put `made` in the place of `folder`, which need not be there; nothing in either may be mapped on Windows."""
    old = folder.with_name(f"{folder.name}.old-{secrets.token_hex(4)}")
    # Between the two renames there is no index: after a crash there, `put_back` finds both.
    if folder.exists():
        folder.rename(old)
    try:
        made.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    sync_folder(folder.parent)


def put_back(folder: Path) -> bool:
    """Finish a swap that a crash broke off: the new folder if it is whole, else the old one; False without either."""
    if folder.exists():
        return False
    for kind in ("new", "old"):
        for left in sorted(folder.parent.glob(f"{folder.name}.{kind}-*")):
            stamp = read_stamp(left)
            if stamp is not None and is_sound(left, stamp):
                left.rename(folder)
                sync_folder(folder.parent)
                return True
    return False


def remove_leftovers(folder: Path) -> None:
    """Remove what earlier swaps left beside `folder`."""
    for kind in ("new", "old"):
        for path in folder.parent.glob(f"{folder.name}.{kind}-*"):
            shutil.rmtree(path, ignore_errors=True)
