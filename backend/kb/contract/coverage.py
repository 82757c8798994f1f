"""`coverage.v1`: what was read of a file, page by page."""

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
    """The file at a workspace path."""

    doc_path: str = Field(min_length=1, max_length=4_000)


class Coverage(Wire):
    """Every line, page, second or part of a file, and what became of it.

    `doc_id` is null when no document came of it. Fields after `totals` are optional; `next_step` says what a person
    can do about units that failed or wait.
    """

    schema_version: Literal["coverage.v1"] = "coverage.v1"
    doc_path: str
    doc_id: str | None
    units: tuple[CoverageUnit, ...]
    totals: CoverageTotals
    item_id: str | None = None
    state: str | None = None
    reason: str | None = None
    needs_attention: bool = False
    next_step: str | None = None
