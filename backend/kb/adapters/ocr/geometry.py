"""Where lines lie: turning, straightening, and boxes of words along a slanted line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

_TALL = 1.5
_TALLER_THAN_A_LETTER = 2.2


class Point(NamedTuple):
    """Pixels; y grows downwards."""

    x: float
    y: float


class Quad(NamedTuple):
    """A line's outline: its four corners as a reader of the line sees them, who reads from `a` to `b`."""

    a: Point
    b: Point
    c: Point
    d: Point

    @property
    def length(self) -> float:
        """Return how far the line runs."""
        return max(math.dist(self.a, self.b), math.dist(self.d, self.c))

    @property
    def thickness(self) -> float:
        """Return how high its letters are."""
        return max(math.dist(self.a, self.d), math.dist(self.b, self.c))

    def piece(self, left: float, right: float) -> tuple[Point, Point, Point, Point]:
        """Return the outline of the part between two fractions (0-1) of the length."""
        return (
            _between(self.a, self.b, left),
            _between(self.a, self.b, right),
            _between(self.d, self.c, right),
            _between(self.d, self.c, left),
        )

    def reversed(self) -> Quad:
        """Return the same outline read from the other end, upside down."""
        return Quad(self.c, self.d, self.a, self.b)


class Turn(NamedTuple):
    """A turn clockwise by `degrees` (0, 90, 180, 270) of a picture of `width` x `height`."""

    degrees: int
    width: float
    height: float

    def there(self, point: Point) -> Point:
        """Return where a point of the picture is after the turn."""
        x, y = point
        match self.degrees:
            case 90:
                return Point(self.height - y, x)
            case 180:
                return Point(self.width - x, self.height - y)
            case 270:
                return Point(y, self.width - x)
            case _:
                return point


def quad_of(corners: Sequence[tuple[float, float]]) -> Quad:
    """Return the outline of corners that begin at the top left and run clockwise."""
    a, b, c, d = (Point(float(x), float(y)) for x, y in corners)
    return Quad(a, b, c, d)


def read_along(quads: Sequence[Quad]) -> tuple[list[Quad], bool]:
    """Turn the outlines of lines that stand upright so that they are read downwards; say whether most of them are.

    A single letter or figure is higher than wide and stands for itself.
    """
    if not quads:
        return [], False
    em = median(min(quad.length, quad.thickness) for quad in quads)
    upright = [quad.thickness > _TALL * quad.length and quad.thickness > _TALLER_THAN_A_LETTER * em for quad in quads]
    longest = [max(quad.length, quad.thickness) for quad in quads]
    standing = sum(length for length, is_upright in zip(longest, upright, strict=True) if is_upright)
    along = [
        Quad(quad.b, quad.c, quad.d, quad.a) if is_upright else quad
        for quad, is_upright in zip(quads, upright, strict=True)
    ]
    return along, standing > sum(longest) / 2


def slant(quads: Sequence[Quad]) -> float:
    """Return the angle of the lines against the horizontal, in radians, clockwise; the long ones say it best."""
    angles = sorted(
        (math.atan2(quad.b.y - quad.a.y, quad.b.x - quad.a.x), quad.length)
        for quad in quads
        if abs(quad.b.x - quad.a.x) > abs(quad.b.y - quad.a.y)
    )
    half = sum(length for _, length in angles) / 2
    for angle, length in angles:
        half -= length
        if half <= 0:
            return angle
    return 0.0


def straightened(quad: Quad, angle: float) -> tuple[float, float, float, float]:
    """Return (x0, y0, x1, y1) of an outline after turning the page back by `angle`, as thick as the line itself."""
    cosine, sine = math.cos(-angle), math.sin(-angle)
    corners = [Point(x * cosine - y * sine, x * sine + y * cosine) for x, y in quad]
    xs, ys = [corner.x for corner in corners], [corner.y for corner in corners]
    return min(xs), min(ys), max(xs), max(ys)


def bounds(points: Sequence[Point]) -> tuple[float, float, float, float]:
    """Return (x0, y0, x1, y1) around points."""
    xs, ys = [point.x for point in points], [point.y for point in points]
    return min(xs), min(ys), max(xs), max(ys)


def _between(start: Point, end: Point, share: float) -> Point:
    return Point(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)
