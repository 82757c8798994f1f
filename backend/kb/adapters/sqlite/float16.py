"""Vectors as they are kept: little-endian float16 with a checksum."""

from __future__ import annotations

import zlib

from kb.domain.embeddings import Vector


def pack(vector: Vector) -> tuple[bytes, int]:
    """Return a float32 vector as float16 bytes and their CRC-32."""
    import numpy as np

    blob = np.frombuffer(vector, dtype="<f4").astype("<f2").tobytes()
    return blob, zlib.crc32(blob)


def unpack(blob: bytes) -> Vector:
    """Return float16 bytes as a float32 vector."""
    import numpy as np

    return Vector(np.frombuffer(blob, dtype="<f2").astype("<f4").tobytes())


def is_sound(blob: bytes, checksum: int, dimensions: int) -> bool:
    """Return whether a stored vector is as it was written."""
    return len(blob) == 2 * dimensions and zlib.crc32(blob) == checksum
