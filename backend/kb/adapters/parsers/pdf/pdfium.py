"""The second reader: pypdfium2, for pages of which the first one gets little."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, TypeAlias

from kb.adapters.parsers.pdf.lines import View, Words, gather

Document: TypeAlias = Any
Page: TypeAlias = Any
_HYPHEN = 0x02


class PdfiumReader:
    """A PDF as pdfium sees it; opened when first asked, pages counted from 0."""

    def __init__(self, data: bytes, password: str | None) -> None:
        self._data = data
        self._password = password
        self._document: Document | None = None

    @property
    def page_count(self) -> int:
        """Return the number of pages, 0 when the file cannot be opened."""
        import pypdfium2

        try:
            return len(self._open())
        except (pypdfium2.PdfiumError, OSError):
            return 0

    def view(self, number: int) -> View:
        """Return size and turn of a page as displayed."""
        page = self._open()[number]
        width, height = page.get_size()
        return View(width, height, page.get_rotation() % 360)

    def words(self, number: int) -> Words:
        """Return the words of a page with their boxes as displayed; none when it cannot be read."""
        import pypdfium2

        try:
            page = self._open()[number]
            width, height = page.get_size()
            view = View(width, height, page.get_rotation() % 360)
            left, _, _, top = page.get_cropbox()
            return gather(_raw_words(page, left, top), view)
        except (pypdfium2.PdfiumError, OSError, IndexError):
            return Words()

    def drawn(self, number: int, zoom: float, *, grey: bool) -> tuple[int, int, bytes]:
        """Return width, height and rows (grey or RGB) of a page as displayed; no rows when it cannot be drawn."""
        import pypdfium2

        try:
            picture = self._open()[number].render(scale=zoom, grayscale=grey, rev_byteorder=True, prefer_bgrx=False)
        except (pypdfium2.PdfiumError, OSError, IndexError):
            return 0, 0, b""
        wide = picture.width * picture.n_channels
        rows = memoryview(picture.buffer).cast("B")
        samples = b"".join([rows[at : at + wide] for at in range(0, picture.stride * picture.height, picture.stride)])
        return picture.width, picture.height, samples

    def close(self) -> None:
        """Give the file back."""
        if self._document is not None:
            self._document.close()
            self._document = None

    def _open(self) -> Document:
        import pypdfium2

        if self._document is None:
            self._document = pypdfium2.PdfDocument(self._data, password=self._password)
        return self._document


def _raw_words(page: Page, left: float, top: float) -> Iterator[tuple[float, float, float, float, str, int, int]]:
    """Yield words as PyMuPDF gives them: in points of the unturned page from the corner of its CropBox."""
    from pypdfium2 import raw

    text_page = page.get_textpage()
    try:
        count = text_page.count_chars()
        sides = [ctypes.c_double() for _ in range(4)]
        pointers = [ctypes.byref(side) for side in sides]
        tight = raw.FS_RECTF()
        letters: list[str] = []
        box = (0.0, 0.0, 0.0, 0.0)
        line = 0
        for index in range(count + 1):
            code = raw.FPDFText_GetUnicode(text_page.raw, index) if index < count else 0x20
            letter = _letter(code)
            if letter.isspace():
                if letters:
                    yield (box[0] - left, top - box[3], box[2] - left, top - box[1], "".join(letters), 0, line)
                    letters = []
                line += letter == "\n"
                continue
            if raw.FPDFText_GetLooseCharBox(text_page.raw, index, ctypes.byref(tight)):
                x0, x1, y0, y1 = tight.left, tight.right, tight.bottom, tight.top
            else:
                raw.FPDFText_GetCharBox(text_page.raw, index, pointers[0], pointers[1], pointers[2], pointers[3])
                x0, x1, y0, y1 = (side.value for side in sides)
            more = (min(box[0], x0), min(box[1], y0), max(box[2], x1), max(box[3], y1))
            box = more if letters else (x0, y0, x1, y1)
            letters.append(letter)
    finally:
        text_page.close()


def _letter(code: int) -> str:
    if code == _HYPHEN:  # what pdfium makes of a hyphen at the end of a line
        return "-"
    return chr(code) if code and not 0xD800 <= code <= 0xDFFF else "\ufffd"  # noqa: PLR2004 - surrogates
