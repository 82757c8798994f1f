"""`viewer.v1`: what to open for a citation, and what to mark there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kb.contract.base import Open, Request, Wire, absent_when_none
from kb.contract.citation import Citation


class LineRange(Wire):
    """Lines from 1, both included."""

    start: int
    end: int


class Rect(Wire):
    """A part of a page or picture as displayed, in fractions (0-1), origin top left."""

    page: int
    x: float
    y: float
    w: float
    h: float


class TimeRange(Wire):
    """Seconds from the start of a recording."""

    start_s: float
    end_s: float


class Part(Wire):
    """A numbered part of a file: a slide, message, section, notebook cell, or a sheet with the cells to mark.

    `number` is from 1, null for a sheet that only its name tells; no `cells` means the whole sheet.
    """

    kind: Annotated[Literal["sheet", "slide", "message", "section", "cell"], Open]
    number: int | None = None
    name: str = ""
    cells: str = ""


class ViewerOpenRequest(Request):
    """A citation URI or a chunk, and perhaps a quote to mark in it."""

    citation: str | None = Field(default=None, min_length=1, max_length=8_000)
    chunk_id: str | None = Field(default=None, min_length=1, max_length=64)
    quote: str | None = Field(default=None, max_length=20_000)

    @model_validator(mode="after")
    def _one_of_them(self) -> ViewerOpenRequest:
        if (self.citation is None) == (self.chunk_id is None):
            raise ValueError("give either citation or chunk_id")
        return self


class View(Wire):
    """`quote` is null when it was not found; then the whole chunk is marked.

    Of `lines`, `rects`, `time` and `part` those are present that apply to the media; all are narrowed to the quote.
    Pictures have one page. `text` is also what a file is that has no viewer of its own (docx, html, ...): its text is
    `GET sources/{item_id}/markdown`, and `part` says which section of it to show.
    """

    schema_version: Literal["viewer.v1"] = "viewer.v1"
    item_id: str
    doc_path: str
    media: Annotated[Literal["markdown", "text", "pdf", "image", "audio", "table", "message", "book"], Open]
    state: Annotated[Literal["exact", "moved", "gone"], Open]
    quote: str | None
    lines: LineRange | None = absent_when_none
    rects: tuple[Rect, ...] | None = absent_when_none
    time: TimeRange | None = absent_when_none
    part: Part | None = absent_when_none
    doc_id: str | None = None
    title: str | None = None
    chunk_id: str | None = None
    citation: Citation | None = None
    edited: bool | None = absent_when_none
    """True when a person changed the passage: the place is where it came from, and `original` is what stands there."""
    original: str | None = absent_when_none


class ViewerContextRequest(Request):
    """The surroundings of a chunk."""

    chunk_id: str = Field(min_length=1, max_length=64)


class ViewerContext(Wire):
    """A chunk with the texts before and after it, or its parent's, and where it belongs."""

    schema_version: Literal["viewer_context.v1"] = "viewer_context.v1"
    chunk_id: str
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    parent: str | None
    collections: tuple[str, ...]
    item_id: str
    doc_id: str
    doc_path: str
    title: str
    citation: Citation
