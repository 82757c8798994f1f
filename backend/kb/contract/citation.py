"""`citation.v1`: a place in an item, as parts and as a URI."""

from __future__ import annotations

from typing import Annotated, Literal

from kb.contract.base import Open, Wire, absent_when_none


class LinePart(Wire):
    """Lines from 1, both included."""

    start: int
    end: int
    section: str | None = None


class PagePart(Wire):
    """A page from 1; `end` when the place goes on to a later page."""

    page: int
    section: str | None = None
    end: int | None = absent_when_none


class RegionPart(Wire):
    """A rectangle: pixels of the picture as displayed, or per cent (0-100) of `page`."""

    x: float
    y: float
    w: float
    h: float
    page: int | None = absent_when_none


class CaptionPart(Wire):
    """What a model said about a picture."""

    model: str


class TimePart(Wire):
    """Milliseconds from the start of a recording."""

    start_ms: int
    end_ms: int
    speaker: str | None = None


class SheetPart(Wire):
    """A sheet by name, with the cell range such as `B2:D9`, empty for the whole sheet."""

    name: str
    cells: str = ""


class NumberPart(Wire):
    """A slide, message, section or notebook cell, from 1."""

    number: int
    section: str | None = None


class Citation(Wire):
    """Only the part named by `kind` is present."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    kind: Annotated[
        Literal["line", "page", "region", "caption", "time", "sheet", "slide", "message", "section", "cell"], Open
    ]
    path: str
    uri: str
    line: LinePart | None = absent_when_none
    page: PagePart | None = absent_when_none
    region: RegionPart | None = absent_when_none
    caption: CaptionPart | None = absent_when_none
    time: TimePart | None = absent_when_none
    sheet: SheetPart | None = absent_when_none
    slide: NumberPart | None = absent_when_none
    message: NumberPart | None = absent_when_none
    section: NumberPart | None = absent_when_none
    cell: NumberPart | None = absent_when_none
