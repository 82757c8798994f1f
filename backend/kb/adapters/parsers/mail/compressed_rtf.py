"""Outlook's compressed RTF (MS-OXRTFCP), for letters that have no other body."""

from __future__ import annotations

import struct
from collections.abc import Callable

_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_COMPRESSED = 0x75465A4C
_PLAIN = 0x414C454D


def unpacked_rtf(data: bytes, spend: Callable[[int], None]) -> bytes:
    """Return the RTF; empty when the bytes are none.

    Args:
        data: the property's value.
        spend: takes unpacked bytes into account, raises when there are too many.
    """
    if len(data) < 16:  # noqa: PLR2004 - the header
        return b""
    _, size, kind, _ = struct.unpack_from("<IIII", data)
    if kind == _PLAIN:
        return data[16 : 16 + size]
    if kind != _COMPRESSED:
        return b""
    window = bytearray(_START.ljust(_WINDOW, b"\0"))
    write = len(_START)
    result = bytearray()
    position = 16
    while position < len(data):
        flags, before = data[position], len(result)
        position += 1
        for bit in range(8):
            if flags >> bit & 1:
                pair = data[position : position + 2]
                position += 2
                offset, length = int.from_bytes(pair, "big") >> 4, (int.from_bytes(pair, "big") & 15) + 2
                if len(pair) < 2 or offset == write:  # noqa: PLR2004 - the end mark refers to itself
                    return bytes(result)
                copied = [0] * length
                for index in range(length):
                    copied[index] = window[(offset + index) % _WINDOW]
                    window[write] = copied[index]
                    write = (write + 1) % _WINDOW
                result += bytes(copied)
            elif position < len(data):
                result.append(data[position])
                window[write] = data[position]
                write = (write + 1) % _WINDOW
                position += 1
        spend(len(result) - before)
    return bytes(result)
