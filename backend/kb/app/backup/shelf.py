"""The backups of a library: listed, checked."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kb.app.backup.checking import Finding, check_backup, contents_of
from kb.app.backup.places import BackupPlaces
from kb.app.backup.ports import LibraryLook, ReadsBackup
from kb.domain.backups import SUFFIX, Manifest
from kb.domain.errors import KebabError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shelved:
    """A backup in the library's own folder."""

    file: Path
    size: int
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class BackupShelf:
    """Looks at backups; the library need not be the one they are of."""

    places: BackupPlaces
    reads: ReadsBackup
    look: LibraryLook

    def own(self) -> list[Shelved]:
        """Return the backups in the library's own folder, newest first; what cannot be read is left out and logged."""
        return sorted(self._readable(), key=lambda one: one.manifest.created_at, reverse=True)

    def check(self, file: str) -> tuple[Path, list[Finding]]:
        """Check a backup by its name or path.

        Raises:
            NotFound: there is no such file.
        """
        path = self.places.find(file)
        return path, check_backup(path, self.reads, self.look, self.places.data_dir)

    def _readable(self) -> Iterator[Shelved]:
        try:
            files = sorted(self.places.own.glob(f"*{SUFFIX}"))
        except OSError:
            return
        for file in files:
            try:
                with self.reads(file) as reader:
                    yield Shelved(file, file.stat().st_size, contents_of(reader))
            except (KebabError, OSError) as error:
                _log.warning("a backup cannot be read: %s", error)
