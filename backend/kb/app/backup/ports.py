"""What backups need from outside: a snapshot, library files to look at, and the file itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from kb.domain.backups import BackupMember, KeptFile, LibraryFacts
from kb.domain.catalogue import IntegrityReport
from kb.domain.recipes import DocumentId


class Snapshots(Protocol):
    """Copies of a library in use."""

    def take(self, target: Path, should_stop: Callable[[], bool]) -> None:
        """Write the library of this moment into a new file."""


class LibraryLook(Protocol):
    """Library files that nobody works with."""

    def facts(self, file: Path) -> LibraryFacts:
        """Return what a library file says of itself; one of a newer program is refused."""

    def kept_files(self, file: Path) -> Iterator[KeptFile]:
        """Yield the copies of originals it refers to."""

    def documents(self, file: Path) -> frozenset[str]:
        """Return the ids of its documents."""

    def brought_up(self, folder: Path) -> IntegrityReport:
        """Bring the library in a folder to this program's schema, and check every part of it."""


class ArtifactFiles(Protocol):
    """The files kept beside documents."""

    def files(self, doc_ids: Iterable[DocumentId]) -> Iterator[str]:
        """Yield the names of the files of documents, below the data folder."""


class BackupWriter(Protocol):
    """A backup being written; nothing is there until `finish`."""

    def add(self, name: str, source: Path, *, packs: bool) -> BackupMember:
        """Copy a file in; `FileNotFoundError` when it is gone."""

    def finish(self, manifest: bytes) -> int:
        """Put the file in its place; return its size in bytes."""


class BackupReader(Protocol):
    """One backup; what no backup holds has been refused."""

    @property
    def names(self) -> frozenset[str]:
        """Return the names of what is in it, the manifest aside."""

    def manifest(self) -> bytes:
        """Return the manifest."""

    def copy(self, member: BackupMember, target: Path | None, heed: Callable[[int], object]) -> None:
        """Read a member to its end, into a new file when there is a target; it is what the manifest says."""


WritesBackup = Callable[[Path, Callable[[int], object]], AbstractContextManager[BackupWriter]]
ReadsBackup = Callable[[Path], AbstractContextManager[BackupReader]]
