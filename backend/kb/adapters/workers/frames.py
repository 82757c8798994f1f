"""Messages between the program and a child: a head in JSON and a tail of bytes.

Layout: length of the head (u32), length of the tail (u64), head, tail; little-endian.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from kb.domain.ids import Json

Facts = Mapping[str, Json]

_LENGTHS = struct.Struct("<IQ")
_LONGEST_HEAD = 1 << 20
LONGEST_REPLY = 1 << 30
"""Bytes of a tail that the program takes from a child, which may have fallen into the hands of its file."""
LONGEST_REQUEST = 1 << 33
"""Bytes of a tail that a child takes from the program."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message."""

    facts: Facts
    tail: bytes = field(default=b"", repr=False)


def write_frame(stream: BinaryIO, facts: Facts, tail: Sequence[bytes] = ()) -> None:
    """Write a message whose tail is all of `tail` joined.

    Raises:
        OSError: the other side is gone.
    """
    head = json.dumps(facts).encode("ascii")
    stream.write(_LENGTHS.pack(len(head), sum(map(len, tail))) + head)
    stream.writelines(tail)
    stream.flush()


def read_frame(stream: BinaryIO, longest_tail: int) -> Frame | None:
    """Read a message; None when the other side is gone or speaks something else."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, tail_length = _LENGTHS.unpack(lengths)
    if head_length > _LONGEST_HEAD or tail_length > longest_tail:
        return None
    head, tail = stream.read(head_length), stream.read(tail_length)
    if len(head) < head_length or len(tail) < tail_length:
        return None
    try:
        facts = json.loads(head)
    except (ValueError, RecursionError):
        return None
    return Frame(facts, tail) if isinstance(facts, dict) else None
