"""Where backups lie, by name or by path, and where none may be written."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kb.domain.backups import SUFFIX
from kb.domain.errors import ErrorCode, InvalidInput, NotFound
from kb.domain.failures import StorageFailed

WORKING = ".backup-"
"""How the names of folders begin that only live as long as one command."""

_NAME = re.compile(r"[^/\\\0]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class BackupPlaces:
    """The folders that matter to backups."""

    data_dir: Path
    workspace: Path
    config_file: Path

    @property
    def own(self) -> Path:
        """Return the library's own folder of backups."""
        return self.data_dir / "backups"

    def new(self, file: str | None, now: datetime) -> Path:
        """Return where a new backup goes: by default a file named after the time, in the library's own folder.

        Raises:
            InvalidInput: it is neither a name nor an absolute path.
        """
        if file is None:
            return self.own / f"kebab-{now:%Y%m%d-%H%M%S}{SUFFIX}"
        path = self._path(file)
        if path.is_dir():
            path /= f"kebab-{now:%Y%m%d-%H%M%S}{SUFFIX}"
        return path if path.name.endswith(SUFFIX) else path.with_name(path.name + SUFFIX)

    def find(self, file: str) -> Path:
        """Return the backup of a name or path.

        Raises:
            InvalidInput: it is neither a name nor an absolute path.
            NotFound: there is no such file.
        """
        path = self._path(file)
        if not path.is_file():
            raise NotFound(f"there is no backup {path.name[:80]!r}", hint="see `kb backup list`")
        return path

    def shown(self, path: Path) -> str:
        """Return how a backup is called: by its name in the own folder, else by its path."""
        return path.name if path.parent == self.own else str(path)

    def require_writable(self, target: Path) -> None:
        """Refuse a place where no backup may be written.

        Raises:
            InvalidInput: the file exists, or lies in the workspace or among the library's own files.
        """
        folder = target.parent.resolve()
        if target.exists() or target.is_symlink():
            raise InvalidInput(f"{target.name[:80]} exists already", hint="give another name: nothing is overwritten")
        if folder.is_relative_to(self.workspace.resolve()):
            raise InvalidInput(
                "the workspace is for your files alone", hint="write the backup to another folder, or to another disk"
            )
        data = self.data_dir.resolve()
        if folder.is_relative_to(data) and not folder.is_relative_to(data / "backups"):
            raise InvalidInput(
                "a backup among the library's own files would be lost with them",
                hint="leave the file out, or write it to another disk",
            )

    def _path(self, file: str) -> Path:
        path = Path(file).expanduser()
        if path.is_absolute() and "\0" not in file:
            return path
        if not _NAME.match(file) or file in {".", ".."}:
            raise InvalidInput(
                "a backup is a name in the library's own folder, or an absolute path",
                hint="see `kb backup list`",
                code=ErrorCode.INVALID_PATH,
            )
        return self.own / file


@contextmanager
def working_folder(data_dir: Path) -> Iterator[Path]:
    """Give a folder of mode 0700 in the data folder: what lies there is the person's text. It goes at the end.

    Raises:
        StorageFailed: it cannot be made.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=WORKING, dir=data_dir))
    except OSError as error:
        raise StorageFailed(
            f"the data folder cannot be written ({error.strerror})", hint="check it with `kb doctor`"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
