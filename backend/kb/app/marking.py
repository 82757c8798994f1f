"""What to mark where: lines, rectangles, seconds or parts, from the places of a passage or from a citation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from kb.contract.viewer import LineRange, Part, Rect, TimeRange
from kb.domain.cells import union
from kb.domain.chunks import Chunk
from kb.domain.pages import SCALE, PageText, range_rects
from kb.domain.placed import narrowed
from kb.domain.places import CaptionPlace, LinePlace, PagePlace, PartPlace, Place, RegionPlace, SheetPlace, TimePlace
from kb.domain.recipes import DocumentId
from kb.domain.spans import CaptionSpan, LineSpan, PageSpan, PartSpan, RegionSpan, Segment, SourceSpan, TimeSpan

_MOST_PAGES = 50
_TRIES = 200
_Ranges = list[tuple[int, int]]


class Pages(Protocol):
    """Pages and pictures with their words."""

    def page(self, doc_id: DocumentId, page: int) -> PageText | None:
        """Return one page with its words."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What to mark; only what applies to the media is there."""

    lines: LineRange | None = None
    rects: tuple[Rect, ...] | None = None
    time: TimeRange | None = None
    part: Part | None = None


def marks_of(chunk: Chunk, start: int, end: int, pages: Pages) -> Marks:  # noqa: PLR0911 - one for each kind of place
    """Return the marks of the characters `start` to `end` of a chunk; the kind of their first place decides.

    On pages and pictures that is one rectangle a printed line, from the first word to the last.
    """
    inside = [segment for segment in chunk.segments if segment.start < end and start < segment.end]
    spans = [narrowed(segment, start, end) for segment in inside]
    match spans[0] if spans else None:
        case LineSpan():
            lines = [span for span in spans if isinstance(span, LineSpan)]
            return Marks(lines=LineRange(start=min(s.start for s in lines), end=max(s.end for s in lines)))
        case TimeSpan():
            times = [span for span in spans if isinstance(span, TimeSpan)]
            return Marks(time=_time(min(s.start_ms for s in times), max(s.end_ms for s in times)))
        case PageSpan():
            return Marks(rects=tuple(_on_pages(spans, chunk.doc_id, pages)) or None)
        case RegionSpan():
            page = pages.page(chunk.doc_id, 1)
            # Of a drawing no size is kept, and boxes may be lost: the picture as a whole is the nearest that is known.
            return Marks(rects=tuple(_on_picture(chunk, inside, (start, end), page)) if page else (_whole(1),))
        case CaptionSpan():
            return Marks(rects=(_whole(1),))
        case PartSpan() as first:
            return Marks(part=_part(first, spans))
        case _:
            return Marks()


def marks_at(  # noqa: PLR0911 - one for each kind of place
    place: Place, doc_id: DocumentId | None, pages: Pages, parts: Iterable[PartSpan] = ()
) -> Marks:
    """Return the marks of a citation as it stands, without a passage: a page is marked as a whole.

    `parts` of the document give the numbers of its sheets.
    """
    match place:
        case LinePlace(start, end):
            return Marks(lines=LineRange(start=start, end=end))
        case PagePlace(start, end):
            return Marks(rects=tuple(_whole(page) for page in range(start, min(end, start + _MOST_PAGES - 1) + 1)))
        case RegionPlace(x, y, w, h, page) if page is not None:
            return Marks(rects=(Rect(page=page, x=x / 100, y=y / 100, w=w / 100, h=h / 100),))
        case RegionPlace(x, y, w, h):
            picture = pages.page(doc_id, 1) if doc_id else None
            return Marks(rects=(_region(picture, x, y, w, h) if picture else _whole(1),))
        case CaptionPlace():
            return Marks(rects=(_whole(1),))
        case TimePlace(start_ms, end_ms):
            return Marks(time=_time(start_ms, end_ms))
        case SheetPlace(name, cells):
            number = next((p.number for p in parts if (p.part, p.name) == ("sheet", name)), None)
            return Marks(part=Part(kind="sheet", number=number, name=name, cells=cells))
        case PartPlace(part, number):
            return Marks(part=Part(kind=part, number=number))


