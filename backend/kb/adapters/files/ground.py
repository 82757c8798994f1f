"""What the workspace stands on: the identity of its folder, and the devices mounted in it."""

# ruff: noqa: PTH118
# One look for each folder of a large workspace.

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from kb.domain.files import Ground


class WorkspaceGround:
    """Looks at folders with `stat`.

    Args:
        root: the workspace folder.
        look: `os.stat`; tests give devices of their own.
    """

    def __init__(self, root: Path, look: Callable[[str], os.stat_result] = os.stat) -> None:
        self._given = root
        self._look = look

    def ground(self, folders: Iterable[str]) -> Ground:
        """Return the identity of the root, and which of `folders` and the folders they lie in are mount points."""
        root = os.path.realpath(self._given)
        try:
            found = self._look(root)
        except OSError:
            return Ground("")
        devices: dict[str, int | None] = {"": found.st_dev}
        mounts = set()
        for folder in folders:
            path = folder
            while path and path not in devices:
                devices[path] = self._device(root, path)
                path = path.rpartition("/")[0]
        for path, device in devices.items():
            above = devices.get(path.rpartition("/")[0])
            if path and device is not None and above is not None and device != above:
                mounts.add(path)
        return Ground(f"{found.st_dev:x}:{found.st_ino:x}", tuple(sorted(mounts)))

    def is_mounted(self, folder: str) -> bool:
        """Return whether a device is mounted on a folder; False when there is no such folder."""
        root = os.path.realpath(self._given)
        here, above = self._device(root, folder), self._device(root, folder.rpartition("/")[0])
        return here is not None and here != above

    def _device(self, root: str, folder: str) -> int | None:
        try:
            return self._look(os.path.join(root, folder) if folder else root).st_dev
        except OSError:
            return None
