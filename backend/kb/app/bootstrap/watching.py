"""What follows the workspace of one opened library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from kb.app.bootstrap import Parts, now
from kb.app.watching import Desk, Following, Workspace
from kb.domain.errors import KebabError
from kb.domain.files import Scope
from kb.domain.paths import WorkspacePath

if TYPE_CHECKING:
    from kb.app.watching import Changes

_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "fuse.rclone", "fuse.davfs")
_AFAR = "the workspace lies on a network drive, which does not tell of changes; it is compared every minute"


def following_of(parts: Parts, desk: Desk) -> Following | None:
    """Return what follows the workspace, None when the settings say not to."""
    indexing = parts.settings.indexing
    if not indexing.watch_filesystem:
        return None
    changes, problem = _changes(parts)
    return Following(
        changes,
        Workspace(
            keeps=lambda: parts.workspace_files().keeps(_scope(parts)), has_few=has_few(parts), live=_live(parts)
        ),
        desk,
        parts.job_control.get,
        parts.compared,
        every_s=indexing.reconcile_minutes * 60,
        problem=problem,
        now=now,
    )


def has_few(parts: Parts) -> Callable[[Sequence[str], int], bool]:
    """Return what says whether at most so many files lie at and below some paths, looking no further than it must."""

    def few(paths: Sequence[str], most: int) -> bool:
        if len(paths) > most:
            return False
        scope = _scope(parts, tuple(map(WorkspacePath, paths)))
        try:
            return len(list(islice(parts.workspace_files().scan(scope), most + 1))) <= most
        except KebabError:
            return False

    return few


def _scope(parts: Parts, paths: tuple[WorkspacePath, ...] = ()) -> Scope:
    workspace = parts.settings.workspace
    return Scope(workspace.include, workspace.exclude, paths, may_be_gone=True)


def _live(parts: Parts) -> Callable[[], int]:
    return lambda: sum(count for state, count in parts.catalogue.summary(None).items.items() if state != "deleted")


def _changes(parts: Parts) -> tuple[Changes | None, str | None]:
    if _file_system(str(parts.configuration.workspace)) in _REMOTE:
        return None, _AFAR
    from kb.adapters.watch.observer import WatchdogEvents

    return WatchdogEvents(parts.configuration.workspace), None


def _file_system(path: str) -> str:
    """Return the kind of file system a folder lies on, empty when unknown."""
    import os

    import psutil

    real = os.path.realpath(path)
    try:
        partitions = psutil.disk_partitions(all=True)
    except OSError:
        return ""
    below = [one for one in partitions if real == one.mountpoint or real.startswith(one.mountpoint.rstrip("/") + "/")]
    kind: str = max(below, key=lambda one: len(one.mountpoint)).fstype if below else ""
    return kind.lower()
