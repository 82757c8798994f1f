"""Counts of searches that hold no content."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counted:
    """One measure of one mode on one day: how often, the sum, and the most at once.

    Attributes:
        day: such as `2026-03-31`.
        mode: `lexical`, `vector`, `hybrid`; `rebuild` for outcomes of rebuilds.
        measure: `searches` (milliseconds), `results`, `characters`, `degraded`, `degraded.<reason>`,
            `candidates.<channel>`, `milliseconds.<step>`; of rebuilds `<kind>.<status>`.
    """

    day: str
    mode: str
    measure: str
    count: int
    total: float
    most: float
