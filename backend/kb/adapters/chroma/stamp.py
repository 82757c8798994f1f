"""The stamp of a Chroma folder: what was acknowledged, and what the files were when it was left in peace."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kb.adapters.chroma.disk import replace_file

STORE_VERSION = "1"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a folder holds.

    Attributes:
        position: the log position reached.
        count: vectors held.
        writing: something was sent and not acknowledged: the store is not to be trusted.
        files: CRC-32 by file, written when the child ended well; empty while it may be running.
    """

    library_id: str
    fingerprint: str
    position: int
    count: int
    writing: bool = False
    files: dict[str, int] = field(default_factory=dict)
    version: str = STORE_VERSION


def read_stamp(path: Path) -> Stamp | None:
    """Return the stamp; None when missing, unreadable or of another make."""
    try:
        made = Stamp(**json.loads(path.read_bytes()))
    except (OSError, TypeError, ValueError):
        return None
    return made if made.version == STORE_VERSION else None


def write_stamp(path: Path, stamp: Stamp) -> None:
    """Replace the stamp, durably."""
    replace_file(path, json.dumps(asdict(stamp), sort_keys=True).encode())


def checksums(folder: Path) -> dict[str, int]:
    """Return the CRC-32 of every file in a folder that no process has open."""
    return {
        path.relative_to(folder).as_posix(): _checksum(path) for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            value = zlib.crc32(chunk, value)
    return value
