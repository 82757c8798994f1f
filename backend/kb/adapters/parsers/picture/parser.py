"""PNG, JPEG, WebP, GIF, TIFF, BMP, HEIC, AVIF, ICO and SVG as text with the places it stands at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kb.adapters.parsers.picture.described import described
from kb.adapters.parsers.picture.opening import (
    Image,
    frame,
    frame_count,
    is_animated,
    is_flat,
    opened,
)
from kb.adapters.parsers.picture.vector import is_vector, read_vector
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.ocr_blocks import page_from_ocr
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.metadata import ProvenanceKind
from kb.domain.pages import PageText, line_rects
from kb.domain.spans import PageSpan, RegionSpan, Segment
from kb.ingest.reading_ports import PictureTextReader, Raster, SourceFile, Tell

VERSION = "picture-v1"
WAITS = "ocr_model"

_LONGEST_SIDE = 4096  # more pixels let nothing more be read: lines are found on a picture of 2,000
_THUMB = 512
_CHANGED = 40  # of 255


class PillowPictureParser:
    """Reads pictures with Pillow; `ocr` reads the text on them, None when no model is there."""

    media_types = frozenset({MediaType.IMAGE})

    def __init__(self, ocr: PictureTextReader | None) -> None:
        self._ocr = ocr

    @property
    def version(self) -> str:
        """The rules of this parser and the engines it uses."""
        return f"{VERSION}+{self._ocr.version if self._ocr else 'no-ocr'}"

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return a paragraph for each block of text on each frame.

        A single picture has regions in pixels as displayed; of several frames each is a page.

        Raises:
            Unreadable: `damaged`, `too_many_pixels`, `too_many_pages`, `too_big`, `too_complex`, `expands_too_much`.
        """
        if is_vector(source.data):
            tell(0, 1, "image")
            return read_vector(source.data, limits)
        with opened(source.data, limits) as image:
            front = described(image)
            total = frame_count(image)
            reading = _Reading(self._ocr, limits, total, is_animated=is_animated(image))
            for number in range(total):
                tell(number, total, "image")
                reading.add(number, *_whole_or_rest(image, number, source.data, limits))
            tell(total, total, "image")
        return replace(reading.document(), front_matter=front)


@dataclass(slots=True)
class _Reading:
    """A file's frames, one after the other."""

    ocr: PictureTextReader | None
    limits: ReadingLimits
    total: int
    is_animated: bool
    builder: BlockBuilder = field(default_factory=BlockBuilder)
    units: list[CoverageUnit] = field(default_factory=list)
    pages: list[PageText] = field(default_factory=list)
    length: int = 0
    _thumb: Image = None

    def add(self, number: int, picture: Image, is_whole: bool) -> None:  # noqa: FBT001 - as `frame` gives it
        """Read a frame and note what became of it."""
        if picture is None:
            self._note(number, "failed", "damaged")
        elif self.is_animated and self.total > 1 and self._repeats(picture):
            self._note(number, "skipped", "repeated")
        elif is_flat(picture):
            self._note(number, "blank" if is_whole else "failed", None if is_whole else "damaged")
        elif self.ocr is None:
            self._note(number, "waiting", WAITS)
        else:
            self._recognise(self.ocr, number, picture, is_whole=is_whole)

    def document(self) -> ParsedDocument:
        """Return what was read, and of every frame what became of it."""
        damaged = sum(unit.state == "failed" for unit in self.units)
        warnings = (ParseWarning("extract_failed", f"{damaged} of {self.total} pictures damaged"),) if damaged else ()
        waits = any(unit.state == "waiting" for unit in self.units)
        steps = ((ProvenanceKind.OCR_APPLIED, self.ocr.version),) if self.ocr and self.pages else ()
        return ParsedDocument(
            tuple(self.builder.blocks),
            warnings=warnings,
            coverage=_joined(self.units),
            pages=tuple(self.pages),
            waits_for=WAITS if waits else "",
            steps=steps,
        )

    def _recognise(self, ocr: PictureTextReader, number: int, picture: Image, *, is_whole: bool) -> None:
        raster = _raster(picture)
        width, height = picture.size
        page, paragraphs = page_from_ocr(ocr.read(raster), number + 1, width, height, raster.width, raster.height)
        self.length += len(page.text)
        if self.length > self.limits.characters:
            raise Unreadable("it has too much text", hint="split it", reason="too_big")
        if self.is_animated and page.text and any(page.text == other.text for other in self.pages):
            self._note(number, "skipped", "repeated")
            return
        if not page.text:
            self._note(number, "blank" if is_whole else "failed", "no_text" if is_whole else "damaged")
            return
        self.pages.append(page)
        state, reason = ("ocr", None) if is_whole else ("failed", "damaged")
        self._note(number, state, reason, page.confidence)
        for start, end in paragraphs:
            if self.total > 1:
                span = PageSpan(number + 1, start, end)
                self.builder.paragraph(page.text[start:end], span, (Segment(0, end - start, span),))
            else:
                segments = tuple(_lines(page, start, end))
                region = _around([segment.span for segment in segments if isinstance(segment.span, RegionSpan)])
                self.builder.paragraph(page.text[start:end], region, segments)

    def _note(self, number: int, state: str, reason: str | None, confidence: float | None = None) -> None:
        self.units.append(CoverageUnit("image", number + 1, number + 1, state, confidence, reason))  # type: ignore[arg-type]

    def _repeats(self, picture: Image) -> bool:
        """Say whether a frame looks like the last one that did not."""
        import PIL.ImageChops

        thumb = _thumb(picture)
        if self._thumb is not None and self._thumb.size == thumb.size:
            changed = PIL.ImageChops.difference(self._thumb, thumb).point(lambda value: max(value - _CHANGED, 0))
            if changed.getbbox() is None:
                return True
        self._thumb = thumb
        return False


