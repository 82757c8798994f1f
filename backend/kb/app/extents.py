"""Whether a cited place lies inside a document as it is now, and whether two places meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.cells import corners
from kb.domain.coverage import CoverageUnit
from kb.domain.pages import PageText
from kb.domain.places import CaptionPlace, LinePlace, PagePlace, PartPlace, Place, RegionPlace, SheetPlace, TimePlace
from kb.domain.spans import PartSpan

_SECOND = 1000
_ROUNDED = 500  # a recording counts as whole seconds, its length rounded
_PER_CENT = 100.001  # what was rounded may reach a hair beyond


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a document reaches.

    Attributes:
        lines: of the file, 0 for media without lines.
        ledger: its coverage: pages, seconds, slides and so on.
        parts: those its text came from, with the names of sheets.
        picture: its first page when that is a picture, None when it has no words.
    """

    lines: int = 0
    ledger: Sequence[CoverageUnit] = ()
    parts: Sequence[PartSpan] = ()
    picture: PageText | None = None

    def holds(self, place: Place) -> bool:  # noqa: PLR0911 - one for each kind of place
        """Return whether a place lies inside."""
        match place:
            case LinePlace(_, end):
                return end <= self.lines
            case PagePlace(_, end):
                return end <= self._pages
            case RegionPlace(x, y, w, h, page) if page is not None:
                return page <= self._pages and x + w <= _PER_CENT and y + h <= _PER_CENT
            case RegionPlace(x, y, w, h):
                size = self.picture
                return self._pages > 0 and (size is None or (x + w <= size.width + 1 and y + h <= size.height + 1))
            case CaptionPlace():
                return self._pages > 0
            case TimePlace(_, end_ms):
                return end_ms <= self._reach("second") * _SECOND + _ROUNDED
            case SheetPlace(name):
                return any(part.part == "sheet" and part.name == name for part in self.parts)
            case PartPlace(kind, number):
                known = any((part.part, part.number) == (kind, number) for part in self.parts)
                return known or number <= self._reach(kind)

    @property
    def _pages(self) -> int:
        return max(self._reach("page"), self._reach("image"))

    def _reach(self, kind: str) -> int:
        return max((unit.end for unit in self.ledger if unit.kind == kind), default=0)


def meet(one: Place, other: Place) -> bool:  # noqa: PLR0911 - one for each kind of place
    """Return whether two places of one document have something in common; of runs of pages one holds the other."""
    match one, other:
        case LinePlace(), LinePlace():
            return one.start <= other.end and other.start <= one.end
        case PagePlace(), PagePlace():
            # A passage over pages 2 and 3 that was cited on pages 1 and 2 has moved by a page.
            within = one.start >= other.start and one.end <= other.end
            return within or (other.start >= one.start and other.end <= one.end)
        case TimePlace(), TimePlace():
            return one.start_ms <= other.end_ms and other.start_ms <= one.end_ms
        case RegionPlace(), RegionPlace():
            across = one.x < other.x + other.w and other.x < one.x + one.w
            return one.page == other.page and across and one.y < other.y + other.h and other.y < one.y + one.h
        case RegionPlace(), PagePlace():
            return one.page is not None and other.start <= one.page <= other.end
        case PagePlace(), RegionPlace():
            return meet(other, one)
        case SheetPlace(), SheetPlace():
            return one.name == other.name and _cells_meet(one.cells, other.cells)
        case _:
            return one == other


def _cells_meet(one: str, other: str) -> bool:
    a, b = corners(one), corners(other)
    if a is None or b is None:  # the whole sheet
        return True
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]
