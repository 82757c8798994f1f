"""At which size a page is drawn, and whether a drawing shows anything."""

from __future__ import annotations

from collections import Counter

from kb.adapters.parsers.pdf.lines import View

_LONGEST_SMALL = 420.0
_UNLIKE = 24
_INK = 0.0004
_ORDINARY_DPI, _FINEST_DPI = 200.0, 300.0
_MOST_RENDERED = 40_000_000
_POINTS = 72.0


def small_zoom(view: View) -> float:
    """Return the enlargement at which a page is looked at for whether anything is on it."""
    return min(_LONGEST_SMALL / max(view.width, view.height, 1.0), 4.0)


def is_uniform(samples: bytes) -> bool:
    """Return whether grey samples are nearly all of one shade."""
    shades = Counter(samples)
    ground = max(shades, key=lambda shade: shades[shade])
    ink = sum(count for shade, count in shades.items() if abs(shade - ground) > _UNLIKE)
    return ink <= _INK * max(len(samples), 1)


def zoom_of(view: View, dpi: float, most_pixels: int) -> float:
    """Return the enlargement for `dpi` kept between 200 and 300, less where the picture would get too large."""
    zoom = min(max(dpi, _ORDINARY_DPI), _FINEST_DPI) / _POINTS
    pixels = view.width * view.height * zoom * zoom
    most = min(most_pixels, _MOST_RENDERED)
    return zoom if pixels <= most else zoom * (most / pixels) ** 0.5
