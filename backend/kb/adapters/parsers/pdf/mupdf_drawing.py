"""PyMuPDF at its edge: what is drawn on a page, and pictures of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from kb.adapters.parsers.pdf.lines import View
from kb.adapters.parsers.pdf.mupdf import Page
from kb.adapters.parsers.pdf.zoom import is_uniform, small_zoom, zoom_of
from kb.ingest.reading_ports import Raster

_VECTOR = 3
_POINTS = 72.0
_DRAWS = re.compile(rb"[\d.]\s+(?:re|l)\s|\bDo\b")


def may_draw(page: Page) -> bool:
    """Return whether the content of a page itself, or a form it shows, may draw lines; text alone does not."""
    with suppress(Exception):
        return _DRAWS.search(page.read_contents()) is not None
    return True


def drawn_boxes(page: Page, view: View) -> Iterator[tuple[float, float, float, float]]:
    """Yield the boxes of what is stroked and filled on a page as displayed."""
    import pymupdf

    flags = pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
    place = view.place()
    for block in page.get_textpage(flags=flags).extractDICT()["blocks"]:
        if block["type"] == _VECTOR:
            yield place(*block["bbox"])


def has_fonts(page: Page) -> bool:
    """Return whether a page names any font."""
    with suppress(Exception):
        return bool(page.get_fonts(full=False))
    return True


def largest_picture(page: Page) -> int:
    """Return the pixels of the largest picture a page may use, without decoding it."""
    sizes = [0]
    with suppress(Exception):
        sizes += [int(entry[2]) * int(entry[3]) for entry in page.get_images(full=False)]
    return max(sizes)


def pictures(page: Page, view: View) -> list[tuple[tuple[float, float, float, float], float]]:
    """Return (box as displayed, dots per inch) of the pictures shown on a page."""
    place = view.place()
    found = []
    for info in page.get_image_info():
        x0, y0, x1, y1 = place(*info["bbox"])
        box = (max(x0, 0.0), max(y0, 0.0), min(x1, view.width), min(y1, view.height))
        if box[2] > box[0] and box[3] > box[1]:
            span = max(x1 - x0, y1 - y0, 1.0)
            found.append((box, max(info["width"], info["height"]) * _POINTS / span))
    return found


def is_blank(page: Page, view: View) -> bool:
    """Return whether a page shows nearly one colour all over."""
    import pymupdf

    zoom = small_zoom(view)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False)
    return is_uniform(picture.samples)


def rendered(page: Page, view: View, dpi: float, most_pixels: int) -> Raster:
    """Return the picture of a page as displayed; `dpi` is kept between 200 and 300, less where it gets too large."""
    import pymupdf

    zoom = zoom_of(view, dpi, most_pixels)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csRGB, alpha=False)
    return Raster(picture.width, picture.height, picture.samples, zoom * _POINTS)
