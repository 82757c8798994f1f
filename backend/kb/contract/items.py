"""`items.v1` and `coverage.v1`: every file of the workspace, and what was read of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire, absent_when_none


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


class ItemsRequest(Request):
    """A page of items in path order, all or those in one state; with `attention` those that failed or wait."""

    cursor: str | None = Field(default=None, max_length=4_000)
    limit: int = Field(default=200, ge=1, le=500)
    state: Literal["new", "ready", "empty", "unsupported", "waiting", "failed", "deleted"] | None = None
    attention: bool = False


class ItemRequest(Request):
    """A file by its path, `item_id` or `doc_id`."""

    doc: str = Field(min_length=1, max_length=4_000)


class ItemEntry(Wire):
    """One file; `reason` says why it cannot be searched. Fields after `coverage` are optional.

    `coverage_kinds` are what `coverage` counts, `unread` the units that failed or wait, `next_step` what to do.
    """

    item_id: str
    doc_path: str
    state: Annotated[Literal["new", "ready", "empty", "unsupported", "waiting", "failed", "deleted"], Open]
    reason: str | None
    coverage: CoverageTotals | None
    doc_id: str | None = None
    byte_len: int | None = None
    media_type: str | None = None
    coverage_kinds: tuple[str, ...] = ()
    unread: tuple[CoverageUnit, ...] = ()
    needs_attention: bool = False
    next_step: str | None = None


class Items(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["items.v1"] = "items.v1"
    items: tuple[ItemEntry, ...]
    next: str | None


class ItemView(Wire):
    """One file, whether it can be searched or not."""

    schema_version: Literal["item.v1"] = "item.v1"
    item: ItemEntry


class MaskedPlace(Wire):
    """A place where a secret was left out: its kind and what stands there now, never the secret.

    `where` is text, title, heading, tag, front_matter or page; `uri` cites the place when it has one.
    """

    kind: str
    placeholder: str
    where: str
    uri: str | None = absent_when_none


class Masked(Wire):
    """Everything that was masked in the shown version of a document."""

    schema_version: Literal["masked.v1"] = "masked.v1"
    doc_path: str
    doc_id: str
    masked: tuple[MaskedPlace, ...]
