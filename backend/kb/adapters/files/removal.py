"""Removing files of the data folder: one check for everything, so that nothing else can be met."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from pathlib import Path

from kb.domain.failures import StorageFailed

_ID = "[0-9a-f]{32}"
_NAMES = {
    "asset": re.compile(rf"assets/([0-9a-f]{{2}})/({_ID})"),
    "artifacts": re.compile(_ID),
    "projection": re.compile(r"(?:generations/[0-9]{1,10}(?:/(?:tantivy|vectors|chroma))?|tantivy|vectors|chroma)"),
}
_FOLDERS = {"asset": "", "artifacts": "artifacts/", "projection": ""}
_HINT = "it is left alone; `kb doctor` looks at the data folder"


class ContainedRemover:
    """Removes copies, artifacts and projections below one folder.

    A name must be one that Kebab gives, and no part of its path a link: what resolves outside the folder is refused,
    through `..`, links, control characters or the scheme of an address alike.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def remove(self, kind: str, name: str) -> None:
        """Remove it; what is not there is removed.

        Raises:
            StorageFailed: the name is not one of ours, it lies outside the data folder, or the disk refuses.
        """
        path = self._contained(kind, name)
        try:
            if kind == "asset":
                path.unlink(missing_ok=True)
            elif path.exists():
                _remove_folder(path)
        except OSError as error:
            said = f"{kind} of the library could not be removed ({error.strerror})"
            raise StorageFailed(said, hint="it is tried again with the next `kb ingest`") from error

    def _contained(self, kind: str, name: str) -> Path:
        pattern = _NAMES.get(kind)
        if pattern is None or pattern.fullmatch(name) is None:
            raise StorageFailed(f"this is not the name of any {kind or 'thing'} that Kebab made", hint=_HINT)
        base = Path(os.path.realpath(self._data_dir))
        path = base / f"{_FOLDERS[kind]}{name}"
        if Path(os.path.realpath(path)) != path:
            raise StorageFailed(f"a link leads {kind} of the library elsewhere", hint=_HINT)
        return path


def _remove_folder(folder: Path) -> None:
    if stat.S_ISLNK(folder.lstat().st_mode):
        raise OSError(0, "it is a link")
    # `rmtree` follows no link inside the folder.
    shutil.rmtree(folder)
    with contextlib.suppress(OSError):
        if folder.parent.name == "generations":
            folder.parent.rmdir()
