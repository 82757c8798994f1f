"""Files that are gone, or only out of reach: a drive that is away is never taken for a deletion of everything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kb.domain.files import Ground
from kb.domain.items import Item
from kb.domain.paths import WorkspacePath

MANY_SHARE = 0.3
MANY_FILES = 10
_EXAMPLES = 3
Why = Literal["many_missing", "unmounted", "root_missing"]


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Missing files that are still shown: `count` of the `of` files of the library, and the first few paths."""

    count: int
    of: int
    reason: Why
    examples: tuple[WorkspacePath, ...]


class GroundStore(Protocol):
    """Remembers the ground, beside the library's own facts."""

    def seen(self) -> Ground | None:
        """Return the ground as it was last kept."""

    def keep(self, ground: Ground) -> None:
        """Remember the ground."""


class GroundReader(Protocol):
    """Looks at the ground as it is."""

    def ground(self, folders: Iterable[str]) -> Ground:
        """Return the identity of the root, and which of `folders` and the folders they lie in are mount points."""

    def is_mounted(self, folder: str) -> bool:
        """Return whether a device is mounted on a folder; False when there is no such folder."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What a run did not meet.

    Attributes:
        items: those whose file is missing, less those found elsewhere.
        files: how many files the library knew before, attachments and archive members aside.
        folders: in which the scan met files; none when it met none.
        whole: whether the whole workspace was scanned.
    """

    items: Sequence[Item]
    files: int
    folders: Collection[str] = ()
    whole: bool = True


def judge(
    missing: Missing, seen: Ground | None, root: str, is_mounted: Callable[[str], bool], *, asks: bool
) -> tuple[list[Item], HeldBack | None]:
    """Return which items may be hidden, and what is held back until a person says that it is gone.

    Args:
        missing: what the run did not meet.
        seen: the ground the workspace stood on before, None when never seen.
        root: the identity of its folder now.
        is_mounted: whether a device is mounted on a folder now.
        asks: whether nobody is watching this run, so that many at once are held back, too.
    """
    vanished = [item for item in missing.items if item.container is None]
    paths = {item.path for item in vanished}
    # No scan meets what is inside a file: that it is gone from there was read in the file itself.
    taken_out = [item for item in missing.items if item.container is not None and item.container not in paths]
    if seen is not None and not missing.folders and vanished and root != seen.root:
        return taken_out, _held(vanished, missing.files, "root_missing")
    away = tuple(mount + "/" for mount in seen.mounts if not is_mounted(mount)) if seen else ()
    there = [item for item in missing.items if not item.path.startswith(away)]
    lost = [item for item in there if item.container is None]
    if asks and _is_many(len(lost), missing.files):
        return taken_out, _held(vanished, missing.files, "many_missing")
    out_of_reach = [item for item in vanished if item.path.startswith(away)]
    return there, _held(out_of_reach, missing.files, "unmounted") if out_of_reach else None


def settle_missing(
    missing: Missing, store: GroundStore | None, reader: GroundReader | None, *, asks: bool, sure: bool
) -> tuple[list[Item], HeldBack | None]:
    """Judge what a run did not meet by the ground as it is, and remember that.

    A run of everything that held nothing back remembers the ground as it is; any other adds the mounts it met, so that
    a drive is known as one from the first file that was read from it.

    Args:
        missing: what the run did not meet.
        store: remembers the ground; without it nothing is held back.
        reader: looks at the ground.
        asks: whether nobody is watching this run.
        sure: whether a person said that what is missing is gone.

    Raises:
        StorageFailed: the library cannot be read or written.
    """
    if store is None or reader is None:
        return list(missing.items), None
    seen = store.seen()
    found = reader.ground(missing.folders)
    gone, held = list(missing.items), None
    if missing.items and not sure:
        gone, held = judge(missing, seen, found.root, reader.is_mounted, asks=asks)
    known = found if held is None and missing.whole else _with_mounts(seen, found)
    if known != seen:
        store.keep(known)
    return gone, held


def _with_mounts(seen: Ground | None, found: Ground) -> Ground:
    if seen is None:
        return found
    return Ground(seen.root, tuple(sorted({*seen.mounts, *found.mounts})))


def said(held: HeldBack) -> tuple[str, str]:
    """Return the fact and the remedy in words."""
    why = {
        "many_missing": "so many at once are rather a folder or drive that is away",
        "unmounted": "the drive they lie on is not there",
        "root_missing": "the workspace folder is another one than before, and empty",
    }[held.reason]
    fact = f"{held.count:,} of {held.of:,} files are missing and stay in the library: {why}"
    return fact, "if they are really gone, run `kb ingest --confirm-removals`"


def _is_many(lost: int, files: int) -> bool:
    return lost > 0 and (lost >= files or (lost >= MANY_FILES and lost > MANY_SHARE * files))


def _held(items: Sequence[Item], files: int, reason: Why) -> HeldBack:
    examples = tuple(sorted(item.path for item in items)[:_EXAMPLES])
    return HeldBack(len(items), max(files, len(items)), reason, examples)
