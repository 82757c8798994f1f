"""Paths as people give them, as paths of the workspace."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from kb.domain.errors import ErrorCode, InvalidInput, NotFound
from kb.domain.paths import WorkspacePath, workspace_path


def workspace_paths(root: Path, given: Sequence[Path], here: Path) -> tuple[WorkspacePath, ...]:
    """Return `given` relative to the workspace; empty when the workspace itself is among them.

    A relative path counts from the current folder when that is inside the workspace, else from the
    workspace.

    Raises:
        InvalidInput: a path is outside the workspace.
        NotFound: nothing is there.
    """
    base = Path(os.path.realpath(root))
    inside = _below(Path(os.path.realpath(here)), base) is not None
    found = []
    for path in given:
        absolute = path.expanduser()
        if not absolute.is_absolute():
            absolute = (here if inside or (here / path).exists() else base) / absolute
        # The last part may itself be a link inside the workspace: resolve only the way to it.
        real = Path(os.path.realpath(absolute.parent)) / absolute.name
        if os.path.realpath(absolute) == str(base):
            return ()
        relative = _below(real, base)
        if relative is None:
            raise InvalidInput(
                f"{path.name!r} is not in the workspace",
                hint="copy it into the workspace folder first, or set workspace.root to its folder",
                code=ErrorCode.INVALID_PATH,
            )
        if not os.path.lexists(real):
            raise NotFound(f"{str(path)!r} does not exist", hint="check the name, or leave it out to read everything")
        found.append(workspace_path(unicodedata.normalize("NFC", relative.as_posix())))
    return tuple(found)


def _below(path: Path, base: Path) -> Path | None:
    try:
        return path.relative_to(base)
    except ValueError:
        return None
