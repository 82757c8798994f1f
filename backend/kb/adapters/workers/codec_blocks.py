"""Blocks, payloads, segments and spans as JSON lists and back; nothing of a wrong type or shape passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kb.adapters.workers.codec_values import Damaged, items, one_of, text, text_or_none, whole
from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Payload, Prose, Table
from kb.domain.documents import ParsedBlock
from kb.domain.inlines import Inline, Link, Styled
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

T = TypeVar("T")

_PARTS = frozenset({"sheet", "slide", "message", "section", "cell"})
_LINKS = frozenset({"link", "wiki", "footnote"})
_STYLES = frozenset({"code", "strong", "emph"})
_PLAIN, _PLAIN_FIELDS = Prose(), ["p", [], False]


class BlockWriter:
    """Writes blocks; heading paths, which many blocks share, are numbered."""

    def __init__(self) -> None:
        self.paths: dict[tuple[str, ...], int] = {}

    def block(self, block: ParsedBlock) -> list[Any]:
        """Return kind, text, place, heading path, payload, segments."""
        path = self.paths.setdefault(block.heading_path, len(self.paths))
        segments = [[s.start, s.end, *_span(s.span)] for s in block.segments]
        return [block.kind.value, block.text, _span(block.span), path, _payload(block.payload), segments]


class BlockReader:
    """Reads what `BlockWriter` wrote.

    Raises:
        Damaged: it wrote something else.
        InvalidInput: an impossible place.
    """

    def __init__(self, paths: Any) -> None:  # noqa: ANN401 - anything may stand in JSON
        self._paths = [tuple(map(text, items(path))) for path in items(paths)]

    def block(self, value: Any) -> ParsedBlock:  # noqa: ANN401
        """Return a block."""
        kind, words, span, path, payload, segments = items(value, 6)
        words = text(words)
        read: list[Segment] = []
        end = 0
        for segment in items(segments):
            first, last, *place = items(segment)
            if not end <= whole(first) <= whole(last) <= len(words):
                raise Damaged("a segment lies outside its text")
            read.append(Segment(first, last, _span_of(place)))
            end = last
        number_of_path = whole(path)
        if not 0 <= number_of_path < len(self._paths):
            raise Damaged("an unknown heading path")
        try:
            known = BlockKind(kind)
        except ValueError as error:
            raise Damaged("an unknown kind of block") from error
        return ParsedBlock(
            known, words, _span_of(items(span)), self._paths[number_of_path], _payload_of(items(payload)), tuple(read)
        )


def _span(span: SourceSpan) -> list[Any]:
    if isinstance(span, PageSpan):
        return ["p", span.page, span.char_start, span.char_end]
    if isinstance(span, PartSpan):
        return ["n", span.part, span.number, span.name, span.cells]
    if isinstance(span, TimeSpan):
        return ["t", span.start_ms, span.end_ms]
    if isinstance(span, RegionSpan):
        return ["r", span.x, span.y, span.w, span.h]
    if isinstance(span, CaptionSpan):
        return ["c", span.model]
    return ["l" if isinstance(span, LineSpan) else "b", span.start, span.end]


def _page(page: Any, start: Any, end: Any) -> PageSpan:  # noqa: ANN401
    if start is None and end is None:
        return PageSpan(whole(page))
    return PageSpan(whole(page), whole(start), whole(end))


def _part(part: Any, place: Any, name: Any, cells: Any) -> PartSpan:  # noqa: ANN401
    return PartSpan(one_of(part, _PARTS), whole(place), text(name), text(cells))


def _region(x: Any, y: Any, w: Any, h: Any) -> RegionSpan:  # noqa: ANN401
    return RegionSpan(whole(x), whole(y), whole(w), whole(h))


_SPANS: Mapping[str, Callable[..., SourceSpan]] = {
    "p": _page,
    "n": _part,
    "r": _region,
    "t": lambda start, end: TimeSpan(whole(start), whole(end)),
    "l": lambda start, end: LineSpan(whole(start), whole(end)),
    "b": lambda start, end: ByteSpan(whole(start), whole(end)),
    "c": lambda model: CaptionSpan(text(model)),
}


def _span_of(fields: Sequence[Any]) -> SourceSpan:
    # Most places by far; spares three calls each.
    if len(fields) == 4 and fields[0] == "p" and type(fields[1]) is type(fields[2]) is type(fields[3]) is int:  # noqa: PLR2004
        return PageSpan(fields[1], fields[2], fields[3])
    return _made(_SPANS, fields)


def _payload(payload: Payload) -> list[Any]:
    match payload:
        case Heading():
            return ["h", payload.level]
        case Prose():
            return ["p", [_inline(inline) for inline in payload.inlines], payload.ordered]
        case Code():
            return ["c", payload.language]
        case Table():
            return ["t", payload.headers, payload.rows]
        case MediaRef():
            return ["m", payload.src, payload.alt]


def _inline(inline: Inline) -> list[Any]:
    if isinstance(inline, Link):
        return ["l", inline.text, inline.href, inline.kind]
    return ["s", inline.text, inline.style]


def _prose(inlines: Any, ordered: Any) -> Prose:  # noqa: ANN401
    if type(ordered) is not bool:
        raise Damaged("no truth value where one belongs")
    return Prose(tuple(_made(_INLINES, items(inline)) for inline in items(inlines)), ordered)


def _table(headers: Any, rows: Any) -> Table:  # noqa: ANN401
    return Table(tuple(map(text, items(headers))), tuple(tuple(map(text, items(row))) for row in items(rows)))


_INLINES: Mapping[str, Callable[..., Inline]] = {
    "l": lambda words, href, kind: Link(text(words), text(href), one_of(kind, _LINKS)),
    "s": lambda words, style: Styled(text(words), one_of(style, _STYLES)),
}

_PAYLOADS: Mapping[str, Callable[..., Payload]] = {
    "h": lambda level: Heading(whole(level)),
    "p": _prose,
    "c": lambda language: Code(text_or_none(language)),
    "t": _table,
    "m": lambda src, alt: MediaRef(text(src), text(alt)),
}


def _payload_of(fields: Sequence[Any]) -> Payload:
    return _PLAIN if fields == _PLAIN_FIELDS and fields[2] is False else _made(_PAYLOADS, fields)


def _made(makers: Mapping[str, Callable[..., T]], fields: Sequence[Any]) -> T:
    if not fields or (maker := makers.get(text(fields[0]))) is None:
        raise Damaged("an unknown kind")
    try:
        return maker(*fields[1:])
    except TypeError as error:
        raise Damaged("too many or too few fields") from error
