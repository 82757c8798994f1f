"""Files as a scan meets them, before the library knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kb.domain.paths import WorkspacePath

_INSIDE = "member-"


class FileIdentity(NamedTuple):
    """What `stat` says: equal identities mean unchanged content, without opening the file."""

    size: int
    mtime_ns: int
    file_id: str

    @classmethod
    def inside(cls, size: int, mtime_ns: int, depth: int) -> FileIdentity:
        """Return the identity of an attachment or archive member that lies in `depth` containers."""
        return cls(size, mtime_ns, f"{_INSIDE}{depth}")

    @property
    def depth(self) -> int:
        """Return how many containers the file lies in; 0 for a file on the disk, whatever its name looks like."""
        return int(self.file_id.removeprefix(_INSIDE)) if self.file_id.startswith(_INSIDE) else 0


class ScannedFile(NamedTuple):
    """One file a scan met. `disk_name` is the relative path as the disk spells it."""

    path: WorkspacePath
    disk_name: str
    identity: FileIdentity


@dataclass(frozen=True, slots=True)
class ScanProblem:
    """A file or folder the scan could not look into.

    `reason` is permission, unreadable, symlink_loop, broken_link, outside_root, special_file,
    undecodable_name, duplicate_name, placeholder or ignored (named in the scope, but left out).
    """

    path: str
    reason: str
    note: str
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A file's content with its full blake3 (64 hex digits) and the identity it had when read.

    Attributes:
        data: the whole content; of a recording too large for memory only the first bytes.
        disk_path: absolute; where the rest of such a recording lies, None when `data` is all; empty when the bytes
            were let go because nothing needs them any more.
        disk_size: bytes of that recording, or of what was let go.
    """

    data: bytes
    checksum: str
    identity: FileIdentity
    disk_path: str | None = None
    disk_size: int = 0

    @property
    def size(self) -> int:
        """Return the bytes of the whole content."""
        return self.disk_size if self.disk_path is not None else len(self.data)

    def without_data(self) -> FileBytes:
        """Return what is known of the content, less the content."""
        return FileBytes(b"", self.checksum, self.identity, self.disk_path or "", self.size)


@dataclass(frozen=True, slots=True)
class Scope:
    """What to scan: the whole root, or only `paths` below it; globs as in the configuration.

    A path that is not there is an error, unless `may_be_gone`: who was told of a change asks to find out.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    paths: tuple[WorkspacePath, ...] = ()
    may_be_gone: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What the workspace stood on when it was last seen whole.

    Attributes:
        root: device and file number of its folder, in one word.
        mounts: folders with files of ours that another device is mounted on, relative to the root, in order.
    """

    root: str
    mounts: tuple[str, ...] = ()
