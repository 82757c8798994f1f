"""Files that come into a data folder from elsewhere: put in place whole, and never over one that is there."""

from __future__ import annotations

from pathlib import Path

from kb.adapters.files.atomic import private_folder, sync_file, sync_folder, unwritten
from kb.domain.backups import is_member


class DataFolder:
    """Wraps the data folder of a library in use."""

    def __init__(self, data_dir: Path) -> None:
        self._data = data_dir

    def has(self, name: str) -> bool:
        """Return whether a library's file of this name is there."""
        return is_member(name) and (self._data / name).is_file()

    def place(self, source: Path, name: str) -> None:
        """Move a file of the same disk to its name, durably.

        Raises:
            StorageFailed: the disk refuses.
        """
        target = self._data / name
        try:
            sync_file(source)
            private_folder(target.parent)
            source.replace(target)
            sync_folder(target.parent)
        except OSError as error:
            raise unwritten("a file of the backup", error) from error
