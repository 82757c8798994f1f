"""Line engines without models: a picture's lines are told by the shade they are drawn in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kb.adapters.ocr.geometry import Quad
from kb.adapters.ocr.lines import ReadLine

Pixels = Any


def reading(text: str, confidence: float = 0.99, language: str = "und") -> ReadLine:
    """A line with characters of one width."""
    return ReadLine(text, tuple(n / max(len(text), 1) for n in range(len(text) + 1)), confidence, language)


@dataclass
class ShadedLines:
    """Knows where lines are, and what is said by the shade (0-254) at their beginning.

    A line's beginning is its left quarter; one that is cut the wrong way up shows its end instead and reads as noise.
    """

    quads: Sequence[Quad]
    texts: Mapping[int, ReadLine]
    read_lines: list[int] = field(default_factory=list)

    def find(self, picture: Pixels) -> list[Quad]:
        return list(self.quads)

    def cut(self, picture: Pixels, quad: Quad) -> Pixels:
        begin, end = quad.piece(0.1, 0.1)[0], quad.piece(0.9, 0.9)[0]
        shades = [picture[int((p.y + q.y) / 2), int((p.x + q.x) / 2), 0] for p, q in _across(quad, begin, end)]
        return np.array([[[shades[0]] * 3, [shades[1]] * 3]], np.uint8)

    def read(self, lines: Sequence[Pixels]) -> list[ReadLine]:
        shades = [int(line[0, 0, 0]) for line in lines]
        self.read_lines += shades
        return [self.texts.get(shade, reading("", 0.0)) for shade in shades]

    def upside_down(self, lines: Sequence[Pixels]) -> float:
        return sum(int(line[0, 0, 0]) == 255 for line in lines) / max(len(lines), 1)


def _across(quad: Quad, *points: Any) -> list[tuple[Any, Any]]:
    """Pair each point of the upper edge with the one across."""
    below = [quad.piece(0.1, 0.1)[3], quad.piece(0.9, 0.9)[3]]
    return list(zip(points, below, strict=True))


@dataclass
class ShadedKorean:
    """Reads shades as Korean."""

    texts: Mapping[int, ReadLine]
    read_lines: list[int] = field(default_factory=list)

    def read(self, line: Pixels) -> ReadLine:
        shade = int(line[0, 0, 0])
        self.read_lines.append(shade)
        return self.texts.get(shade, reading("", 0.0, "ko"))


def drawn(quads: Sequence[Quad], width: int, height: int) -> bytes:
    """Draw the beginning of line n in shade n on white: RGB rows."""
    pixels = np.full((height, width, 3), 255, np.uint8)
    for shade, quad in enumerate(quads):
        corners = quad.piece(0, 0.5)
        xs, ys = [int(p.x) for p in corners], [int(p.y) for p in corners]
        pixels[min(ys) : max(ys), min(xs) : max(xs)] = shade
    return pixels.tobytes()
