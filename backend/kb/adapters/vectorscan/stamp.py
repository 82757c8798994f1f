"""The stamp of a vector file: which rows of which file count, as of which log position.

Layout: magic, length of the JSON head (u32), head, bitmap of dead rows, one CRC-32 per block of rows,
CRC-32 of all before it. Numbers are little-endian. The stamp is replaced whole, so it is the moment a
change happens: rows written beyond its `count` do not exist yet.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import asdict, dataclass

MAGIC = b"KBSCAN1\n"
BLOCK = 4096
"""Rows under one checksum."""

_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Head:
    """Facts of a vector file; `generation` names the data file this stamp belongs to."""

    fingerprint: str
    library_id: str
    generation: str
    dimensions: int
    capacity: int
    count: int
    position: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """A head, the bitmap of dead rows (lowest bit first) and a checksum per block of rows."""

    head: Head
    dead: bytes
    checksums: tuple[int, ...]


def encode(stamp: Stamp) -> bytes:
    """Return the bytes of a stamp."""
    head = json.dumps(asdict(stamp.head), sort_keys=True).encode()
    checksums = struct.pack(f"<{len(stamp.checksums)}I", *stamp.checksums)
    body = MAGIC + _LENGTH.pack(len(head)) + head + stamp.dead + checksums
    return body + _LENGTH.pack(zlib.crc32(body))


def decode(data: bytes) -> Stamp | None:
    """Read a stamp; None when it is not one of ours or a byte of it changed."""
    start = len(MAGIC) + _LENGTH.size
    body = data[: -_LENGTH.size]
    if len(data) < start + _LENGTH.size or not data.startswith(MAGIC):
        return None
    if _LENGTH.unpack(data[-_LENGTH.size :])[0] != zlib.crc32(body):
        return None
    end = start + _LENGTH.unpack_from(data, len(MAGIC))[0]
    try:
        head = Head(**json.loads(body[start:end]))
    except (TypeError, ValueError):
        return None
    bitmap, blocks = -(-head.count // 8), blocks_of(head.count)
    if len(body) != end + bitmap + 4 * blocks:
        return None
    checksums = struct.unpack_from(f"<{blocks}I", body, end + bitmap)
    return Stamp(head, body[end : end + bitmap], checksums)


def blocks_of(count: int) -> int:
    """Return how many blocks `count` rows take."""
    return -(-count // BLOCK)
