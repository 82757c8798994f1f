"""PDFs made word by word, so that the true place of each is known without asking a reader."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pymupdf

from kb.adapters.parsers.pdf.parser import PyMuPdfParser
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.pages import Rect, line_rects
from kb.domain.paths import WorkspacePath
from kb.domain.placed import spans_between
from kb.domain.spans import PageSpan
from kb.ingest.reading_ports import OcrLine, OcrPage, OcrWord, PictureTextReader, Raster, SourceFile

WIDTH, HEIGHT = 500, 700
SIZE = 11.0
LEADING = 14.0
MARGIN = 60.0
CROP = (30.0, 40.0)


@dataclass(frozen=True)
class TrueWord:
    """A word with its box in fractions of the page as displayed, and its line (rising through the page)."""

    text: str
    page: int
    line: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass
class Made:
    """The bytes of a PDF and what stands on it."""

    data: bytes
    words: list[TrueWord] = field(default_factory=list)

    def truth(self, first: int, last: int) -> list[TrueWord]:
        return self.words[first:last]


def laid_out(texts: list[str], *, turn: int = 0, crop: bool = False, columns: int = 1, scanned: bool = False) -> Made:
    """Lay texts (one a page) out in columns, upright on a page as displayed of WIDTH x HEIGHT points."""
    document = pymupdf.open()
    words: list[TrueWord] = []
    for number, text in enumerate(texts, 1):
        placed = _placed(text, number, columns)
        words += placed
        _add_page(document, placed, turn=turn, crop=crop)
    data = document.tobytes()
    return Made(_scan(data) if scanned else data, words)


def _placed(text: str, page: int, columns: int) -> list[TrueWord]:
    gutter = 24.0
    wide = (WIDTH - 2 * MARGIN - gutter * (columns - 1)) / columns
    bottom = HEIGHT - MARGIN if columns == 1 else 0.8 * HEIGHT
    x, y, column, line = 0.0, MARGIN + SIZE, 0, 0
    space = pymupdf.get_text_length(" ", "helv", SIZE)
    found = []
    for word in text.split():
        width = pymupdf.get_text_length(word, "helv", SIZE)
        if x and x + width > wide:
            x, y, line = 0.0, y + LEADING, line + 1
            if y > bottom:
                column, y = column + 1, MARGIN + SIZE
        left = MARGIN + column * (wide + gutter) + x
        # A box as high as the letters' size, four fifths of it above the line they stand on.
        box = (left / WIDTH, (y - 0.8 * SIZE) / HEIGHT, (left + width) / WIDTH, (y + 0.2 * SIZE) / HEIGHT)
        found.append(TrueWord(word, page, line, *box))
        x += width + space
    return found


def _add_page(document: Any, words: list[TrueWord], *, turn: int, crop: bool) -> None:
    wide, high = (HEIGHT, WIDTH) if turn in {90, 270} else (WIDTH, HEIGHT)
    left, top = CROP if crop else (0.0, 0.0)
    page = document.new_page(width=wide + 2 * left, height=high + 2 * top)
    for word in words:
        u, v = word.x0 * WIDTH, word.y0 * HEIGHT + 0.8 * SIZE
        # The point of the unturned page that is displayed at (u, v) when the page is turned clockwise.
        x, y = {0: (u, v), 90: (v, high - u), 180: (wide - u, high - v), 270: (wide - v, u)}[turn]
        page.insert_text((left + x, top + y), word.text, fontsize=SIZE, fontname="helv", rotate=turn)
    if crop:
        page.insert_text((3, 20), "outside", fontsize=8)
        page.set_cropbox(pymupdf.Rect(left, top, left + wide, top + high))
    page.set_rotation(turn)


def _scan(data: bytes) -> bytes:
    """Return the same pages as pictures, turned and cropped alike."""
    scanned = pymupdf.open()
    with pymupdf.open(stream=data, filetype="pdf") as document:
        for page in document:
            turn, crop, media = page.rotation, page.cropbox, page.mediabox
            page.set_rotation(0)
            page.set_cropbox(media)
            picture = page.get_pixmap(dpi=50)
            copy = scanned.new_page(width=media.width, height=media.height)
            copy.insert_image(copy.rect, pixmap=picture)
            copy.set_cropbox(crop)
            copy.set_rotation(turn)
    result: bytes = scanned.tobytes()
    return result


@dataclass
class KnownReader:
    """Recognition that knows what stands on each page it is shown, in the order in which it is shown them."""

    pages: list[list[TrueWord]]
    version: str = "known-v1"
    shown: list[Raster] = field(default_factory=list)

    def read(self, picture: Raster) -> OcrPage:
        words = self.pages[len(self.shown)]
        self.shown.append(picture)
        lines: dict[int, list[TrueWord]] = {}
        for word in words:
            lines.setdefault(word.line, []).append(word)
        return OcrPage(tuple(_ocr_line(line, picture) for line in lines.values()))


def _ocr_line(words: list[TrueWord], picture: Raster) -> OcrLine:
    text, placed = "", []
    for word in words:
        text += " " if text else ""
        box = (
            word.x0 * picture.width,
            word.y0 * picture.height,
            word.x1 * picture.width,
            word.y1 * picture.height,
        )
        placed.append(OcrWord(len(text), len(text) + len(word.text), *box))
        text += word.text
    return OcrLine(text, tuple(placed), 0.9, 0)


def read(
    data: bytes, ocr: PictureTextReader | None = None, password: str | None = None, limits: ReadingLimits | None = None
) -> ParsedDocument:
    """Read a PDF in this process."""
    source = SourceFile(WorkspacePath("a.pdf"), MediaType.PDF, data, password=password)
    return PyMuPdfParser(ocr).read(source, limits or ReadingLimits(), lambda *_: None)


def marked(document: ParsedDocument, quote: str) -> dict[int, list[Rect]]:
    """Return the rectangles by page that mark a quote, found in one block."""
    block = next(block for block in document.blocks if quote in block.text)
    start = block.text.index(quote)
    pages = {page.page: page for page in document.pages}
    rects: dict[int, list[Rect]] = {}
    for span in spans_between(block.segments, start, start + len(quote)):
        assert isinstance(span, PageSpan)
        assert span.char_start is not None
        assert span.char_end is not None
        rects[span.page] = line_rects(pages[span.page], span.char_start, span.char_end)
    return rects


def covered(rects: list[Rect], words: list[TrueWord]) -> tuple[float, float]:
    """Return the share of the words' area that the rectangles cover, and the rectangles' area per area of the words."""
    true = sum((word.x1 - word.x0) * (word.y1 - word.y0) for word in words)
    hit = 0.0
    for word in words:
        for rect in rects:
            across = min(word.x1, rect.x + rect.w) - max(word.x0, rect.x)
            down = min(word.y1, rect.y + rect.h) - max(word.y0, rect.y)
            hit += max(across, 0.0) * max(down, 0.0)
    return hit / true, sum(rect.w * rect.h for rect in rects) / true


def check_places(document: ParsedDocument) -> None:
    """Every segment says the same as its place on the page; every word has a box and is part of the text."""
    pages = {page.page: page for page in document.pages}
    for block in document.blocks:
        _check_block(block, {number: page.text for number, page in pages.items()})
    for page in document.pages:
        for word in page.words:
            text = page.text[word.start : word.end]
            assert text == text.strip() != ""
            assert 0 <= word.x0 < word.x1 <= 100_000
            assert 0 <= word.y0 < word.y1 <= 100_000
    last = 0
    for unit in document.coverage:
        assert unit.start == last + 1
        last = unit.end


def _check_block(block: ParsedBlock, texts: dict[int, str]) -> None:
    for segment in block.segments:
        assert isinstance(segment.span, PageSpan)
        said = texts[segment.span.page][segment.span.char_start : segment.span.char_end]
        assert said == block.text[segment.start : segment.end]
