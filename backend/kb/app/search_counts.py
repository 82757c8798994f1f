"""What is counted of a search: numbers and stable words, never content."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kb.contract.counters import Counter, SearchCounters
from kb.domain.counters import Counted
from kb.retrieval.results import SearchResult


class Counters(Protocol):
    """Counts by day."""

    def count(self, mode: str, measures: Mapping[str, float]) -> None:
        """Count one search."""

    def counted(self, days: int) -> Sequence[Counted]:
        """Return the counts of the last days, newest day first."""


def counting(counters: Counters) -> Callable[[SearchResult], None]:
    """Return what counts a search that has ended."""
    return lambda result: counters.count(result.query.mode.value, measures_of(result))


def measures_of(result: SearchResult) -> Mapping[str, float]:
    """Return the numbers of one search by name."""
    found = result.diagnostics
    reasons = {f"degraded.{one.reason}": 1.0 for one in found.degraded}
    return {
        "searches": result.duration_ms,
        "results": float(len(result.hits)),
        "characters": float(result.context.character_count),
        "collections": float(len(result.query.filters.collections)),
        **({"degraded": 1.0} if reasons else {}),
        **reasons,
        **{f"candidates.{name}": float(count) for name, count in found.candidate_counts.items()},
        **{f"milliseconds.{name}": spent for name, spent in found.milliseconds.items()},
    }


def counters_to_wire(counted: Sequence[Counted], days: int) -> SearchCounters:
    """Return counts as `search_counters.v1`."""
    searches = [one for one in counted if one.measure == "searches" and one.count]
    degraded = sum(one.count for one in counted if one.measure == "degraded")
    means = [one.total / one.count for one in searches]
    return SearchCounters(
        days=days,
        searches=sum(one.count for one in searches),
        degraded=degraded,
        median_of_days_ms=round(statistics.median(means), 1) if means else None,
        counters=tuple(
            Counter(
                day=one.day,
                mode=one.mode,
                measure=one.measure,
                count=one.count,
                total=round(one.total, 3),
                most=round(one.most, 3),
            )
            for one in counted
        ),
    )
