"""What was read of files, in words: bars, ranges, and what is left to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.cli.layout import padded, wrapped
from kb.cli.output import Output, counted, width

if TYPE_CHECKING:
    from kb.contract.coverage import Coverage, CoverageTotals, CoverageUnit
    from kb.contract.items import ItemEntry
    from kb.contract.masked import Masked

_STATES = ("text", "ocr", "blank", "failed", "skipped", "waiting")
_CELLS = {"text": "█", "ocr": "▓", "blank": "·", "failed": "✗", "skipped": "-", "waiting": "…"}
_BAR = 20
_INDENT = 12


def bar(totals: CoverageTotals) -> str:
    """Return 20 cells in proportion to the states; whatever is there has one cell at least."""
    counts = {state: getattr(totals, state) for state in _STATES}
    whole = sum(counts.values())
    if not whole:
        return ""
    cells = {state: max(1, count * _BAR // whole) for state, count in counts.items() if count}
    largest = max(cells, key=lambda state: cells[state])
    cells[largest] += _BAR - sum(cells.values())
    return "".join(_CELLS[state] * count for state, count in cells.items())


def numbers(totals: CoverageTotals, kinds: Sequence[str]) -> str:
    """Return the totals in words, such as `8 pages: 6 text, 2 failed`."""
    counts = [(getattr(totals, state), state) for state in _STATES]
    said = ", ".join(f"{count:,} {state}" for count, state in counts if count)
    return f"{counted(sum(count for count, _ in counts), kinds[0] if len(kinds) == 1 else 'part')}: {said or 'nothing'}"


def ranges(units: Iterable[CoverageUnit]) -> str:
    """Return units in words, such as `pages 1-3 text, 4 ocr (0.93), 5 blank, 6-7 failed: damaged`."""
    said: list[str] = []
    kind = ""
    for run in _runs(units):
        named = "" if run.kind == kind else f"{run.kind}{'' if run.start == run.end else 's'} "
        kind = run.kind
        said.append(f"{named}{run.words}")
    return ", ".join(said)


def print_item(out: Output, item: ItemEntry, *, coverage: bool, steps: bool) -> None:
    """Print a file of a list: its state, why it was not read, what was read of it, what to do."""
    out.line(f"{item.state:<{_INDENT}}{item.doc_path}")
    if item.reason:
        _indented(out, reason_text(item.reason))
    elif steps and item.unread:
        _indented(out, ranges(item.unread))
    if item.nothing_searchable:
        _indented(out, "nothing searchable: every passage was taken out")
    if coverage and item.coverage is not None:
        out.line(f"{'':<{_INDENT}}{bar(item.coverage)}  {numbers(item.coverage, item.coverage_kinds)}")
    if steps and item.next_step:
        _indented(out, f"→ {item.next_step}")


def print_unread_item(out: Output, item: ItemEntry) -> None:
    """Print what is known about a file that cannot be searched."""
    rows = [
        ("path", item.doc_path),
        ("item_id", item.item_id),
        ("state", item.state),
        ("reason", reason_text(item.reason) if item.reason else ""),
        ("next step", item.next_step or ""),
        ("size", f"{item.byte_len:,} bytes" if item.byte_len is not None else ""),
        ("coverage", numbers(item.coverage, item.coverage_kinds) if item.coverage else ""),
    ]
    _print_rows(out, rows)


def print_coverage(out: Output, coverage: Coverage) -> None:
    """Print the whole ledger of a file."""
    kinds = tuple(dict.fromkeys(unit.kind for unit in coverage.units))
    out.line(coverage.doc_path)
    for line in wrapped(ranges(coverage.units), width() - 2):
        out.line(f"  {line}")
    out.line(f"  {bar(coverage.totals)}  {numbers(coverage.totals, kinds)}")
    if coverage.reason:
        out.line(f"  {coverage.state}: {reason_text(coverage.reason)}")
    if coverage.next_step:
        for line in wrapped(f"→ {coverage.next_step}", width() - 2):
            out.line(f"  {line}")


def print_masked(out: Output, masked: Masked) -> None:
    """Print where secrets were left out, never which."""
    from kb.cli.wording import place_label

    for place in masked.masked:
        where = place_label(place.uri) if place.uri else place.where
        out.line(f"{padded(place.kind, 20)}{padded(place.placeholder, 28)}{where}")
    out.line(f"{counted(len(masked.masked), 'place')} masked" if masked.masked else "nothing was masked")


def reason_text(reason: str | None) -> str:
    """Return why a file cannot be searched, without the stable word before it."""
    word, colon, sentence = (reason or "cannot be read").partition(": ")
    return sentence if colon and word.replace("_", "").isalnum() else word + colon + sentence


def _print_rows(out: Output, rows: Iterable[tuple[str, str]]) -> None:
    for name, value in rows:
        if value:
            lines = wrapped(value, max(width() - _INDENT, _BAR))
            out.line(f"{padded(name, _INDENT)}{lines[0]}")
            for line in lines[1:]:
                out.line(f"{'':<{_INDENT}}{line}")


def _indented(out: Output, text: str) -> None:
    for line in wrapped(text, max(width() - _INDENT, _BAR)):
        out.line(f"{'':<{_INDENT}}{line}")


@dataclass(slots=True)
class _Run:
    """Neighbouring units in one state for one reason."""

    kind: str
    start: int
    end: int
    state: str
    reason: str | None
    least: float | None
    most: float | None

    @property
    def words(self) -> str:
        place = f"{self.start:,}" if self.start == self.end else f"{self.start:,}-{self.end:,}"
        sure = ""
        if self.least is not None and self.most is not None:
            low, high = f"{self.least:.2f}", f"{self.most:.2f}"
            sure = f" ({low})" if low == high else f" ({low}-{high})"
        return f"{place} {self.state}{sure}{f': {self.reason}' if self.reason else ''}"


def _runs(units: Iterable[CoverageUnit]) -> list[_Run]:
    runs: list[_Run] = []
    for unit in units:
        last = runs[-1] if runs else None
        follows = last is not None and last.end + 1 == unit.start
        if last and follows and (last.kind, last.state, last.reason) == (unit.kind, unit.state, unit.reason):
            last.end = unit.end
            known = [value for value in (last.least, last.most, unit.confidence) if value is not None]
            last.least, last.most = min(known, default=None), max(known, default=None)
        else:
            sure = unit.confidence
            runs.append(_Run(unit.kind, unit.start, unit.end, unit.state, unit.reason, sure, sure))
    return runs
