"""Places of parts, and the account of what became of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedBlock
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan

Part = Literal["sheet", "slide", "section"]
_WORDY = 12
_MOST_NAMED = 12


def ledger(
    part: Part, count: int, blocks: Sequence[ParsedBlock], reasons: dict[int, str] | None = None
) -> tuple[CoverageUnit, ...]:
    """Return what became of parts 1 to `count`: text, blank, or failed for a reason."""
    written = {
        block.span.number
        for block in blocks
        if block.text and isinstance(block.span, PartSpan) and block.span.part == part
    }
    units: list[CoverageUnit] = []
    for number in range(1, count + 1):
        reason = (reasons or {}).get(number)
        state: Literal["text", "blank", "failed"] = "failed" if reason else "text" if number in written else "blank"
        last = units[-1] if units else None
        if last and last.state == state and last.reason == reason:
            units[-1] = CoverageUnit(part, last.start, number, state, None, reason)
        else:
            units.append(CoverageUnit(part, number, number, state, None, reason))
    return tuple(units)


def is_named(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows read better as `header: value`: every column has a name and some cells have words."""
    if not rows or not 1 < len(headers) <= _MOST_NAMED or not all(headers) or len(set(headers)) < len(headers):
        return False
    cells = [value for row in rows[:50] for value in row if value]
    wordy = sum(1 for value in cells if any(letter.isalpha() for letter in value))
    return bool(cells) and wordy * 4 >= len(cells) and not any(len(header) > 5 * _WORDY for header in headers)


class Count:
    """Cells and characters of one document, against its limits."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._cells = 0
        self._characters = 0

    def add(self, cells: int, characters: int) -> None:
        """Take more into account.

        Raises:
            Unreadable: `too_complex` of cells, `too_big` of characters.
        """
        self._cells += cells
        self._characters += characters
        if self._cells > self._limits.cells:
            raise Unreadable(
                f"it has more than {self._limits.cells:,} cells",
                hint="split it, or raise limits.cells",
                reason="too_complex",
            )
        if self._characters > self._limits.characters:
            raise Unreadable(
                f"it has more than {self._limits.characters:,} characters",
                hint="split it, or raise limits.characters",
                reason="too_big",
            )
