"""What kind of file system a folder is on: SQLite's write-ahead log needs shared memory and locks that hold."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

# linux/magic.h and the headers of each file system; FUSE is everything from OneDrive clients to sshfs.
_REMOTE_MAGIC = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "SMB",
    0xFE534D42: "SMB",
    0x65735546: "FUSE",
    0x564C: "NCP",
    0x5346414F: "AFS",
    0x73757245: "Coda",
    0x01021997: "9P",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
    0x47504653: "GPFS",
    0x786F4256: "VirtualBox shared folder",
    0xBACBACBC: "VMware shared folder",
}
_REMOTE_NAMES = ("nfs", "smbfs", "afpfs", "webdav", "cifs", "macfuse", "osxfuse", "fusefs", "ftp")
_SYNCED = ("onedrive", "dropbox", "google drive", "googledrive", "mobile documents", "cloudstorage", "nextcloud")
_PLATFORM: str = sys.platform  # not narrowed by type checkers, which would skip the other systems
_STATFS_BYTES = 4096
_MAGIC_BYTES = 4 if sys.maxsize <= 1 << 32 else 8
_MAC_NAME_AT, _MAC_NAME_BYTES = 72, 16
_WINDOWS_REMOTE_DRIVE = 4


@dataclass(frozen=True, slots=True)
class FileSystem:
    """What a folder lies on.

    Attributes:
        name: such as `local`, `NFS`, `FUSE`, or the name of a synchronised folder.
        is_safe_for_wal: its locks and shared memory hold for SQLite's write-ahead log.
    """

    name: str
    is_safe_for_wal: bool


LOCAL = FileSystem("local", is_safe_for_wal=True)


def file_system(folder: Path, *, remote_name: Callable[[Path], str | None] | None = None) -> FileSystem:
    """Return what a folder, or its nearest parent that exists, lies on; `local` when it cannot be known.

    Args:
        folder: need not exist.
        remote_name: asks the system; tests give another.
    """
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    name = (remote_name or _remote_name)(there)
    if name is not None:
        return FileSystem(name, is_safe_for_wal=False)
    for part in PurePath(os.path.realpath(there)).parts:
        if part.casefold().startswith(_SYNCED):
            return FileSystem(f"folder synchronised by {part}", is_safe_for_wal=False)
    return LOCAL


def name_of_magic(magic: int) -> str | None:
    """Return the name of a file system of Linux that is not to be trusted with shared memory, else None."""
    return _REMOTE_MAGIC.get(magic & 0xFFFFFFFF)


def _remote_name(folder: Path) -> str | None:
    try:
        if _PLATFORM == "linux":
            return name_of_magic(int.from_bytes(_statfs(folder)[:_MAGIC_BYTES], sys.byteorder))
        if _PLATFORM == "darwin":
            kind = _statfs(folder)[_MAC_NAME_AT : _MAC_NAME_AT + _MAC_NAME_BYTES].split(b"\0")[0].decode("ascii")
            return kind if kind.startswith(_REMOTE_NAMES) else None
        if _PLATFORM == "win32":
            import ctypes

            drive = os.path.splitdrive(os.path.realpath(folder))[0]
            if drive.startswith("\\\\"):
                return "network share"
            windows = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
            kind_of_drive = windows.GetDriveTypeW(f"{drive}\\")
            return "network drive" if kind_of_drive == _WINDOWS_REMOTE_DRIVE else None
    except (OSError, ValueError, AttributeError):
        return None
    return None


def _statfs(folder: Path) -> bytes:
    """Return what `statfs` says, as it lies in memory.

    Raises:
        OSError: it cannot be asked.
    """
    import ctypes

    room = ctypes.create_string_buffer(_STATFS_BYTES)
    system = ctypes.CDLL(None, use_errno=True)
    # On Macs with Intel processors the plain name is an older form of the structure.
    ask = getattr(system, "statfs$INODE64", None) if _PLATFORM == "darwin" else None
    if (ask or system.statfs)(os.fsencode(folder), room):
        raise OSError(ctypes.get_errno(), "statfs")
    return room.raw
