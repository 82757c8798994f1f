"""Copies of originals in the data folder, named by their content."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkstemp

from kb.adapters.files.atomic import private_folder, sync_file, unwritten
from kb.adapters.files.reading import ContainedReader
from kb.domain.errors import Unreadable
from kb.domain.failures import StorageFailed
from kb.domain.files import FileBytes, ScannedFile
from kb.domain.items import MediaType, RawAsset
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import AssetId, asset_id

_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file
_REFLINK_FROM = 1 << 20  # below this, copying costs less than opening the original once more
_FLUSHES = 4
_NEW = ".new"


def _now() -> datetime:
    return datetime.now(UTC)


class CopiedAssets:
    """`assets/<aa>/<asset_id>` below the data folder; never a hard link, which edits would reach through."""

    def __init__(
        self,
        data_dir: Path,
        workspace: Path,
        *,
        copy_threshold_bytes: int,
        copies: bool = True,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._data_dir = data_dir
        self._workspace = workspace
        self._threshold = copy_threshold_bytes
        self._copies = copies
        self._now = now
        self._reflinks = os.name == "posix"
        self._unsettled: dict[Path, WorkspacePath] = {}
        self._is_swept = False

    def keep(self, file: ScannedFile, content: FileBytes, media_type: MediaType) -> RawAsset:
        """Copy the bytes, or only reference them when too big or copying is off; durable after `settle`.

        Raises:
            StorageFailed: the data folder cannot be written.
        """
        name = asset_id(content.checksum)
        size = content.size
        if not self.needs_bytes(file, content):
            return RawAsset(name, content.checksum, size, media_type, "reference", file.path, self._now())
        where = f"assets/{name[:2]}/{name}"
        try:
            self._copy(name, file, content)
        except OSError as error:
            raise unwritten(f"a copy of {file.path}", error) from error
        return RawAsset(name, content.checksum, size, media_type, "copied", where, self._now())

    def needs_bytes(self, file: ScannedFile, content: FileBytes) -> bool:
        """Return whether `keep` would copy them."""
        is_small = content.size <= self._threshold and content.disk_path is None
        # What came out of a container lies nowhere else.
        return bool(file.identity.depth) or (self._copies and is_small)

    def settle(self) -> None:
        """Make every copy since the last call durable; several at once, so that the disk flushes them together.

        Raises:
            StorageFailed: the disk refuses.
        """
        unsettled, self._unsettled = self._unsettled, {}
        if not unsettled:
            return
        with ThreadPoolExecutor(min(len(unsettled), _FLUSHES), thread_name_prefix="flush") as pool:
            flushes = [(target, path, pool.submit(sync_file, target)) for target, path in unsettled.items()]
        failed: StorageFailed | None = None
        for target, path, flush in flushes:
            error = flush.exception()
            if isinstance(error, OSError):
                # What the system could not write it forgets, and reads as if it were there.
                with contextlib.suppress(OSError):  # a disk that is gone: of the two failures the first is told
                    target.unlink(missing_ok=True)
                failed = failed or unwritten(f"a copy of {path}", error)
            elif error is not None:
                raise error
        if failed:
            raise failed

    def discard(self, storage_paths: Iterable[str]) -> None:
        """Remove copies that nothing refers to any more; whatever is not one of our copies stays."""
        for storage_path in storage_paths:
            parts = storage_path.split("/")
            if len(parts) == 3 and parts[0] == "assets" and parts[2].isalnum() and parts[2].startswith(parts[1]):  # noqa: PLR2004
                self._data_dir.joinpath(*parts).unlink(missing_ok=True)

    def _copy(self, name: AssetId, file: ScannedFile, content: FileBytes) -> None:
        folder = private_folder(self._data_dir / "assets" / name[:2])
        target = folder / name
        # A copy that a power cut has torn may have the right size.
        if not (target.exists() and target.stat().st_size == len(content.data) and target.read_bytes() == content.data):
            self._write(target, file, content)
        self._unsettled[target] = file.path

    def _write(self, target: Path, file: ScannedFile, content: FileBytes) -> None:
        handle, new = mkstemp(dir=self._workshop())
        try:
            with os.fdopen(handle, "wb") as copy:
                if not self._reflinked(copy.fileno(), file, content):
                    copy.write(content.data)
            Path(new).replace(target)
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise

    def _workshop(self) -> Path:
        """Return the folder where copies are written, after removing what a kill left in it."""
        folder = self._data_dir / "assets" / _NEW
        if not self._is_swept:
            for left in private_folder(folder).iterdir():
                left.unlink(missing_ok=True)
            self._is_swept = True
        return folder

    def _reflinked(self, handle: int, file: ScannedFile, content: FileBytes) -> bool:
        """Share the original's blocks where the file system can, if they are still the bytes we read."""
        if not self._reflinks or len(content.data) < _REFLINK_FROM or file.identity.depth:
            return False
        import fcntl

        reader = ContainedReader(os.path.realpath(self._workspace), self._threshold)
        try:
            with reader.opened(file) as original:
                fcntl.ioctl(handle, _FICLONE, original)
        except OSError as error:
            self._reflinks = error.errno in {errno.ENOENT, errno.EACCES}
            return False
        except Unreadable:
            return False
        if reader.is_still(file, content.identity):
            return True
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        return False
