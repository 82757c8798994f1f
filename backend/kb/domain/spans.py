"""Source spans: the places in an item that text came from, and text that knows its places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kb.domain.errors import ErrorCode, InvalidInput


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines `start` to `end`, from 1, both included."""

    start: int
    end: int

    def __post_init__(self) -> None:
        _require(1 <= self.start <= self.end, f"lines {self.start}-{self.end}")


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """Bytes `start` to `end` of the original, from 0, the end not included."""

    start: int
    end: int

    def __post_init__(self) -> None:
        _require(0 <= self.start <= self.end, f"bytes {self.start}-{self.end}")


@dataclass(frozen=True, slots=True)
class PageSpan:
    """A page (from 1) and, where known, a range of characters of its text (from 0, half open)."""

    page: int
    char_start: int | None = None
    char_end: int | None = None

    def __post_init__(self) -> None:
        known = self.char_start is not None and self.char_end is not None
        ordered = known and 0 <= (self.char_start or 0) <= (self.char_end or 0)
        absent = self.char_start is None and self.char_end is None
        _require(self.page >= 1 and (ordered or absent), f"page {self.page}")


@dataclass(frozen=True, slots=True)
class RegionSpan:
    """A rectangle in pixels of the picture as displayed, origin top left."""

    x: int
    y: int
    w: int
    h: int

    def __post_init__(self) -> None:
        _require(min(self.x, self.y) >= 0 and min(self.w, self.h) >= 1, "region")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Milliseconds from the start of a recording, half open."""

    start_ms: int
    end_ms: int

    def __post_init__(self) -> None:
        _require(0 <= self.start_ms <= self.end_ms, f"time {self.start_ms}-{self.end_ms} ms")


@dataclass(frozen=True, slots=True)
class PartSpan:
    """A numbered part (from 1), or a named sheet with its cell range such as `B2:D9`."""

    part: Literal["sheet", "slide", "message", "section", "cell"]
    number: int
    name: str = ""
    cells: str = ""

    def __post_init__(self) -> None:
        _require(self.number >= 1, f"{self.part} {self.number}")


@dataclass(frozen=True, slots=True)
class CaptionSpan:
    """Words about a picture that a model wrote; they stand nowhere in it."""

    model: str

    def __post_init__(self) -> None:
        _require(bool(self.model), "caption without a model")


SourceSpan: TypeAlias = LineSpan | ByteSpan | PageSpan | RegionSpan | TimeSpan | PartSpan | CaptionSpan


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters `start` to `end` (from 0, half open) of a text came from `span`.

    Segments of one text are in order and do not overlap; gaps are text of our own making
    (separators, repeated table headers), which has no place.
    """

    start: int
    end: int
    span: SourceSpan


def _require(valid: bool, what: str) -> None:  # noqa: FBT001 - an assertion reads best bare
    if not valid:
        raise InvalidInput(f"impossible span: {what}", code=ErrorCode.INVALID_SPAN)
