"""Reading one file whole: contained in the root at every step, hashed, proved unchanged."""

# ruff: noqa: PTH118, PTH206
# Paths are strings as the system gives them: a Path for each of a hundred thousand names costs more than its stat.

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from blake3 import blake3

from kb.adapters.files.walk import identity_of
from kb.domain.errors import Unreadable
from kb.domain.files import FileBytes, FileIdentity, ScannedFile

_PIECE = 1 << 20
_HEAD = 1 << 16
_MEBIBYTE = 1 << 20
# Linux stamps files with a clock that ticks every 1 to 10 ms: two writes within a tick look alike.
_TICK_NS = 12_000_000
_CLIMBING = frozenset({"", ".", ".."})
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_NOATIME = getattr(os, "O_NOATIME", 0)


@dataclass(frozen=True, slots=True)
class ContainedReader:
    """Reads files below `root`, a path without links.

    Attributes:
        read_piece: `os.read`, given so that tests can break it.
        max_bytes: a larger file is not opened.
        setting: the name of the setting that holds the limit, for the message.
        is_recording: whether a path and the first bytes are sound or video, which may be larger and, from
            `streamed_from` bytes on, stay on the disk: they are hashed, and only their first bytes are returned.
        max_recording_bytes: a larger recording is not opened.
        streamed_from: see above.
    """

    root: str
    max_bytes: int
    setting: str = "indexing.max_file_mb"
    read_piece: Callable[[int, int], bytes] = os.read
    is_recording: Callable[[str, bytes], bool] = lambda _path, _head: False
    max_recording_bytes: int = 0
    streamed_from: int = 64 << 20

    def read(self, file: ScannedFile) -> FileBytes:
        """Return the bytes and their hash.

        Raises:
            Unreadable: `too_big`, `vanished`, `permission`, `outside_root`, `special_file`, `changed`
                (twice in a row while being read) or `unreadable`.
        """
        if file.identity.size > max(self.max_bytes, self.max_recording_bytes):
            raise self._too_big(file, file.identity.size)
        try:
            for _attempt in range(2):
                content = self._attempt(file)
                if content is not None:
                    return content
        except OSError as error:
            raise _translated(file, error) from error
        raise Unreadable(f"{file.path} kept changing while it was read", hint="run `kb ingest` again", reason="changed")

    @contextmanager
    def opened(self, file: ScannedFile) -> Iterator[int]:
        """Give the file's descriptor, found without leaving the root, and close it afterwards.

        Raises:
            Unreadable: it leads out of the root or is no ordinary file.
            OSError: the system refuses.
        """
        handle = self._open(file)
        try:
            yield handle
        finally:
            os.close(handle)

    def is_still(self, file: ScannedFile, identity: FileIdentity) -> bool:
        """Return whether the file has kept the identity it had when read."""
        try:
            with self.opened(file) as handle:
                return identity_of(os.fstat(handle)) == identity
        except (OSError, Unreadable):
            return False

    def _attempt(self, file: ScannedFile) -> FileBytes | None:
        """Read once; None when the file changed meanwhile."""
        with self.opened(file) as handle:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise _special(file)
            _let_the_clock_tick(before.st_mtime_ns)
            large = before.st_size >= self.streamed_from or before.st_size > self.max_bytes
            if large and before.st_size <= self.max_recording_bytes:
                head = self.read_piece(handle, min(before.st_size, _HEAD))
                if self.is_recording(file.path, head):
                    return self._streamed(file, handle, before, head)
                os.lseek(handle, 0, os.SEEK_SET)
            if before.st_size > self.max_bytes:
                raise self._too_big(file, before.st_size)
            data = self._all(handle, before.st_size)
            after = os.fstat(handle)
        identity = identity_of(after)
        if data is None or len(data) != after.st_size or identity_of(before) != identity:
            return None
        return FileBytes(data, blake3(data).hexdigest(), identity)

    def _streamed(self, file: ScannedFile, handle: int, before: os.stat_result, head: bytes) -> FileBytes | None:
        """Hash a recording without keeping it; None when it changed meanwhile."""
        digest = blake3(head)
        size = len(head)
        while piece := self.read_piece(handle, _PIECE):
            digest.update(piece)
            size += len(piece)
        after = os.fstat(handle)
        identity = identity_of(after)
        if size != after.st_size or identity_of(before) != identity:
            return None
        return FileBytes(head, digest.hexdigest(), identity, self._resolved(file), size)

    def _all(self, handle: int, size: int) -> bytes | None:
        """Return everything up to the end; None as soon as there is more than `size` bytes."""
        pieces: list[bytes] = []
        left = size + 1
        while left > 0:
            piece = self.read_piece(handle, min(left, _PIECE))
            if not piece:
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)
            pieces.append(piece)
            left -= len(piece)
        return None

    def _open(self, file: ScannedFile) -> int:
        parts = file.disk_name.split("/")
        if not _CLIMBING.isdisjoint(parts) or "\0" in file.disk_name:
            raise _outside(file)
        if not _NOFOLLOW or os.open not in os.supports_dir_fd:
            return os.open(self._resolved(file), _FLAGS)
        try:
            return self._step(file, parts)
        except OSError as error:
            if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
                raise
        # There is a link on the way: resolve it, check where it leads, and go there without following any.
        return self._step(file, self._resolved(file)[len(self.root) :].strip(os.sep).split(os.sep))

    def _step(self, file: ScannedFile, parts: list[str]) -> int:
        """Open folder by folder, never through a link, so that no swap in between can lead outside."""
        folder = os.open(self.root, _FLAGS | _FOLDER)
        try:
            for part in parts[:-1]:
                inner = os.open(part, _FLAGS | _FOLDER | _NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            # A pipe must not even be opened: the other end would notice, and opening could wait for ever.
            mode = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                raise _special(file)
            return _open_quietly(parts[-1], folder)
        finally:
            os.close(folder)

    def _resolved(self, file: ScannedFile) -> str:
        target = os.path.realpath(os.path.join(self.root, *file.disk_name.split("/")))
        if not target.startswith(self.root.rstrip(os.sep) + os.sep):
            raise _outside(file)
        return target

    def _too_big(self, file: ScannedFile, size: int) -> Unreadable:
        return Unreadable(
            f"{file.path} has {size / _MEBIBYTE:,.1f} MB, more than the {self.max_bytes / _MEBIBYTE:,.0f} MB of "
            f"{self.setting}",
            hint=f"raise {self.setting} in config.toml, then run `kb ingest --retry`",
            reason="too_big",
        )


def _open_quietly(name: str, folder: int) -> int:
    """Open without touching the access time where the system lets us: only the owner may ask for it."""
    flags = _FLAGS | _NOFOLLOW | _NONBLOCK
    if _NOATIME:
        try:
            return os.open(name, flags | _NOATIME, dir_fd=folder)
        except PermissionError:
            pass
    return os.open(name, flags, dir_fd=folder)


def _let_the_clock_tick(modified_ns: int) -> None:
    """Wait out the clock tick of a file written just now, so that a later write gets another time."""
    age = time.time_ns() - modified_ns
    if 0 <= age < _TICK_NS:
        time.sleep((_TICK_NS - age) / 1e9)


def _outside(file: ScannedFile) -> Unreadable:
    return Unreadable(f"{file.path} leads out of the workspace and is not read", reason="outside_root")


def _special(file: ScannedFile) -> Unreadable:
    return Unreadable(f"{file.path} is not an ordinary file", reason="special_file")


def _translated(file: ScannedFile, error: OSError) -> Unreadable:
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return Unreadable(f"{file.path} is gone", reason="vanished")
    if error.errno in {errno.EACCES, errno.EPERM}:
        hint = "allow your account to read it, then run `kb ingest` again"
        return Unreadable(f"no permission to read {file.path}", hint=hint, reason="permission")
    if error.errno == errno.ELOOP:
        return Unreadable(f"{file.path} became a link while it was read", reason="changed")
    return Unreadable(f"{file.path} could not be read ({error.strerror})", reason="unreadable")
