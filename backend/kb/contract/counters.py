"""Searches in numbers, without any content."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kb.contract.base import Request, Wire


class CountersRequest(Request):
    """For how many days, today included."""

    days: int = Field(default=30, ge=1, le=90)


class Counter(Wire):
    """One measure on one day: how often, the sum, and the most at once."""

    day: str
    mode: str
    """`lexical`, `vector`, `hybrid`; `rebuild` for outcomes of rebuilds."""
    measure: str
    count: int
    total: float
    most: float


class SearchCounters(Wire):
    """Counts of searches, newest day first; no question, text or path is ever in them."""

    schema_version: Literal["search_counters.v1"] = "search_counters.v1"
    days: int
    searches: int
    degraded: int
    """How many searches did less than was asked."""
    median_of_days_ms: float | None
    """The middle of the days' mean milliseconds; null without searches."""
    counters: tuple[Counter, ...]
