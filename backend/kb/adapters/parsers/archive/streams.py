"""Single files packed with gzip, bzip2 or xz, unpacked while their bytes are counted."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Protocol

from kb.adapters.parsers.shared.archive import Budget, damaged

_PIECE = 1 << 16
_MOST_STREAMS = 100_000
_XZ_MEMORY = 128 << 20


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


def plain_bytes(data: bytes, packing: str, budget: Budget) -> bytes:
    """Return what a packed file holds; several streams one after the other are one file.

    Args:
        data: the packed file.
        packing: `gz`, `bz2` or `xz`.
        budget: counts every byte that comes out.

    Raises:
        Unreadable: `damaged`, `expands_too_much`.
    """
    pieces: list[bytes] = []
    start, streams = 0, 0
    while start < len(data) and data[start : start + _PIECE].strip(b"\0"):  # tapes fill up with zeros
        streams += 1
        if (start and not data.startswith(data[:2], start)) or streams > _MOST_STREAMS:
            raise damaged("something else follows what is packed in it")
        try:
            start = _one(_stream(packing), data, start, pieces, budget)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, MemoryError) as error:
            raise damaged("it is damaged, or only a part of a file") from error
    return b"".join(pieces)


def _one(stream: _Stream, data: bytes, start: int, pieces: list[bytes], budget: Budget) -> int:
    """Unpack the stream that begins at `start`; return where it ends."""
    for position in range(start, len(data), _PIECE):
        held = data[position : position + _PIECE]
        end = position + len(held)
        while True:
            piece = stream.decompress(held, _PIECE)
            budget.spend(len(piece))
            pieces.append(piece)
            if stream.eof:
                return end - len(stream.unused_data)
            held = getattr(stream, "unconsumed_tail", b"")
            if not held and len(piece) < _PIECE:
                break
    raise EOFError


def _stream(packing: str) -> _Stream:
    if packing == "gz":
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    if packing == "bz2":
        return bz2.BZ2Decompressor()
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
