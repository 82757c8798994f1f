"""Taking in what a backup has and this library has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kb.app.backup.checking import contents_of, library_of
from kb.app.backup.manifest import OTHER_BACKUP
from kb.app.backup.places import BackupPlaces, working_folder
from kb.app.backup.ports import BackupReader, LibraryLook, ReadsBackup
from kb.domain.backups import LIBRARY, Difference, LibraryCounts, Manifest, OwnFiles
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled
from kb.domain.jobs import Progress

_ITEMS_AT_ONCE = 50


class Merge(Protocol):
    """The library in use beside another one."""

    def counts(self) -> LibraryCounts:
        """Return what the library in use holds."""

    def compare(self, other: Path) -> Difference:
        """Say how the items of another library stand to those here."""

    def files_of(self, other: Path, item_ids: Sequence[str]) -> OwnFiles:
        """Return the kept files of items of another library."""

    def take_in(self, other: Path, item_ids: Sequence[str]) -> None:
        """Write items of another library with all that belongs to them, in one transaction."""

    def take_answers(self, other: Path) -> None:
        """Write the answers that are not here."""


class Folder(Protocol):
    """The data folder of the library in use."""

    def has(self, name: str) -> bool:
        """Return whether a library's file of this name is there."""

    def place(self, source: Path, name: str) -> None:
        """Move a file to its name, durably."""


@dataclass(frozen=True, slots=True)
class MergeParts:
    """What merging works with; `holding` keeps files of the data folder from being removed meanwhile."""

    places: BackupPlaces
    reads: ReadsBackup
    look: LibraryLook
    merge: Merge
    folder: Folder
    holding: Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Merged:
    """What came in."""

    file: Path
    added: LibraryCounts
    difference: Difference


def merge_backup(
    parts: MergeParts,
    file: Path,
    *,
    report: Callable[[Progress], object],
    should_stop: Callable[[], bool],
) -> Merged:
    """Take in items, documents, vectors, answers and kept files that are not here; what differs stays as it is here.

    Raises:
        NotFound: there is no such file.
        Unreadable: the backup is damaged or spoilt; nothing came in.
        Cancelled: it was asked to stop; what came in stays, and the next merge goes on.
        StorageFailed: the backup is of a newer program, or the disk refuses.
    """
    with parts.reads(file) as reader, parts.holding(), working_folder(parts.places.data_dir) as folder:
        manifest = contents_of(reader)
        report(Progress("checking the backup"))
        other = folder / LIBRARY
        _unpack(reader, manifest, other, parts.look)
        before = parts.merge.counts()
        difference = parts.merge.compare(other)
        absent = difference.absent
        for start in range(0, len(absent), _ITEMS_AT_ONCE):
            if should_stop():
                raise Cancelled("stopped; what came in so far stays, and the next merge goes on from there")
            items = absent[start : start + _ITEMS_AT_ONCE]
            report(Progress("merging", start, len(absent), 99 * start // len(absent)))
            _place(reader, manifest, parts.merge.files_of(other, items), parts.folder, folder / "arriving")
            parts.merge.take_in(other, items)
        parts.merge.take_answers(other)
        return Merged(file, _less(parts.merge.counts(), before), difference)


def _unpack(reader: BackupReader, manifest: Manifest, other: Path, look: LibraryLook) -> None:
    reader.copy(library_of(manifest), other, lambda _count: None)
    problem = "it holds another library than it says"
    if look.facts(other) == manifest.facts:
        problem = next(iter(look.brought_up(other.parent).problems), "")
    if problem:
        raise Unreadable(f"the backup cannot be used: {problem}", hint=OTHER_BACKUP, reason="damaged")


def _place(reader: BackupReader, manifest: Manifest, wanted: OwnFiles, folder: Folder, arriving: Path) -> None:
    """Bring the kept files of some items into the data folder, before the library says that they are there."""
    for member in manifest.members:
        if member.name in wanted and not folder.has(member.name):
            reader.copy(member, arriving, lambda _count: None)
            folder.place(arriving, member.name)


def _less(after: LibraryCounts, before: LibraryCounts) -> LibraryCounts:
    names = LibraryCounts.__slots__
    return LibraryCounts(**{name: getattr(after, name) - getattr(before, name) for name in names})