def _on_pages(spans: Iterable[SourceSpan], doc_id: DocumentId, pages: Pages) -> Iterable[Rect]:
    ranges: dict[int, _Ranges | None] = {}
    for span in spans:
        if not isinstance(span, PageSpan):
            continue
        known = ranges.setdefault(span.page, [])
        if span.char_start is None or span.char_end is None:
            ranges[span.page] = None
        elif known is not None:
            _add(known, span.char_start, span.char_end)
    for number, wanted in ranges.items():
        page = pages.page(doc_id, number) if wanted else None
        found = _rects(page, wanted) if page and wanted else []
        # Where the words have no boxes the page as a whole is the nearest that is known.
        yield from found or [_whole(number)]


def _on_picture(chunk: Chunk, segments: Iterable[Segment], wanted: tuple[int, int], page: PageText) -> Iterable[Rect]:
    """Narrow the lines of a picture to words: a line's text stands in that of the picture, inside its region."""
    ranges: _Ranges = []
    whole: list[Rect] = []
    for segment in segments:
        span = segment.span
        if not isinstance(span, RegionSpan):
            continue
        at = _where(page, chunk.text[segment.start : segment.end], span)
        if at is None:
            whole.append(_region(page, span.x, span.y, span.w, span.h))
        else:
            first = at + max(wanted[0] - segment.start, 0)
            _add(ranges, first, at + min(wanted[1], segment.end) - segment.start)
    return [*_rects(page, ranges), *whole]


def _where(page: PageText, text: str, region: RegionSpan) -> int | None:
    """Return where in a picture's text the line stands that has this region; the same words may be on it twice."""
    across, down = SCALE / page.width, SCALE / page.height
    left, right = region.x * across, (region.x + region.w) * across
    top, bottom = region.y * down, (region.y + region.h) * down
    at = -1
    for _ in range(_TRIES):
        at = page.text.find(text, at + 1)
        if at < 0 or not text:
            return None
        words = [word for word in page.words if word.start < at + len(text) and at < word.end]
        if words and all(
            left <= (word.x0 + word.x1) / 2 <= right and top <= (word.y0 + word.y1) / 2 <= bottom for word in words
        ):
            return at
    return None


def _part(first: PartSpan, spans: Iterable[SourceSpan]) -> Part:
    cells = first.cells
    for span in spans:
        if isinstance(span, PartSpan) and (span.part, span.number) == (first.part, first.number):
            cells = cells if span.cells == cells else union(cells, span.cells)
    return Part(kind=first.part, number=first.number, name=first.name, cells=cells)


def _add(ranges: _Ranges, start: int, end: int) -> None:
    """Add a range, joined to the last one where it follows with at most a space between."""
    if ranges and ranges[-1][0] <= start <= ranges[-1][1] + 1:
        ranges[-1] = (ranges[-1][0], max(ranges[-1][1], end))
    else:
        ranges.append((start, end))


def _rects(page: PageText, ranges: _Ranges) -> list[Rect]:
    return [Rect(page=page.page, x=x, y=y, w=w, h=h) for x, y, w, h in range_rects(page, ranges)]


def _region(page: PageText, x: float, y: float, w: float, h: float) -> Rect:
    """Return a rectangle in pixels as fractions of the picture, cut at its edge."""
    left, top = min(x / page.width, 1.0), min(y / page.height, 1.0)
    return Rect(page=page.page, x=left, y=top, w=min(w / page.width, 1 - left), h=min(h / page.height, 1 - top))


def _whole(page: int) -> Rect:
    return Rect(page=page, x=0, y=0, w=1, h=1)


def _time(start_ms: int, end_ms: int) -> TimeRange:
    return TimeRange(start_s=start_ms / 1000, end_s=end_ms / 1000)
