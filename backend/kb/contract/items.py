"""`items.v1` and `item.v1`: every file of the workspace."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire, absent_when_none
from kb.contract.coverage import CoverageTotals, CoverageUnit


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

    `coverage_kinds` are what `coverage` counts, `unread` the units that failed or wait, `next_step` what to do;
    `included` is false once a person took the file out of the library.
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
    included: bool = True
    nothing_searchable: bool | None = absent_when_none
    """True when people took out every passage: nothing of it can be found."""


class Items(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["items.v1"] = "items.v1"
    items: tuple[ItemEntry, ...]
    next: str | None


class ItemView(Wire):
    """One file, whether it can be searched or not."""

    schema_version: Literal["item.v1"] = "item.v1"
    item: ItemEntry
