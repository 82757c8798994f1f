"""Messages between the program and its child: a head in JSON and a tail of raw numbers.

Layout: length of the head (u32), length of the tail (u64), head, tail; little-endian.
"""

from __future__ import annotations

import json
import struct
from typing import BinaryIO, NamedTuple, TypeAlias

Facts: TypeAlias = "dict[str, str | int | float | bool]"

_LENGTHS = struct.Struct("<IQ")
_LONGEST_HEAD = 1 << 20
_LONGEST_TAIL = 1 << 32


class Frame(NamedTuple):
    """One message."""

    facts: Facts
    tail: bytes = b""


def write_frame(stream: BinaryIO, frame: Frame) -> None:
    """Write a message.

    Raises:
        OSError: the other side is gone.
    """
    head = json.dumps(frame.facts).encode()
    stream.write(_LENGTHS.pack(len(head), len(frame.tail)) + head)
    stream.write(frame.tail)
    stream.flush()


def read_frame(stream: BinaryIO) -> Frame | None:
    """Read a message; None when the other side is gone or speaks something else."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, tail_length = _LENGTHS.unpack(lengths)
    if head_length > _LONGEST_HEAD or tail_length > _LONGEST_TAIL:
        return None
    head, tail = stream.read(head_length), stream.read(tail_length)
    if len(head) < head_length or len(tail) < tail_length:
        return None
    return Frame(json.loads(head), tail)
