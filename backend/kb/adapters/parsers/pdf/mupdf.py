"""PyMuPDF at its edge: opening, words with boxes, looks of lines, what is drawn, pictures of pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from kb.adapters.parsers.pdf.lines import Line, View, Words, gather
from kb.domain.errors import Unreadable
from kb.ingest.reading_ports import Raster

Document: TypeAlias = Any
Page: TypeAlias = Any
TextPage: TypeAlias = Any

_BOLD, _MONO = 16, 8
_VECTOR = 3
_LONGEST_SMALL = 420.0
_UNLIKE = 24
_INK = 0.0004
_ORDINARY_DPI, _FINEST_DPI = 200.0, 300.0
_MOST_RENDERED = 40_000_000
_POINTS = 72.0
_TALL = 1.45
_DRAWS = re.compile(rb"[\d.]\s+(?:re|l)\s|\bDo\b")
_EVERYWHERE = (-1e6, -1e6, 1e6, 1e6)


def open_pdf(data: bytes, password: str | None) -> Document | None:
    """Open a PDF; None when there are no pages in what can be made of it.

    Raises:
        Unreadable: `locked` or `wrong_type`.
    """
    import pymupdf

    # Complaints about every second PDF would go to the terminal otherwise.
    pymupdf.TOOLS.mupdf_display_errors(False)  # noqa: FBT003
    pymupdf.TOOLS.mupdf_display_warnings(False)  # noqa: FBT003
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
    except Exception:  # noqa: BLE001 - MuPDF raises plain exceptions of its own
        return None
    if not document.is_pdf:
        raise Unreadable("the content is not a PDF", hint="give it the name of its kind", reason="wrong_type")
    if document.needs_pass and not (password and document.authenticate(password)):
        raise locked(given=bool(password))
    try:
        return document if document.page_count > 0 else None
    except Exception:  # noqa: BLE001
        return None


def locked(*, given: bool) -> Unreadable:
    """Return the error of a file that needs a password or another one."""
    fact = "the password does not open the PDF" if given else "the PDF is locked with a password"
    return Unreadable(fact, hint="give it with `kb ingest --password`; it is kept nowhere", reason="locked")


def view_of(page: Page) -> View:
    """Return size and turn of a page as displayed."""
    rect = page.rect
    return View(rect.width, rect.height, page.rotation % 360)


def words_of(page: Page, view: View) -> tuple[Words, TextPage]:
    """Return the words of a page with their boxes as displayed, and what their looks can be read from."""
    import pymupdf

    # Ligatures are spelled out; letters without a known meaning come as U+FFFD, so that they can be counted.
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE
    # What a CropBox cuts off is cut off on purpose; what merely runs off the page is still text of the file.
    clip = None if page.cropbox != page.mediabox else _EVERYWHERE
    text_page = page.get_textpage(clip=clip, flags=flags | (pymupdf.TEXT_MEDIABOX_CLIP if clip is None else 0))
    return gather(text_page.extractWORDS(), view), text_page


def add_looks(lines: Sequence[Line], text_page: TextPage, view: View) -> int:
    """Set size, weight and pitch of lines; boxes of fonts with absurd heights are brought down to their letters.

    Returns:
        How most of the text runs on the page as displayed: 0 from left to right, else degrees clockwise from that.
    """
    looks: dict[tuple[int, int], tuple[dict[str, Any], int]] = {}
    letters: Counter[int] = Counter()
    for block in text_page.extractDICT()["blocks"]:
        number = block["number"]
        for index, line in enumerate(block.get("lines", ())):
            spans = line["spans"]
            if spans:
                longest = max(spans, key=lambda span: len(span["text"])) if len(spans) > 1 else spans[0]
                # Lines of vertical writing are told apart from lines that lie on their side.
                turned = view.turned + _turn(line["dir"]) if not line["wmode"] else 0
                looks[number, index] = longest, turned % 360
                letters[turned % 360] += len(longest["text"])
    for line in lines:
        look = looks.get(line.key)
        if look is None:
            continue
        span, turned = look
        line.size = span["size"]
        line.bold = bool(span["flags"] & _BOLD) or "bold" in span["font"].lower()
        line.mono = bool(span["flags"] & _MONO)
        if not turned and not view.turned and line.y1 - line.y0 > _TALL * line.size > 0:
            _lower(line, span["origin"][1], view)
    return letters.most_common(1)[0][0] if letters else 0


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


def rendered(page: Page, view: View, dpi: float, most_pixels: int) -> Raster:
    """Return the picture of a page as displayed; `dpi` is kept between 200 and 300, less where it gets too large."""
    import pymupdf

    zoom = zoom_of(view, dpi, most_pixels)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csRGB, alpha=False)
    return Raster(picture.width, picture.height, picture.samples, zoom * _POINTS)


def forget() -> None:
    """Give back what MuPDF keeps of pages already read."""
    import pymupdf

    pymupdf.TOOLS.store_shrink(100)


def _turn(direction: tuple[float, float]) -> int:
    across, down = direction
    if abs(across) >= abs(down):
        return 0 if across >= 0 else 180
    return 90 if down > 0 else 270


def _lower(line: Line, baseline: float, view: View) -> None:
    from kb.domain.pages import SCALE

    line.y0, line.y1 = max(line.y0, baseline - 1.05 * line.size), min(line.y1, baseline + 0.35 * line.size)
    top, bottom = int(line.y0 * SCALE / max(view.height, 1.0)), int(line.y1 * SCALE / max(view.height, 1.0)) + 1
    for at in range(0, len(line.words), 6):
        if line.words[at + 3] < top < line.words[at + 5]:
            line.words[at + 3] = top
        if line.words[at + 3] < bottom < line.words[at + 5]:
            line.words[at + 5] = bottom
