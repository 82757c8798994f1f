"""PyMuPDF at its edge: opening, words with boxes, looks of lines."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

from kb.adapters.parsers.pdf.lines import Line, View, Words, gather
from kb.domain.errors import Unreadable

Document: TypeAlias = Any
Page: TypeAlias = Any
TextPage: TypeAlias = Any

_BOLD, _MONO = 16, 8
_MARK = b"%PDF"
_OBJECT = re.compile(rb"\b[0-9]+\s+[0-9]+\s+obj\b")
_HEAD = 4096
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_MOST_INFLATED = 16 << 20
_TALL = 1.45
_EVERYWHERE = (-1e6, -1e6, 1e6, 1e6)


def open_pdf(data: bytes, password: str | None) -> Document | None:
    """Open a PDF; None when there are no pages in what can be made of it.

    Raises:
        Unreadable: `locked` or `wrong_type`.
    """
    import pymupdf

    # A head may be lost and the rest be readable all the same.
    is_like_one = _MARK in data or _OBJECT.search(data)
    if not is_like_one and data.strip() and not _BINARY.search(data[:_HEAD]):
        raise wrong_type()
    # Complaints about every second PDF would go to the terminal otherwise.
    pymupdf.TOOLS.mupdf_display_errors(False)  # noqa: FBT003
    pymupdf.TOOLS.mupdf_display_warnings(False)  # noqa: FBT003
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
    except Exception:  # noqa: BLE001 - MuPDF raises plain exceptions of its own
        return None
    if not document.is_pdf:
        raise wrong_type()
    if document.needs_pass and not (password and document.authenticate(password)):
        raise locked(given=bool(password))
    try:
        return document if document.page_count > 0 else None
    except Exception:  # noqa: BLE001
        return None


def wrong_type() -> Unreadable:
    """Return the error of a file that is something else."""
    return Unreadable("the content is not a PDF", hint="give it the name of its kind", reason="wrong_type")


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


def is_torn(document: Document, page: Page) -> bool:
    """Return whether a page, or something drawn on it, is named in the file and not there: it was cut short."""
    try:
        if document.xref_get_key(page.xref, "Type")[1] != "/Page":
            return False  # an odd one, such as a page without a type
        drawn = page.get_contents()
        if not all(document.xref_is_stream(number) for number in drawn):
            return True
        # Repair makes the stream in which the file ends look whole.
        return bool(document.is_repaired) and any(_is_cut(document, number) for number in drawn)
    except Exception:  # noqa: BLE001 - MuPDF raises plain exceptions of its own
        return True


def _is_cut(document: Document, number: int) -> bool:
    if document.xref_get_key(number, "Filter")[1] != "/FlateDecode":
        return False
    stream = zlib.decompressobj()
    try:
        stream.decompress(document.xref_stream_raw(number), _MOST_INFLATED)
    except zlib.error:
        return True
    return not stream.eof and not stream.unconsumed_tail


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
