"""Text with places: from characters to spans, spans merged, spans as JSON and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from kb.domain.cells import union
from kb.domain.errors import ErrorCode, InvalidInput
from kb.domain.ids import Json
from kb.domain.spans import (
    ByteSpan,
    CaptionSpan,
    LineSpan,
    PageSpan,
    PartSpan,
    RegionSpan,
    Segment,
    SourceSpan,
    TimeSpan,
)

_KINDS: Mapping[str, type[SourceSpan]] = {
    "line": LineSpan,
    "byte": ByteSpan,
    "page": PageSpan,
    "region": RegionSpan,
    "time": TimeSpan,
    "part": PartSpan,
    "caption": CaptionSpan,
}
_NAMES = {cls: name for name, cls in _KINDS.items()}


def spans_between(segments: Sequence[Segment], start: int, end: int) -> tuple[SourceSpan, ...]:
    """Return the merged places of the characters `start` to `end` of a text with `segments`.

    A segment that stands for as many characters of a page as it has itself is narrowed to those asked for.
    """
    return merge_spans(narrowed(s, start, end) for s in segments if s.start < end and start < s.end)


def merge_spans(spans: Iterable[SourceSpan]) -> tuple[SourceSpan, ...]:
    """Join neighbours that touch (lines, bytes, characters of a page, time), keeping order."""
    merged: list[SourceSpan] = []
    for span in spans:
        if merged and type(span) is LineSpan:
            last = merged[-1]
            # Most spans lie within the last one or touch it; a chunk has a segment for each of its lines.
            if type(last) is LineSpan and last.start <= span.start <= last.end + 1:
                if span.end > last.end:
                    merged[-1] = LineSpan(last.start, span.end)
                continue
        joined = _join(merged[-1], span) if merged else None
        if joined is None:
            merged.append(span)
        else:
            merged[-1] = joined
    return tuple(merged)


def shift(segments: Iterable[Segment], offset: int) -> tuple[Segment, ...]:
    """Return `segments` for a text that now starts `offset` characters later."""
    return tuple(Segment(s.start + offset, s.end + offset, s.span) for s in segments)


def cut(segments: Iterable[Segment], start: int, end: int) -> tuple[Segment, ...]:
    """Return the segments of the characters `start` to `end`, counted from `start`."""
    return tuple(
        Segment(max(s.start, start) - start, min(s.end, end) - start, narrowed(s, start, end))
        for s in segments
        if s.start < end and start < s.end
    )


def span_to_json(span: SourceSpan) -> dict[str, Json]:
    """Return the JSON object of a span, `kind` first; absent values are left out."""
    fields = {key: value for key, value in asdict(span).items() if value not in (None, "")}
    return {"kind": _NAMES[type(span)], **fields}


def span_from_json(value: Mapping[str, Json]) -> SourceSpan:
    """Read a span back.

    Raises:
        InvalidInput: the kind is unknown or a field is missing.
    """
    fields = dict(value)
    kind = fields.pop("kind", None)
    try:
        return _KINDS[str(kind)](**fields)  # type: ignore[arg-type]
    except (KeyError, TypeError) as error:
        message = f"not a source span: {kind!r}"
        raise InvalidInput(message, code=ErrorCode.INVALID_SPAN) from error


def narrowed(segment: Segment, start: int, end: int) -> SourceSpan:
    """Return the place of those characters of a segment that lie between `start` and `end` of its text."""
    span = segment.span
    if type(span) is not PageSpan or span.char_start is None or span.char_end is None:
        return span
    if span.char_end - span.char_start != segment.end - segment.start:
        return span
    before = max(start - segment.start, 0)
    after = max(segment.end - end, 0)
    return PageSpan(span.page, span.char_start + before, span.char_end - after)


def _join(left: SourceSpan, right: SourceSpan) -> SourceSpan | None:
    if left == right:
        return left
    match left, right:
        case LineSpan(), LineSpan() if left.start <= right.start <= left.end + 1:
            return LineSpan(left.start, max(left.end, right.end))
        case ByteSpan(), ByteSpan() if left.start <= right.start <= left.end:
            return ByteSpan(left.start, max(left.end, right.end))
        case TimeSpan(), TimeSpan() if left.start_ms <= right.start_ms <= left.end_ms:
            return TimeSpan(left.start_ms, max(left.end_ms, right.end_ms))
        case _:
            return _join_parts(left, right)


def _join_parts(left: SourceSpan, right: SourceSpan) -> SourceSpan | None:
    match left, right:
        case PageSpan(), PageSpan() if left.page == right.page:
            return _join_pages(left, right)
        case PartSpan(part="sheet"), PartSpan(part="sheet") if left.number == right.number:
            return PartSpan("sheet", left.number, left.name, union(left.cells, right.cells))
        case _:
            return None


def _join_pages(left: PageSpan, right: PageSpan) -> PageSpan | None:
    if left.char_start is None or left.char_end is None:
        return left
    if right.char_start is None or right.char_end is None:
        return right
    return PageSpan(
        left.page,
        min(left.char_start, right.char_start),
        max(left.char_end, right.char_end),
    )
