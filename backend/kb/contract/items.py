"""`items.v1` and `coverage.v1`: every file of the workspace, and what was read of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire


class CoverageTotals(Wire):
    """Units in each state; they sum to the whole document."""

    text: int = 0
    ocr: int = 0
    blank: int = 0
    failed: int = 0
    skipped: int = 0
    waiting: int = 0


class CoverageUnit(Wire):
    """A range of units, from 1, both ends included, in one state."""

    kind: Annotated[Literal["page", "second", "sheet", "slide", "message", "section", "cell", "image", "line"], Open]
    start: int
    end: int
    state: Annotated[Literal["text", "ocr", "blank", "failed", "skipped", "waiting"], Open]
    confidence: float | None = None
    reason: str | None = None


class CoverageRequest(Request):
    """The document at a workspace path."""

    doc_path: str = Field(min_length=1, max_length=4_000)


class Coverage(Wire):
    """Every line, page or second of a document, and what became of it."""

    schema_version: Literal["coverage.v1"] = "coverage.v1"
    doc_path: str
    doc_id: str | None
    units: tuple[CoverageUnit, ...]
    totals: CoverageTotals


class ItemsRequest(Request):
    """A page of items in path order, all or those in one state."""

    cursor: str | None = Field(default=None, max_length=4_000)
    limit: int = Field(default=200, ge=1, le=500)
    state: Literal["new", "ready", "empty", "unsupported", "waiting", "failed", "deleted"] | None = None


class ItemEntry(Wire):
    """One file; `reason` says why it cannot be searched."""

    item_id: str
    doc_path: str
    state: Annotated[Literal["new", "ready", "empty", "unsupported", "waiting", "failed", "deleted"], Open]
    reason: str | None
    coverage: CoverageTotals | None
    doc_id: str | None = None
    byte_len: int | None = None


class Items(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["items.v1"] = "items.v1"
    items: tuple[ItemEntry, ...]
    next: str | None
