"""The data file: a header, then one column after another, each with room for `capacity` rows."""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kb.adapters.vectorscan.disk import create_private
from kb.adapters.vectorscan.stamp import BLOCK, Head, blocks_of

_PAGE = 4096
_HEADER = struct.Struct("<8s32sQQI")
_MAGIC = b"KBVECS1\n"


class Rows(NamedTuple):
    """Some rows of every column.

    Attributes:
        keys: u64.
        scales: float32; a coarse row times its scale is about the vector.
        checks: CRC-32 of the fine row.
        coarse: int8, one row per vector.
        fine: float16, one row per vector.
    """

    keys: NDArray[np.uint64]
    scales: NDArray[np.float32]
    checks: NDArray[np.uint32]
    coarse: NDArray[np.int8]
    fine: NDArray[np.float16]

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """Return copies of the chosen rows, in the order given."""
        return Rows(self.keys[rows], self.scales[rows], self.checks[rows], self.coarse[rows], self.fine[rows])

    def slice(self, start: int, end: int) -> Rows:
        """Return rows `start` to `end`, half open, without copying."""
        span = slice(start, end)
        return Rows(self.keys[span], self.scales[span], self.checks[span], self.coarse[span], self.fine[span])


def quantised(keys: list[int], vectors: list[bytes], dimensions: int) -> Rows:
    """Return the rows of some vectors of length one.

    Raises:
        ValueError: a vector has other dimensions or a number that is not finite.
    """
    if any(len(vector) != 4 * dimensions for vector in vectors):
        raise ValueError("a vector has other dimensions than its model")
    exact = np.frombuffer(b"".join(vectors), "<f4").reshape(len(keys), dimensions)
    if not np.isfinite(exact).all():
        raise ValueError("a vector holds a number that is not finite")
    # A scale per row: E5 vectors rarely reach beyond .2, so one scale for all would waste two of the eight bits.
    scales = np.maximum(np.abs(exact).max(axis=1), np.float32(1e-12)) / np.float32(127)
    coarse = np.rint(exact / scales[:, None]).astype(np.int8)
    fine = exact.astype("<f2")
    checks = np.array([zlib.crc32(row.data) for row in fine], "<u4")
    return Rows(np.array(keys, "<u8"), scales.astype("<f4"), checks, coarse, fine)


class ColumnFile:
    """One generation of rows on disk, open for writing."""

    def __init__(self, descriptor: int, dimensions: int, capacity: int) -> None:
        self._file = os.fdopen(descriptor, "r+b", buffering=0)
        self._places = list(_places(dimensions, capacity))
        self._capacity = capacity

    @classmethod
    def create(cls, path: Path, head: Head) -> Self:
        """Make an empty file of full size; unused room is a hole where the file system knows holes."""
        made = cls(create_private(path), head.dimensions, head.capacity)
        try:
            made._file.write(_header(head))
            made._file.truncate(_size(head))
        except OSError:
            made.close(sync=False)
            path.unlink()
            raise
        return made

    @classmethod
    def open(cls, path: Path, head: Head) -> Self:
        """Open the file of `head` to append."""
        return cls(os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0)), head.dimensions, head.capacity)

    def write(self, start: int, rows: Rows) -> None:
        """Write rows from row number `start` on.

        Raises:
            ValueError: there is no room for them.
            OSError: the disk is full or fails.
        """
        if start + len(rows.keys) > self._capacity:
            raise ValueError("more vectors than were announced")
        for (offset, width), column in zip(self._places, rows, strict=True):
            self._file.seek(offset + start * width)
            data = np.ascontiguousarray(column).data.cast("B")
            while data:
                data = data[self._file.write(data) :]

    def close(self, *, sync: bool) -> None:
        """Close, after making everything durable if `sync`; closing twice is closing once."""
        if self._file.closed:
            return
        with self._file as file:
            if sync:
                os.fsync(file.fileno())


def is_whole(path: Path, head: Head) -> bool:
    """Return whether the file is there in full size: reading a mapped file that was cut kills the process."""
    try:
        return path.stat().st_size == _size(head)
    except OSError:
        return False


def map_rows(path: Path, head: Head) -> Rows | None:
    """Map the columns for reading; None when the file is missing, cut or of another generation.

    Pages that are read stay in the system's cache, not in this process.
    """
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != _size(head) or file.read(_HEADER.size) != _header(head):
                return None
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    types = ("<u8", "<f4", "<u4", "<i1", "<f2")
    columns = []
    for (offset, width), kind in zip(_places(head.dimensions, head.capacity), types, strict=True):
        flat = np.frombuffer(data, kind, head.capacity * width // np.dtype(kind).itemsize, offset)
        columns.append(flat.reshape(head.capacity, head.dimensions) if kind in {"<i1", "<f2"} else flat)
    return Rows(*columns)


def block_checksums(rows: Rows, first_block: int, count: int) -> Iterator[int]:
    """Yield the CRC-32 of each block from `first_block` to the end of `count` rows.

    Fine rows are covered through their `checks`: a search reads a few of them, not all.
    """
    for block in range(first_block, blocks_of(count)):
        part = rows.slice(block * BLOCK, min(count, (block + 1) * BLOCK))
        value = 0
        for column in part[:4]:
            value = zlib.crc32(np.ascontiguousarray(column).data, value)
        yield value


def fine_rows_hold(rows: Rows) -> bool:
    """Return whether every fine row is as it was written."""
    return all(zlib.crc32(row.data) == check for row, check in zip(rows.fine, rows.checks, strict=True))


def _places(dimensions: int, capacity: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, bytes per row) of each column."""
    offset = _PAGE
    for width in (8, 4, 4, dimensions, 2 * dimensions):
        yield offset, width
        offset += -(-capacity * width // _PAGE) * _PAGE


def _size(head: Head) -> int:
    offset, width = list(_places(head.dimensions, head.capacity))[-1]
    return offset + -(-head.capacity * width // _PAGE) * _PAGE


def _header(head: Head) -> bytes:
    facts = (_MAGIC, head.generation.encode(), head.dimensions, head.capacity)
    return _HEADER.pack(*facts, zlib.crc32(repr(facts).encode()))
