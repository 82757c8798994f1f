"""`chunking_report.v1`: documents cut anew, one by one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Request, Wire
from kb.contract.chunking import DocName


class ReprocessRequest(Request):
    """Make files anew as is wanted of them: some, those of a collection, all, or (nothing given) those that wait.

    Of a collection those that wait, with `all` every one.
    """

    docs: tuple[DocName, ...] = Field(default=(), max_length=1_000)
    collection: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    all: bool = False


class ReprocessFailure(Wire):
    """A file that stays as it was, and why."""

    item_id: str
    path: str
    reason: str
    message: str


class ReprocessReport(Wire):
    """What a rebuild did; the first 100 failures are named, `left` were not reached, `pending` wait after it."""

    schema_version: Literal["chunking_report.v1"] = "chunking_report.v1"
    asked: int
    replaced: int
    failed: int
    failures: tuple[ReprocessFailure, ...]
    left: int
    pending: int
    passages: int
    embedded: int
    lagging: tuple[str, ...]
    canceled: bool
    duration_ms: int
