"""Costs measured side by side: A B A B, medians, CPU seconds; a busy machine slows both sides alike."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was measured, the figure, and what it should be.

    Attributes:
        figure: a ratio, share, count or difference.
        bound: `at most` or `at least` the target; None for a figure that only informs.
        detail: the two sides, for people.
    """

    section: str
    what: str
    figure: float
    unit: str = "×"
    bound: Literal["at most", "at least"] | None = None
    target: float = 0.0
    detail: str = ""

    @property
    def missed(self) -> bool:
        if self.bound is None:
            return False
        return self.figure > self.target if self.bound == "at most" else self.figure < self.target

    @property
    def wanted(self) -> str:
        sign = {"at most": "≤", "at least": "≥", None: ""}[self.bound]
        return f"{sign} {self.target:g} {self.unit}".strip() if sign else "–"


def cpu_of_family() -> float:
    """Return user and system time of this process, its threads and its children, running ones too where /proc is."""
    times = os.times()
    total = times.user + times.system + times.children_user + times.children_system
    for listing in Path("/proc/self/task").glob("*/children"):
        for child in listing.read_text(encoding="ascii").split():
            # The name in brackets may hold spaces; utime and stime are fields 14 and 15 (proc(5)).
            fields = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def cpu_of(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call; garbage of earlier work is not charged to it."""
    gc.collect()
    before = time.process_time()
    work()
    return time.process_time() - before


def cpu_of_all(work: Callable[[], object]) -> float:
    """As `cpu_of`, with what running children did for it."""
    gc.collect()
    before = cpu_of_family()
    work()
    return cpu_of_family() - before


def wall_of(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


@dataclass(frozen=True, slots=True)
class Pair:
    """Medians of two alternating sides, in seconds, and of the ratios and differences of each round."""

    ours: float
    bare: float
    ratio: float
    difference: float

    def row(self, section: str, what: str, target: float, *, per: int = 1, note: str = "") -> Row:
        """Return the ratio as a row; `per` is the number of operations in a round, for milliseconds each."""
        each = f"{self.ours / per * 1e3:.2f} ms to {self.bare / per * 1e3:.2f} ms"
        return Row(
            section, what, self.ratio, bound="at most", target=target, detail="; ".join(filter(None, [each, note]))
        )


def alternate(
    ours: Callable[[], object],
    bare: Callable[[], object],
    *,
    rounds: int = 5,
    clock: Callable[[Callable[[], object]], float] = cpu_of,
) -> Pair:
    """Run both in turn, once unmeasured, and return the medians."""
    ours()
    bare()
    costs = [(clock(ours), clock(bare)) for _ in range(rounds)]
    return pair_of(costs)


def pair_of(costs: Sequence[tuple[float, float]]) -> Pair:
    """Return the medians of (ours, bare) rounds."""
    left, right = [a for a, _ in costs], [b for _, b in costs]
    return Pair(
        statistics.median(left),
        statistics.median(right),
        statistics.median(a / b for a, b in costs),
        statistics.median(a - b for a, b in costs),
    )


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| what | measured | target | |", "|---|---|---|---|"]
    for row in rows:
        verdict = "" if row.bound is None else "**missed**" if row.missed else "met"
        detail = f" ({row.detail})" if row.detail else ""
        figure = f"{row.figure:.2f}" if row.figure < 100 else f"{row.figure:.0f}"
        lines.append(f"| {row.what}{detail} | {figure} {row.unit} | {row.wanted} | {verdict} |")
    return "\n".join(lines)
