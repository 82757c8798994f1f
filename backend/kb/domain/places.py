"""Places a person can be shown: what stands after the `#` of a citation (contracts section 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kb.domain.errors import ErrorCode, InvalidInput


@dataclass(frozen=True, slots=True)
class LinePlace:
    """Lines `start` to `end`, from 1, both included."""

    start: int
    end: int

    def __post_init__(self) -> None:
        _require(1 <= self.start <= self.end, f"lines {self.start}-{self.end}")


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Pages `start` to `end`, from 1, both included."""

    start: int
    end: int

    def __post_init__(self) -> None:
        _require(1 <= self.start <= self.end, f"pages {self.start}-{self.end}")


@dataclass(frozen=True, slots=True)
class RegionPlace:
    """A rectangle: pixels of the picture as displayed, or per cent (0-100) of `page`."""

    x: float
    y: float
    w: float
    h: float
    page: int | None = None

    def __post_init__(self) -> None:
        numbers = (self.x, self.y, self.w, self.h)
        _require(all(math.isfinite(n) and n >= 0 for n in numbers), "region")
        if self.page is None:
            _require(all(float(n).is_integer() for n in numbers), "pixels are whole numbers")
        else:
            _require(self.page >= 1, f"page {self.page}")


@dataclass(frozen=True, slots=True)
class CaptionPlace:
    """The words a model wrote about a picture."""

    model: str

    def __post_init__(self) -> None:
        _require(bool(self.model), "caption without a model")


@dataclass(frozen=True, slots=True)
class TimePlace:
    """Milliseconds from the start of a recording."""

    start_ms: int
    end_ms: int

    def __post_init__(self) -> None:
        _require(0 <= self.start_ms <= self.end_ms, f"time {self.start_ms}-{self.end_ms} ms")


@dataclass(frozen=True, slots=True)
class SheetPlace:
    """A cell range such as `B2:D9` of the sheet called `name`; no cells means the whole sheet."""

    name: str
    cells: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.name), "sheet without a name")


@dataclass(frozen=True, slots=True)
class PartPlace:
    """A slide, message, section or notebook cell by its number, from 1."""

    part: Literal["slide", "message", "section", "cell"]
    number: int

    def __post_init__(self) -> None:
        _require(self.number >= 1, f"{self.part} {self.number}")


Place: TypeAlias = LinePlace | PagePlace | RegionPlace | CaptionPlace | TimePlace | SheetPlace | PartPlace


def _require(valid: bool, what: str) -> None:  # noqa: FBT001 - an assertion reads best bare
    if not valid:
        raise InvalidInput(f"impossible place: {what}", code=ErrorCode.INVALID_CITATION)
