"""Files inside files: attachments and archive members as items of their own, `mail.eml!/report.pdf`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kb.domain.documents import Member
from kb.domain.errors import Unreadable
from kb.domain.files import FileBytes, FileIdentity, ScannedFile
from kb.domain.ids import content_hash
from kb.domain.items import MEMBER, Item, MediaType
from kb.domain.paths import WorkspacePath, workspace_path
from kb.ingest.plan import Change

CONTAINERS = frozenset({MediaType.ARCHIVE, MediaType.EML, MediaType.MBOX, MediaType.MSG})
"""Kinds that may hold each other without end."""
UNPACKED_BYTES = 256 << 20
"""What may come out of the containers in one file at each depth, unless a setting says else."""


class Unpacked:
    """Counts what comes out of containers in containers: each may be within its limits, and all come to any size."""

    def __init__(self, most: int = UNPACKED_BYTES) -> None:
        self._most = most
        self._sizes: dict[tuple[str, int], int] = {}

    def spend(self, container: Change, members: Iterable[Member]) -> None:
        """Take the members of a container into account; those of a file on the disk are bounded by its parser.

        Raises:
            Unreadable: `expands_too_much`.
        """
        if not container.depth:
            return
        file = outermost(container)
        key = file, container.depth
        self._sizes[key] = self._sizes.get(key, 0) + sum(len(member.data) for member in members)
        if self._sizes[key] > self._most:
            raise Unreadable(
                f"with it, more than {self._most >> 20:,} MB come out of the containers in {file}",
                hint="unpack it yourself if you trust it, or raise limits.expanded_mb",
                reason="expands_too_much",
            )


def member_changes(
    container: Change, members: Iterable[Member], known: Mapping[WorkspacePath, Item]
) -> tuple[Change, ...]:
    """Return each member as a file to take in; of two with one name the later gets a number."""
    taken: dict[str, int] = {}
    changes: list[Change] = []
    for member in members:
        path = _free(f"{container.file.path}{MEMBER}{_cleaned(member.name)}", taken)
        said = member.modified_ns
        # A letter may say the year 9999; times are kept in 64 bits.
        modified = said if said is not None and abs(said) < 1 << 63 else container.file.identity.mtime_ns
        identity = FileIdentity.inside(len(member.data), modified, container.depth + 1)
        # As the disk spells the container; inside it there is only one spelling.
        disk_name = f"{container.file.disk_name}{path.removeprefix(container.file.path)}"
        content = FileBytes(member.data, content_hash(member.data), identity)
        changes.append(Change(ScannedFile(path, disk_name, identity), known.get(path), content, container.depth + 1))
    return tuple(changes)


def known_inside(known: Mapping[WorkspacePath, Item], container: str) -> list[WorkspacePath]:
    """Return the paths of known members of a container, those of containers in it too."""
    prefix = container + MEMBER
    return [path for path in known if path.startswith(prefix)]


def outermost(change: Change) -> WorkspacePath:
    """Return the file on the disk that a file is, or lies in."""
    return WorkspacePath(change.file.path.rsplit(MEMBER, change.depth)[0] if change.depth else change.file.path)


def _free(path: str, taken: dict[str, int]) -> WorkspacePath:
    """Return the path, with a number if it is taken; `taken` holds the number to try next, for ten thousand alike."""
    stem, dot, suffix = path.rpartition(".")
    if not dot or "/" in suffix:
        stem, suffix = path, ""
    wished = free = workspace_path(path)
    while free in taken:
        taken[wished] = number = taken[wished] + 1
        free = workspace_path(f"{stem} ({number}){'.' if suffix else ''}{suffix}")
    taken[free] = 1
    return free


def _cleaned(name: str) -> str:
    """Return a name that neither climbs nor looks like a member of something else."""
    parts = (part.strip() for part in name.replace("\\", "/").replace("\0", "").split("/"))
    kept = [part.rstrip("!") or "_" for part in parts if part not in {"", ".", ".."}]
    return "/".join(kept) or "unnamed"
