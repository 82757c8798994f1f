"""What changed between two texts, line by line, in time that grows with their length and not with its square.

Lines that stand once in either text anchor the comparison (Bram Cohen's patience diff); between anchors, stretches that
are short enough are compared exactly, longer ones count as replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_EXACT = 250_000
"""Pairs of lines compared exactly between two anchors: a tenth of a second or so."""


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line; `before` and `after` number it from 1 in the two texts, None where it does not stand."""

    kind: Literal["same", "removed", "added"]
    before: int | None
    after: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The changed stretches with some lines around each; `is_cut` when more lines differ than were asked for."""

    added: int
    removed: int
    hunks: tuple[tuple[ChangedLine, ...], ...]
    is_cut: bool


def difference(before: Sequence[str], after: Sequence[str], *, around: int = 3, most_lines: int = 2_000) -> Difference:
    """Return what changed; `added` and `removed` count everything, `hunks` hold at most `most_lines` lines."""
    lines = list(_lines(before, after))
    changed = [number for number, line in enumerate(lines) if line.kind != "same"]
    hunks: list[tuple[ChangedLine, ...]] = []
    held = 0
    start = 0
    while start < len(changed) and held < most_lines:
        end = start
        while end + 1 < len(changed) and changed[end + 1] - changed[end] <= 2 * around:
            end += 1
        first, last = max(0, changed[start] - around), changed[end] + around + 1
        hunks.append(tuple(lines[first:last][: most_lines - held]))
        held += len(hunks[-1])
        start = end + 1
    shown = sum(line.kind != "same" for hunk in hunks for line in hunk)
    added = sum(lines[number].kind == "added" for number in changed)
    return Difference(added, len(changed) - added, tuple(hunks), shown < len(changed))


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[ChangedLine]:
    at = to = 0
    for start_a, start_b, size in [*_runs(before, after), (len(before), len(after), 0)]:
        yield from (ChangedLine("removed", n + 1, None, before[n]) for n in range(at, start_a))
        yield from (ChangedLine("added", None, n + 1, after[n]) for n in range(to, start_b))
        for n in range(size):
            yield ChangedLine("same", start_a + n + 1, start_b + n + 1, before[start_a + n])
        at, to = start_a + size, start_b + size


def _runs(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield (start in a, start in b, length) of what is the same, in order."""
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        low_a, high_a, low_b, high_b = waiting.pop()
        head = _same(a, b, low_a, high_a, low_b, high_b, 1)
        if head:
            yield low_a, low_b, head
            low_a, low_b = low_a + head, low_b + head
        tail = _same(a, b, low_a, high_a, low_b, high_b, -1)
        inner = (low_a, high_a - tail, low_b, high_b - tail)
        if tail:
            # Comes after what lies between: on the stack it is a stretch that is all the same.
            waiting.append((high_a - tail, high_a, high_b - tail, high_b))
        if inner[0] < inner[1] and inner[2] < inner[3]:
            anchors = _anchors(a, b, *inner)
            if anchors:
                waiting += reversed(_between(anchors, inner))
            elif (inner[1] - inner[0]) * (inner[3] - inner[2]) <= _EXACT:
                matcher = SequenceMatcher(None, a[inner[0] : inner[1]], b[inner[2] : inner[3]], autojunk=False)
                for block in matcher.get_matching_blocks()[:-1]:
                    yield inner[0] + block.a, inner[2] + block.b, block.size


def _same(  # noqa: PLR0917 - two texts and the stretch of each
    a: Sequence[str], b: Sequence[str], low_a: int, high_a: int, low_b: int, high_b: int, step: int
) -> int:
    """Count equal lines at the beginning (step 1) or the end (step -1) of a stretch."""
    most = min(high_a - low_a, high_b - low_b)
    first_a, first_b = (low_a, low_b) if step > 0 else (high_a - 1, high_b - 1)
    count = 0
    while count < most and a[first_a + step * count] == b[first_b + step * count]:
        count += 1
    return count


def _anchors(  # noqa: PLR0917 - two texts and the stretch of each
    a: Sequence[str], b: Sequence[str], low_a: int, high_a: int, low_b: int, high_b: int
) -> list[tuple[int, int]]:
    """Return places of lines that stand once in each stretch, as many as rise in both."""
    count_a, count_b = Counter(a[low_a:high_a]), Counter(b[low_b:high_b])
    place_b = {b[n]: n for n in range(low_b, high_b) if count_b[b[n]] == 1}
    pairs = [(n, place_b[a[n]]) for n in range(low_a, high_a) if count_a[a[n]] == 1 and a[n] in place_b]
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for number, (_, place) in enumerate(pairs):
        at = bisect_left(tails, place)
        if at == len(tails):
            tails.append(place)
            ends.append(number)
        else:
            tails[at], ends[at] = place, number
        previous.append(ends[at - 1] if at else -1)
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = previous[number]
    return chain[::-1]


def _between(anchors: Sequence[tuple[int, int]], inner: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """Return the stretches between anchors, each ending before the next anchor and beginning with one."""
    starts = [(inner[0], inner[2]), *anchors]
    ends = [*anchors, (inner[1], inner[3])]
    return [(start[0], end[0], start[1], end[1]) for start, end in zip(starts, ends, strict=True) if start != end]
