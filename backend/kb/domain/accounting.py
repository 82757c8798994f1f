"""Nothing is unaccounted for: the ledger of any item, its totals, and whether a person should look at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kb.domain.coverage import CoverageUnit
from kb.domain.items import Item, ItemState

STATES = ("text", "ocr", "blank", "failed", "skipped", "waiting")
UNREAD = frozenset({"failed", "waiting"})
_WHOLE: Mapping[ItemState, CoverageUnit] = {
    ItemState.EMPTY: CoverageUnit("section", 1, 1, "blank"),
    ItemState.UNSUPPORTED: CoverageUnit("section", 1, 1, "skipped", reason="unsupported"),
    ItemState.FAILED: CoverageUnit("section", 1, 1, "failed", reason="unreadable"),
}


def reason_word(reason: str | None) -> str | None:
    """Return the stable word of an item's reason (`word: sentence`), None when it has none."""
    word, colon, _ = (reason or "").partition(": ")
    return word if colon and word.replace("_", "").isalnum() else None


def ledger_of(item: Item) -> tuple[CoverageUnit, ...]:
    """Return the ledger of a file that no document came of.

    Of what has no known units the whole is one: a section that failed, waits, is blank or was left out.
    """
    if item.coverage:
        return item.coverage
    whole = _WHOLE.get(item.state, CoverageUnit("section", 1, 1, "waiting", reason="not_read_yet"))
    word = reason_word(item.reason)
    return (CoverageUnit("section", 1, 1, whole.state, reason=word or whole.reason) if whole.reason else whole,)


def totals(units: Iterable[CoverageUnit]) -> dict[str, int]:
    """Return how many units are in each state, every state named; ranges count every unit in them."""
    counts: Counter[str] = Counter()
    for unit in units:
        counts[unit.state] += unit.end - unit.start + 1
    return {state: counts[state] for state in STATES}


def unread(units: Iterable[CoverageUnit]) -> tuple[CoverageUnit, ...]:
    """Return the failed and waiting units."""
    return tuple(unit for unit in units if unit.state in UNREAD)
