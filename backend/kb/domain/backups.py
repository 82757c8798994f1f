"""A library in one file: what it says of itself, and which names may stand in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

LIBRARY = "kb.sqlite"
CONFIG = "config.toml"
SUFFIX = ".kbbackup"

_HEX_30, _HEX_32 = r"[0-9a-f]{30}", r"[0-9a-f]{32}"
# Names that a system gives a meaning of its own, or that lead anywhere else, cannot be written in this alphabet.
_MEMBER = re.compile(
    rf"(?:kb\.sqlite|config\.toml|assets/([0-9a-f]{{2}})/\1{_HEX_30}"
    rf"|artifacts/{_HEX_32}/(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z))[a-z0-9]+(?:[.-][a-z0-9]+){{0,8}})\Z"
)
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class LibraryCounts:
    """What a library holds."""

    items: int
    documents: int
    passages: int
    vectors: int
    answers: int

    @property
    def is_empty(self) -> bool:
        """Return whether nothing in it could be missed."""
        return not (self.items or self.documents or self.answers)


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """What can be said of a library file without opening it for work.

    Attributes:
        changed_at: the last change of an item, version or answer; None when there is none.
    """

    library_id: str
    schema: int
    changed_at: datetime | None
    counts: LibraryCounts


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of the data folder that a library refers to.

    Attributes:
        name: below the data folder, `/` between the parts.
        checksum: blake3 of the bytes as 64 hex digits where the library knows it.
        packs: whether packing it is worth the time.
    """

    name: str
    checksum: str | None
    packs: bool


@dataclass(frozen=True, slots=True)
class BackupMember:
    """One file in a backup: its size in bytes and the blake3 of them as 64 hex digits."""

    name: str
    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself.

    Attributes:
        version: of the program that wrote it.
        missing: files the library referred to that were gone or not what they had been, when the backup was made.
    """

    created_at: datetime
    version: str
    facts: LibraryFacts
    members: tuple[BackupMember, ...]
    missing: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return the bytes of all members together."""
        return sum(member.size for member in self.members)

    @property
    def originals(self) -> int:
        """Return the bytes of the kept copies of files."""
        return sum(member.size for member in self.members if member.name.startswith("assets/"))


def is_member(name: str) -> bool:
    """Return whether a file of this name can belong to a library."""
    return len(name) <= _LONGEST and _MEMBER.match(name) is not None


@dataclass(frozen=True, slots=True)
class Difference:
    """How the items of another library stand to those here.

    Attributes:
        absent: ids of items that are not here.
        same: how many are here with the same content under the same path.
        kept: paths of those that are here otherwise, or were deleted here.
    """

    absent: tuple[str, ...]
    same: int
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """Kept files that some items refer to: copies of originals by name, and documents that may have artifacts."""

    copies: frozenset[str]
    documents: frozenset[str]

    def __contains__(self, name: str) -> bool:
        parts = name.split("/")
        return name in self.copies or (parts[0] == "artifacts" and parts[1] in self.documents)