def _whole_or_rest(image: Image, number: int, data: bytes, limits: ReadingLimits) -> tuple[Image | None, bool]:
    try:
        return frame(image, number, data, limits)
    except Unreadable as error:
        if error.reason != "damaged":
            raise
        return None, False


def _raster(picture: Image) -> Raster:
    width, height = picture.size
    shrink = _LONGEST_SIDE / max(width, height)
    if shrink < 1:
        import PIL.Image

        width, height = max(round(width * shrink), 1), max(round(height * shrink), 1)
        picture = picture.resize((width, height), PIL.Image.Resampling.LANCZOS, reducing_gap=2.0)
    return Raster(width, height, picture.tobytes())


def _thumb(picture: Image) -> Image:
    copy = picture.convert("L")
    copy.thumbnail((_THUMB, _THUMB))
    return copy


def _lines(page: PageText, start: int, end: int) -> Iterator[Segment]:
    """Yield a segment for each printed line of the page's characters `start` to `end`."""
    lines: dict[int, tuple[int, int]] = {}
    for word in page.words:
        if start <= word.start < end:
            first, _ = lines.get(word.line, (word.start, 0))
            lines[word.line] = (first, word.end)
    for first, last in lines.values():
        rect = line_rects(page, first, last)[0]
        x, y = int(rect.x * page.width), int(rect.y * page.height)
        width, height = round((rect.x + rect.w) * page.width) - x, round((rect.y + rect.h) * page.height) - y
        yield Segment(first - start, last - start, RegionSpan(x, y, max(width, 1), max(height, 1)))


def _around(regions: Sequence[RegionSpan]) -> RegionSpan:
    x, y = min(region.x for region in regions), min(region.y for region in regions)
    right, bottom = max(region.x + region.w for region in regions), max(region.y + region.h for region in regions)
    return RegionSpan(x, y, right - x, bottom - y)


def _joined(units: Sequence[CoverageUnit]) -> tuple[CoverageUnit, ...]:
    """Join neighbours that fared alike."""
    joined: list[CoverageUnit] = []
    for unit in units:
        last = joined[-1] if joined else None
        if last and (last.state, last.reason, last.confidence) == (unit.state, unit.reason, unit.confidence):
            joined[-1] = replace(last, end=unit.end)
        else:
            joined.append(unit)
    return tuple(joined)
