"""Citations: a place in an item as a URI with a fragment, after W3C Media Fragments and RFC 3986."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import assert_never
from urllib.parse import quote, unquote

from kb.domain.cells import union
from kb.domain.errors import ErrorCode, InvalidInput
from kb.domain.paths import WorkspacePath, workspace_path
from kb.domain.places import (
    CaptionPlace,
    LinePlace,
    PagePlace,
    PartPlace,
    Place,
    RegionPlace,
    SheetPlace,
    TimePlace,
)
from kb.domain.spans import CaptionSpan, LineSpan, PageSpan, PartSpan, RegionSpan, SourceSpan, TimeSpan

_LINES = re.compile(r"L(\d{1,9})(?:-L(\d{1,9}))?\Z")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?\Z")
_SHEET = re.compile(r"([^!]+)(?:!([A-Za-z0-9:$]+))?\Z")
_PARTS = ("slide", "message", "section", "cell")


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in an item. `section` and `speaker` inform people and are not part of the place."""

    path: WorkspacePath
    place: Place
    section: str | None = field(default=None, compare=False)
    speaker: str | None = field(default=None, compare=False)

    def to_uri(self) -> str:
        """Return path and fragment, percent-encoded per RFC 3986."""
        return f"{quote(self.path, safe='/!')}#{_fragment(self.place)}"

    def label(self) -> str:
        """Return the URI with its letters readable, for people; not for parsing."""
        return f"{self.path}#{unquote(_fragment(self.place))}"

    @classmethod
    def parse(cls, text: str) -> Citation:
        """Read a citation URI.

        Raises:
            InvalidInput: the path or the fragment is not one of ours.
        """
        path, mark, fragment = text.partition("#")
        if not mark:
            raise _invalid(text)
        place = _place(fragment)
        if place is None:
            raise _invalid(text)
        return cls(workspace_path(unquote(path)), place)


def cite(path: WorkspacePath, spans: Sequence[SourceSpan], section: str | None) -> Citation:
    """Return the one citation that covers `spans`, at least one; those of another kind than the first are left out.

    Raises:
        InvalidInput: there is no span, or none of a kind people can be shown.
    """
    first = spans[0] if spans else None
    match first:
        case LineSpan():
            lines = [s for s in spans if isinstance(s, LineSpan)]
            place: Place = LinePlace(min(s.start for s in lines), max(s.end for s in lines))
        case PageSpan():
            pages = [s.page for s in spans if isinstance(s, PageSpan)]
            place = PagePlace(min(pages), max(pages))
        case RegionSpan():
            place = _around([s for s in spans if isinstance(s, RegionSpan)])
        case TimeSpan():
            times = [s for s in spans if isinstance(s, TimeSpan)]
            place = TimePlace(min(s.start_ms for s in times), max(s.end_ms for s in times))
        case CaptionSpan(model):
            place = CaptionPlace(model)
        case PartSpan(part="sheet"):
            alike = [s.cells for s in spans if isinstance(s, PartSpan) and s.number == first.number]
            place = SheetPlace(first.name, reduce(union, alike))
        case PartSpan(part=("slide" | "message" | "section" | "cell") as part):
            place = PartPlace(part, first.number)
        case _:
            message = f"nothing to cite in {path}"
            raise InvalidInput(message, code=ErrorCode.INVALID_CITATION)
    return Citation(path, place, section=section)


def _around(regions: Sequence[RegionSpan]) -> RegionPlace:
    """Return the smallest rectangle over all of them."""
    x, y = min(r.x for r in regions), min(r.y for r in regions)
    return RegionPlace(x, y, max(r.x + r.w for r in regions) - x, max(r.y + r.h for r in regions) - y)


def _fragment(place: Place) -> str:
    match place:
        case LinePlace(start, end):
            text = f"L{start}" if start == end else f"L{start}-L{end}"
        case PagePlace(start, end):
            text = f"page={start}" if start == end else f"page={start}-{end}"
        case RegionPlace(x, y, w, h, page):
            numbers = ",".join(_plain(n) for n in (x, y, w, h))
            text = f"xywh={numbers}" if page is None else f"page={page}&xywh=percent:{numbers}"
        case CaptionPlace(model):
            text = f"caption={quote(model, safe='')}"
        case TimePlace(start_ms, end_ms):
            text = f"t={_seconds(start_ms)},{_seconds(end_ms)}"
        case SheetPlace(name, cells):
            text = f"sheet={quote(name, safe='')}" + (f"!{cells}" if cells else "")
        case PartPlace(part, number):
            text = f"{part}={number}"
        case _:
            assert_never(place)
    return text


def _place(fragment: str) -> Place | None:
    try:
        lines = _LINES.match(fragment)
        if lines:
            return LinePlace(int(lines[1]), int(lines[2] or lines[1]))
        pairs = dict(pair.partition("=")[::2] for pair in fragment.split("&"))
        page = pairs.pop("page", None) or pairs.pop("p", None)
        if page is not None:
            return _page_place(page, pairs)
        if len(pairs) != 1:
            return None
        ((key, value),) = pairs.items()
        return _READERS[key](value) if key in _READERS else None
    except (ValueError, InvalidOperation, OverflowError):
        return None


def _page_place(page: str, rest: Mapping[str, str]) -> Place | None:
    pages = _RANGE.match(page)
    if not pages:
        return None
    if not rest:
        return PagePlace(int(pages[1]), int(pages[2] or pages[1]))
    region = rest.get("xywh", "")
    if len(rest) > 1 or pages[2] or not region.startswith("percent:"):
        return None
    x, y, w, h = (float(n) for n in region.removeprefix("percent:").split(","))
    return RegionPlace(x, y, w, h, page=int(pages[1]))


def _region(value: str) -> Place:
    x, y, w, h = (int(n) for n in value.removeprefix("pixel:").split(","))
    return RegionPlace(x, y, w, h)


def _time(value: str) -> Place:
    start, end = (Decimal(n) for n in value.removeprefix("npt:").split(","))
    return TimePlace(int(start * 1000), int(end * 1000))


def _sheet(value: str) -> Place:
    parts = _SHEET.match(value)
    if not parts:
        raise ValueError(value)
    return SheetPlace(unquote(parts[1]), parts[2] or "")


def _part(name: str) -> Callable[[str], Place]:
    return lambda value: PartPlace(name, int(value))  # type: ignore[arg-type]


_READERS: Mapping[str, Callable[[str], Place]] = {
    "xywh": _region,
    "caption": lambda value: CaptionPlace(unquote(value)),
    "t": _time,
    "sheet": _sheet,
    **{name: _part(name) for name in _PARTS},
}


def _seconds(milliseconds: int) -> str:
    whole, rest = divmod(milliseconds, 1000)
    return f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)


def _plain(number: float) -> str:
    """Return the shortest decimal that reads back as `number`, never with an exponent."""
    text = format(Decimal(repr(float(number))), "f")
    return text.removesuffix(".0") if text.endswith(".0") else text


def _invalid(text: str) -> InvalidInput:
    return InvalidInput(
        f"not a citation: {text[:200]!r}",
        hint="a citation looks like notes/kb.md#L12-L34, papers/a.pdf#page=13 or rec/m.m4a#t=82,85",
        code=ErrorCode.INVALID_CITATION,
    )
