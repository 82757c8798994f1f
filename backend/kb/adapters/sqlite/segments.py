"""Places of text as compact JSON, and back when first looked at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, overload

from kb.adapters.sqlite.json_text import compact
from kb.domain.line_segments import LineSegments
from kb.domain.placed import merge_spans, span_from_json, span_to_json
from kb.domain.spans import LineSpan, Segment, SourceSpan

_LINE_FIELDS = 4
_LINES = '{{"kind":"line","start":{},"end":{}}}'


class LazySegments(Sequence[Segment]):
    """The segments of a stored chunk, read from their JSON when first looked at.

    A search reads some fifty chunks and looks at the places of six.
    """

    __slots__ = ("_json", "_values")

    def __init__(self, text: str) -> None:
        self._json = text
        self._values: tuple[Segment, ...] | None = None

    def _read(self) -> tuple[Segment, ...]:
        if self._values is None:
            self._values = _segments(self._json)
        return self._values

    @overload
    def __getitem__(self, index: int) -> Segment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Segment, ...]: ...
    def __getitem__(self, index: int | slice) -> Segment | tuple[Segment, ...]:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazySegments | tuple):
            return self._read() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._read())

    def __repr__(self) -> str:
        return repr(self._read())


def segments_json(segments: Sequence[Segment]) -> str:
    """Return segments as JSON: four numbers a line segment, else [start, end, span] each."""
    if isinstance(segments, LineSegments):
        return f"[{','.join(map(str, segments.numbers))}]"
    numbers: list[str] = []
    for start, end, span in ((s.start, s.end, s.span) for s in segments):
        if type(span) is not LineSpan:
            return compact([[s.start, s.end, span_to_json(s.span)] for s in segments])
        numbers.append(f"{start},{end},{span.start},{span.end}")
    return f"[{','.join(numbers)}]"


def _segments(text: str) -> tuple[Segment, ...]:
    values: list[Any] = json.loads(text)
    if values and isinstance(values[0], list):
        return tuple(Segment(start, end, span_from_json(span)) for start, end, span in values)
    groups = zip(*[iter(values)] * _LINE_FIELDS, strict=True)
    return tuple(Segment(start, end, LineSpan(first, last)) for start, end, first, last in groups)


@lru_cache(maxsize=256)
def strings_json(texts: tuple[str, ...]) -> str:
    """Return a JSON list; neighbouring blocks and chunks have the same heading path."""
    return compact(texts)


def ids_json(ids: Sequence[str]) -> str:
    """Return a JSON list of ids, which hold nothing to escape."""
    return '["' + '","'.join(ids) + '"]' if ids else "[]"


def spans_json(segments: Iterable[Segment]) -> str:
    """Return the merged places of segments, as the frozen design keeps them."""
    if isinstance(segments, LineSegments):
        return f"[{','.join(_LINES.format(*lines) for lines in segments.lines())}]"
    return f"[{','.join(span_json(span) for span in merge_spans(segment.span for segment in segments))}]"


def span_json(span: SourceSpan) -> str:
    """Return a span as JSON; lines, by far the most, without the general way."""
    if type(span) is LineSpan:
        return _LINES.format(span.start, span.end)
    return compact(span_to_json(span))
