"""One page after the other: text, recognised text, blank or failed, and why."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from kb.adapters.parsers.pdf import mupdf, mupdf_drawing
from kb.adapters.parsers.pdf.extras import additions
from kb.adapters.parsers.pdf.lines import WORD_FIELDS, Line, View, Words, piece, set_upright
from kb.adapters.parsers.pdf.order import arrange
from kb.adapters.parsers.pdf.pdfium import PdfiumReader
from kb.adapters.parsers.pdf.tables import aligned_tables, ruled_tables, rules_of
from kb.adapters.parsers.pdf.zoom import is_uniform, small_zoom, zoom_of
from kb.adapters.parsers.shared.ocr_blocks import page_from_ocr
from kb.domain.limits import ReadingLimits
from kb.domain.pages import SCALE, PageText
from kb.ingest.reading_ports import OcrLine, PictureTextReader, Raster

State: TypeAlias = Literal["text", "ocr", "blank", "failed", "waiting"]

_FEW = 30
_SOME_LOST, _SHARE_LOST = 20, 0.1
_BETTER = 1.1
_PICTURE, _BARE_PICTURE = 0.3, 0.03
_LARGE_PICTURE = 250_000
_SPARSE = 0.08
_MANY_STROKES = 120
_FEWEST_FOR_TABLE = 4
_SAME_PLACE = 0.5
_EDGE = (0.0, 0.0, 1.0, 1.0)


@dataclass(slots=True)
class PageContent:
    """What one page gave.

    Attributes:
        lines: in reading order; additions last.
        state: as in the coverage ledger.
        reason: a stable word, None when all is well.
        confidence: 0-1, of recognised text.
    """

    number: int
    view: View
    lines: list[Line] = field(default_factory=list)
    state: State = "text"
    reason: str | None = None
    confidence: float | None = None


class PageReader:
    """Reads the pages of one PDF.

    For each page: PyMuPDF's text; where that is little for what the page names or draws, pdfium's; where both know few
    letters and something is drawn, recognition of its picture. A picture that fills much of a page and bears no text
    is recognised too, and what stands there already in letters (an invisible layer of an earlier recognition) is
    not doubled.
    """

    def __init__(
        self, document: mupdf.Document, second: PdfiumReader, ocr: PictureTextReader | None, limits: ReadingLimits
    ) -> None:
        self._document = document
        self._second = second
        self._ocr = ocr
        self._limits = limits
        self._targets: set[str] = set()

    def read(self, number: int) -> PageContent:
        """Return what the page (from 1) gives; a page that cannot be read costs only itself."""
        try:
            page = self._document[number - 1]
            view = mupdf.view_of(page)
            words, text_page = mupdf.words_of(page, view)
        except MemoryError:
            return PageContent(number, View(0, 0, 0), state="failed", reason="too_complex")
        except Exception:  # noqa: BLE001 - MuPDF raises plain exceptions of its own
            return self._by_second(number)
        try:
            turned = mupdf.add_looks(words.lines, text_page, view)
            del text_page
            return self._content(number, page, view, words, turned)
        except Exception:  # noqa: BLE001 - one bad page costs that page only, and its words are known already
            return _unseen(PageContent(number, view, arrange(words.lines)), words, "damaged")

    def _by_second(self, number: int) -> PageContent:
        words = self._second.words(number - 1)
        if not words.good:
            return PageContent(number, View(0, 0, 0), state="failed", reason="damaged")
        content = PageContent(number, self._second.view(number - 1), aligned_tables(arrange(words.lines)))
        return _unseen(content, words, "damaged") if _is_thin(words) else content

    def _content(self, number: int, page: mupdf.Page, view: View, words: Words, turned: int) -> PageContent:
        if _is_thin(words) and mupdf_drawing.has_fonts(page):
            other = self._second.words(number - 1)
            if other.good > _BETTER * words.good:
                words, turned = other, 0
        boxes: list[tuple[float, float, float, float]] = []
        if (len(words.lines) >= _FEWEST_FOR_TABLE or _is_thin(words)) and mupdf_drawing.may_draw(page):
            boxes = list(mupdf_drawing.drawn_boxes(page, view))
        content = PageContent(number, view)
        recognised = self._by_recognition(content, page, words, len(boxes))
        content.lines = _ordered(words.lines, boxes, view, turned) + recognised
        content.lines += additions(page, view, " ".join(line.text for line in _leaves(content.lines)), self._targets)
        if words.beyond and (beyond := piece(" ".join(words.beyond), _EDGE, view, 0.0)):
            content.lines.append(beyond)
        if content.state == "blank" and content.lines:
            content.state = "text"
        if content.state in {"blank", "text"} and content.reason is None and mupdf.is_torn(self._document, page):
            return _unseen(content, words, "damaged")
        return content

    def _by_recognition(self, content: PageContent, page: mupdf.Page, words: Words, strokes: int) -> list[Line]:
        """Set the state of a page; return the lines recognised on its picture, where that is needed."""
        asked = self._needs_recognition(page, content.view, words, strokes)
        if asked == "blank":
            content.state = "blank"
        elif asked == "too_many_pixels":
            _unseen(content, words, asked)
        elif asked:
            return self._recognise(content, page, words, by_second=asked == "undrawn")
        return []

    def _needs_recognition(self, page: mupdf.Page, view: View, words: Words, strokes: int) -> str:
        """Return why the picture of a page is to be read, `blank`, `too_many_pixels`, or nothing."""
        area = max(view.width * view.height, 1.0)
        thin = _is_thin(words)
        largest = mupdf_drawing.largest_picture(page) if thin or words.covered < _SPARSE * area else 0
        if not thin and largest < _LARGE_PICTURE:
            return ""
        if largest > self._limits.pixels:
            return "too_many_pixels"
        if not words.good and not words.bad:
            return self._look_at(page, view, has_picture=largest > 0)
        if words.bad > words.good:
            return "unknown_letters"
        if thin and strokes > _MANY_STROKES:
            return "drawn_letters"
        return "picture" if largest and _bare_picture(page, view, words) else ""

    def _look_at(self, page: mupdf.Page, view: View, *, has_picture: bool) -> str:
        """Return `no_text`, `undrawn` or `blank` of a page without letters."""
        if not mupdf_drawing.is_blank(page, view):
            return "no_text"
        if not has_picture:
            return "blank"
        # A picture MuPDF cannot decode is drawn as nothing.
        samples = self._second.drawn(page.number, small_zoom(view), grey=True)[2]
        return "undrawn" if samples and not is_uniform(samples) else "blank"

    def _picture(self, page: mupdf.Page, view: View, *, by_second: bool) -> Raster:
        dpi = max((dpi for _, dpi in mupdf_drawing.pictures(page, view)), default=0.0)
        if not by_second:
            return mupdf_drawing.rendered(page, view, dpi, self._limits.pixels)
        zoom = zoom_of(view, dpi, self._limits.pixels)
        return Raster(*self._second.drawn(page.number, zoom, grey=False), zoom * 72.0)

    def _recognise(self, content: PageContent, page: mupdf.Page, words: Words, *, by_second: bool) -> list[Line]:
        if self._ocr is None:
            content.state, content.reason = "waiting", "ocr_model"
            return []
        view = content.view
        raster = self._picture(page, view, by_second=by_second)
        try:
            recognised = self._ocr.read(raster)
        except Exception:  # noqa: BLE001 - an engine that stumbles over one picture costs that page only
            _unseen(content, words, "ocr_failed")
            return []
        fresh = [
            line for line in recognised.lines if not _printed_already(line, words.lines, raster.width, raster.height)
        ]
        text, ranges = page_from_ocr(
            replace(recognised, lines=tuple(fresh)),
            content.number,
            view.width,
            view.height,
            raster.width,
            raster.height,
        )
        if len(text.text) >= words.good:
            content.state = "ocr"
            content.confidence = text.confidence
            content.reason = None if text.text or words.good else "no_text"
        return lines_of(text, ranges)


def _ordered(
    lines: list[Line], boxes: Sequence[tuple[float, float, float, float]], view: View, turned: int
) -> list[Line]:
    """Return lines in reading order, tables put together."""
    if turned:
        set_upright(lines, turned, view)
    elif len(lines) >= _FEWEST_FOR_TABLE and (rules := rules_of(boxes)):
        lines = ruled_tables(lines, rules, view)
    return aligned_tables(arrange(lines))


def lines_of(page: PageText, ranges: Sequence[tuple[int, int]]) -> list[Line]:
    """Return the lines of a recognised page; those of a paragraph are of one group and keep what stood between them."""
    scale_x, scale_y = page.width / SCALE, page.height / SCALE
    lines: list[Line] = []
    numbers: list[int] = []
    ends: list[int] = []
    group = 0
    for word in page.words:
        while group + 1 < len(ranges) and word.start >= ranges[group][1]:
            group += 1
        x0, y0, x1, y1 = word.x0 * scale_x, word.y0 * scale_y, word.x1 * scale_x, word.y1 * scale_y
        if lines and numbers[-1] == word.line:
            line = lines[-1]
            start = len(line.text) + word.start - ends[-1]
            line.text += page.text[ends[-1] : word.end]
            line.x0, line.y0, line.x1, line.y1 = min(line.x0, x0), min(line.y0, y0), max(line.x1, x1), max(line.y1, y1)
        else:
            start = 0
            glue = page.text[ends[-1] : word.start] if lines and lines[-1].group == group else None
            line = Line(page.text[word.start : word.end], x0, y0, x1, y1, array("i"), group=group, glue=glue)
            lines.append(line)
            numbers.append(word.line)
            ends.append(0)
        line.words.extend((start, start + word.end - word.start, word.x0, word.y0, word.x1, word.y1))
        line.size = (line.y1 - line.y0) * 0.75
        line.left, line.right = line.x0, line.x1
        ends[-1] = word.end
    return lines


def _leaves(lines: Sequence[Line]) -> list[Line]:
    found: list[Line] = []
    for line in lines:
        found.extend([inner for row in line.cells for cell in row for inner in cell] if line.cells else [line])
    return found


def _is_thin(words: Words) -> bool:
    return words.good < _FEW or (words.bad >= _SOME_LOST and words.bad > _SHARE_LOST * (words.good + words.bad))


def _unseen(content: PageContent, words: Words, reason: str) -> PageContent:
    """Say why the picture of a page was not read: a few letters, such as a stamped number, are not the page."""
    content.state, content.reason = ("failed" if _is_thin(words) else "text"), reason
    return content


def _bare_picture(page: mupdf.Page, view: View, words: Words) -> bool:
    """Return whether a picture fills much of the page and bears hardly any text."""
    area = max(view.width * view.height, 1.0)
    boxes = [box for box, _ in mupdf_drawing.pictures(page, view)]
    shown = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in boxes)
    if shown < _PICTURE * area:
        return False
    inside = sum(
        (line.x1 - line.x0) * (line.y1 - line.y0)
        for line in words.lines
        if any(x0 <= (line.x0 + line.x1) / 2 <= x1 and y0 <= line.middle <= y1 for x0, y0, x1, y1 in boxes)
    )
    return inside < _BARE_PICTURE * shown


def _printed_already(line: OcrLine, printed: Sequence[Line], width: int, height: int) -> bool:
    """Return whether a recognised line stands mostly where letters are known."""
    x0, y0 = min(word.x0 for word in line.words) * SCALE / width, min(word.y0 for word in line.words) * SCALE / height
    x1, y1 = max(word.x1 for word in line.words) * SCALE / width, max(word.y1 for word in line.words) * SCALE / height
    covered = 0.0
    for other in printed:
        numbers = other.words
        for at in range(0, len(numbers), WORD_FIELDS):
            _, _, a0, b0, a1, b1 = numbers[at : at + WORD_FIELDS]
            across, down = min(x1, a1) - max(x0, a0), min(y1, b1) - max(y0, b0)
            if across > 0 and down > 0:
                covered += across * down
    return covered > _SAME_PLACE * max((x1 - x0) * (y1 - y0), 1.0)
