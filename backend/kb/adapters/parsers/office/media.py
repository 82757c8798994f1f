"""Pictures and files inside office documents: which of them become items of their own."""

from __future__ import annotations

import re
import struct

from kb.adapters.parsers.shared.names import clean_name, numbered
from kb.adapters.parsers.shared.xml import Element
from kb.domain.documents import Member, ParseWarning

_LONG_SIDE = 120
_SHORT_SIDE = 40
_LEAST_BYTES = 1_000
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|webp|emf|wmf|svg)\Z", re.IGNORECASE)
_SAYS_NOTHING = frozenset(("picture", "image", "photo", "그림", "图片", "圖片"))
_READABLE = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"RIFF")


class Members:
    """Files inside one document, each part once, in the order they are met."""

    def __init__(self) -> None:
        self._found: dict[str, Member] = {}
        self.left_out = 0

    def picture(self, part: str, data: bytes | None) -> bool:
        """Take a picture, unless it is an icon or a drawing no picture reader opens; return whether it was taken."""
        if part in self._found:
            return True
        if data is None or len(data) < _LEAST_BYTES:
            return False
        if not data.startswith(_READABLE):
            self.left_out += 1
            return False
        size = pixel_size(data)
        if size is not None and (max(size) < _LONG_SIDE or min(size) < _SHORT_SIDE):
            return False
        self._add(part, data)
        return True

    def file(self, part: str, data: bytes | None) -> None:
        """Take an embedded file; an object only its own program understands is counted, not taken."""
        if data is None or part in self._found:
            return
        if part.lower().endswith(".bin"):
            self.left_out += 1
        else:
            self._add(part, data)

    def all(self) -> tuple[Member, ...]:
        """Return what was taken, names made different."""
        names = numbered(member.name for member in self._found.values())
        return tuple(Member(name, member.data) for name, member in zip(names, self._found.values(), strict=True))

    def _add(self, part: str, data: bytes) -> None:
        self._found[part] = Member(clean_name(part.rpartition("/")[2]), data)


def pixel_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height from the first bytes of a PNG, GIF, BMP or JPEG picture, None when they do not say."""
    if data.startswith(b"\x89PNG") and len(data) >= 24:  # noqa: PLR2004 - end of the two fields
        width, height = struct.unpack_from(">LL", data, 16)
        return width, height
    if data.startswith(b"GIF8") and len(data) >= 10:  # noqa: PLR2004
        width, height = struct.unpack_from("<HH", data, 6)
        return width, height
    if data.startswith(b"BM") and len(data) >= 26:  # noqa: PLR2004
        width, height = struct.unpack_from("<ll", data, 18)
        return abs(width), abs(height)
    return _jpeg_size(data) if data.startswith(b"\xff\xd8") else None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:  # noqa: PLR2004 - a marker
        marker, length = struct.unpack_from(">xBH", data, position)
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height
        position += 2 + max(length, 2)
    return None


def alt_text(properties: Element) -> str:
    """Return what a person wrote about a picture; programs put the name of its file there."""
    if properties is None:
        return ""
    text = " ".join((properties.get("descr") or properties.get("title") or "").split())
    return "" if _FILE_NAME.match(text) or text.lower() in _SAYS_NOTHING else text


def left_out_warnings(members: Members) -> tuple[ParseWarning, ...]:
    """Return in words what was not taken."""
    count = members.left_out
    return (ParseWarning("extract_failed", f"{count} embedded objects or drawings were not read"),) if count else ()
