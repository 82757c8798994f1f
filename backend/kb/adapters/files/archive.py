"""Backups as ZIP files: written whole or not at all, and read without trusting a word of them."""

from __future__ import annotations

import contextlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp
from types import TracebackType
from typing import IO, BinaryIO, Self

from blake3 import blake3

from kb.adapters.files.atomic import private_folder, sync_folder, unwritten
from kb.domain.backups import BackupMember, is_member
from kb.domain.errors import InvalidInput, NotFound, Unreadable

_MANIFEST = "manifest.json"
_MOST_MANIFEST = 64 << 20
_PIECE = 1 << 20
# Deflate cannot do better than 1,032:1; a library does about 4:1.
_MOST_RATIO = 256
_SMALL = 64 << 20
_LEVEL = 1
_WHAT = "the backup"
_OTHER = "use another backup: `kb backup list` shows those in the library's own folder"
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, NotImplementedError, UnicodeError)


class ZipBackupWriter:
    """Wraps zipfile: writes beside `target`, which appears when `finish` says so.

    Args:
        target: a file that does not exist.
        heed: called for every piece; what it raises ends the work and leaves nothing behind.
    """

    def __init__(self, target: Path, heed: Callable[[int], object] = lambda _count: None) -> None:
        self._target = target
        self._heed = heed

    def __enter__(self) -> Self:
        try:
            private_folder(self._target.parent)
            handle, name = mkstemp(dir=self._target.parent, prefix=".new-", suffix=".part")
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        self._temporary = Path(name)
        self._file: BinaryIO = os.fdopen(handle, "w+b")
        self._zip = zipfile.ZipFile(self._file, "w", compresslevel=_LEVEL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A ZipFile that is not closed tries to end itself later, when its file is gone.
        with contextlib.suppress(OSError, ValueError):
            self._zip.close()
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def add(self, name: str, source: Path, *, packs: bool) -> BackupMember:
        """Copy a file in; return its size and hash as they were written.

        Raises:
            FileNotFoundError: it is gone.
            StorageFailed: it cannot be read, or the disk refuses.
        """
        try:
            with source.open("rb") as file:
                return self._add(name, file, packs=packs)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise unwritten(_WHAT, error) from error

    def finish(self, manifest: bytes) -> int:
        """Put the manifest in, make all durable and put the file in its place; return its size in bytes.

        Raises:
            InvalidInput: there are more files than a manifest may name.
            StorageFailed: the disk refuses.
        """
        if len(manifest) > _MOST_MANIFEST:
            raise InvalidInput("the library has too many files for one backup", hint="add --without-originals")
        try:
            self._zip.writestr(_MANIFEST, manifest, zipfile.ZIP_DEFLATED)
            self._zip.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            size = self._file.tell()
            self._file.close()
            self._temporary.replace(self._target)
            sync_folder(self._target.parent)
        except OSError as error:
            raise unwritten(_WHAT, error) from error
        return size

    def _add(self, name: str, file: BinaryIO, *, packs: bool) -> BackupMember:
        hashed, size = blake3(), 0
        self._zip.compression = zipfile.ZIP_DEFLATED if packs else zipfile.ZIP_STORED
        with self._zip.open(name, "w", force_zip64=True) as member:
            while piece := file.read(_PIECE):
                hashed.update(piece)
                size += len(piece)
                member.write(piece)
                self._heed(len(piece))
        return BackupMember(name, size, hashed.hexdigest())


class ZipBackup:
    """Wraps zipfile: one backup, opened for reading; what is odd about it is found before anything is written.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is no backup, or a damaged or spoilt one.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError) as error:
            raise NotFound(f"there is no backup {path.name[:80]!r}", hint="see `kb backup list`") from error
        except OSError as error:
            raise Unreadable(
                f"the backup cannot be read: {error.strerror}", hint="check its permissions", reason="permission"
            ) from error
        try:
            self._zip = zipfile.ZipFile(self._file)
            self._members = self._looked_through(os.fstat(self._file.fileno()).st_size)
        except (*_FAULTS, OSError) as error:
            self._file.close()
            raise _damaged("it is not a backup of Kebab, or its end is missing") from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> frozenset[str]:
        """Return the names of what is in it, the manifest aside."""
        return frozenset(self._members) - {_MANIFEST}

    def manifest(self) -> bytes:
        """Return the manifest.

        Raises:
            Unreadable: it is damaged.
        """
        info = self._members[_MANIFEST]
        if info.file_size > _MOST_MANIFEST:
            raise _damaged("its list of contents is too large")
        try:
            with self._zip.open(info) as file:
                return file.read(_MOST_MANIFEST)
        except (*_FAULTS, OSError) as error:
            raise _damaged("its list of contents is damaged") from error

    def copy(self, member: BackupMember, target: Path | None, heed: Callable[[int], object]) -> None:
        """Read a member to its end, to a new file of mode 0600 when there is a `target`; who swaps makes it durable.

        Raises:
            Unreadable: it is not what the manifest says.
            StorageFailed: the disk refuses.
        """
        try:
            out = None if target is None else _new_file(target)
        except OSError as error:
            raise unwritten("the library", error) from error
        try:
            with self._opened(member) as source:
                self._copy(member, source, out, heed)
            if out is not None:
                out.close()
        except OSError as error:
            raise unwritten("the library", error) from error
        finally:
            if out is not None:
                out.close()

    def _opened(self, member: BackupMember) -> IO[bytes]:
        info = self._members[member.name]
        if info.file_size != member.size:
            raise _damaged(f"{member.name} has another size than its list of contents says")
        try:
            return self._zip.open(info)
        except _FAULTS as error:
            raise _damaged(f"{member.name} is damaged") from error

    @staticmethod
    def _copy(member: BackupMember, source: IO[bytes], out: BinaryIO | None, heed: Callable[[int], object]) -> None:
        hashed, size = blake3(), 0
        while size <= member.size:
            try:
                piece = source.read(_PIECE)
            except _FAULTS as error:
                raise _damaged(f"{member.name} is damaged") from error
            if not piece:
                break
            size += len(piece)
            hashed.update(piece)
            if out is not None and size <= member.size:
                out.write(piece)
            heed(len(piece))
        if size != member.size or hashed.hexdigest() != member.checksum:
            raise _damaged(f"{member.name} is not what was written")

    def _looked_through(self, archive_size: int) -> dict[str, zipfile.ZipInfo]:
        found: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            _look(info)
            if info.filename in found:
                raise _damaged("one name stands in it twice")
            found[info.filename] = info
        if _MANIFEST not in found:
            raise _damaged("it is not a backup of Kebab")
        if sum(info.compress_size for info in found.values()) > archive_size:
            raise _damaged("its parts overlap")
        return found


def _look(info: zipfile.ZipInfo) -> None:
    """Refuse what Kebab never writes: other names, links, folders, locked or oddly packed members, bombs."""
    if info.orig_filename != info.filename or not (info.filename == _MANIFEST or is_member(info.filename)):
        raise _damaged("it holds a name that no library has")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG} or info.is_dir():
        raise _damaged("it holds something that is not a file")
    if info.flag_bits & 1 or info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise _damaged("it holds something packed in a way Kebab does not use")
    if info.file_size > max(_SMALL, _MOST_RATIO * info.compress_size):
        raise _damaged("it would unpack to far more than it is")


def _new_file(target: Path) -> BinaryIO:
    private_folder(target.parent)
    return os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")


def _damaged(why: str) -> Unreadable:
    return Unreadable(f"the backup cannot be used: {why}", hint=_OTHER, reason="damaged")
