"""Whether a picture inside a document is worth reading by itself: icons, lines and trackers are not."""

from __future__ import annotations

import struct

SMALLEST_SIDE = 120
"""Pixels; smaller pictures hold no text that could be read."""

SMALLEST_FILE = 8 * 1024
"""Bytes; a scan or a diagram has more."""

_PNG = b"\x89PNG\r\n\x1a\n"
_START_OF_FRAME = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))
_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))


def worth_reading(data: bytes) -> bool:
    """Return whether a picture is big enough to show text; one of unknown size is judged by its bytes alone."""
    if len(data) < SMALLEST_FILE:
        return False
    size = picture_size(data)
    return size is None or min(size) >= SMALLEST_SIDE


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels as the header of a PNG, JPEG, GIF, BMP or WebP says, None for others."""
    try:
        if data.startswith(_PNG):
            width, height = struct.unpack_from(">II", data, 16)
        elif data.startswith((b"GIF87a", b"GIF89a")):
            width, height = struct.unpack_from("<HH", data, 6)
        elif data.startswith(b"BM"):
            width, height = struct.unpack_from("<ii", data, 18)
        elif data.startswith(b"\xff\xd8"):
            return _jpeg_size(data)
        elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp_size(data)
        else:
            return None
    except struct.error:
        return None
    return abs(width), abs(height)


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:  # noqa: PLR2004 - every marker begins so
        marker = data[position + 1]
        if marker == 0xFF or marker in _ALONE:  # noqa: PLR2004
            position += 1 if marker == 0xFF else 2  # noqa: PLR2004
            continue
        if marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height
        position += 2 + max(int.from_bytes(data[position + 2 : position + 4], "big"), 2)
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
