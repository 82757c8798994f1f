"""Coverage and masked places as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kb.adapters.sqlite.json_text import compact
from kb.domain.coverage import CoverageUnit
from kb.domain.masking import MaskedSecret
from kb.domain.placed import span_from_json, span_to_json

NOTHING = "[]"
_UNREAD = frozenset({"failed", "waiting"})


def coverage_json(units: Iterable[CoverageUnit]) -> str:
    """Return a ledger: [kind, start, end, state, confidence, reason] for each range."""
    rows = [[unit.kind, unit.start, unit.end, unit.state, unit.confidence, unit.reason] for unit in units]
    return compact(rows) if rows else NOTHING


def coverage_from(text: str) -> tuple[CoverageUnit, ...]:
    """Read a ledger."""
    # A scan of a workspace reads the ledger of every item, and nearly all are empty.
    return () if text == NOTHING else _units(text)


@lru_cache(maxsize=256)
def _units(text: str) -> tuple[CoverageUnit, ...]:
    return tuple(CoverageUnit(*row) for row in json.loads(text))


def unread_units(units: Iterable[CoverageUnit]) -> int:
    """Return how many pages, seconds or parts failed or wait."""
    return sum(unit.end - unit.start + 1 for unit in units if unit.state in _UNREAD)


def line_coverage(line_count: int, ranges: Sequence[int]) -> tuple[CoverageUnit, ...]:
    """Return the ledger of a text from the lines its blocks cover (first, last, first, last, ...)."""
    units: list[CoverageUnit] = []
    line = 1
    for start, end in zip(ranges[::2], ranges[1::2], strict=True):
        if start > line:
            units.append(CoverageUnit("line", line, start - 1, "blank"))
        units.append(CoverageUnit("line", start, end, "text"))
        line = end + 1
    if line <= line_count:
        units.append(CoverageUnit("line", line, line_count, "blank"))
    return tuple(units)


def masked_json(masked: Iterable[MaskedSecret]) -> str:
    """Return what was masked: [kind, placeholder, where, span or null] each."""
    rows = [[m.kind, m.placeholder, m.where, span_to_json(m.span) if m.span else None] for m in masked]
    return compact(rows) if rows else NOTHING


def masked_from(text: str) -> tuple[MaskedSecret, ...]:
    """Read what was masked."""
    return tuple(
        MaskedSecret(kind, placeholder, where, span_from_json(span) if span else None)
        for kind, placeholder, where, span in json.loads(text)
    )
