"""How sure a difference between two ways of searching is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference b - a, and where it lies in 95 of 100 drawings."""

    delta: float
    low: float
    high: float


def paired_interval(
    a: Sequence[float], b: Sequence[float], *, seed: int = 0, rounds: int = 2_000, level: float = 0.95
) -> Interval:
    """Return the mean of b - a over the same questions, with its bootstrap interval.

    The questions are drawn anew with replacement, `rounds` times (Efron and Tibshirani 1993, the percentile interval);
    the same seed gives the same interval.

    Args:
        a: a figure of each question in one way.
        b: the same in another way, in the same order.
        seed: of the drawings.
        rounds: how many drawings.
        level: share of drawings inside the interval.

    Raises:
        ValueError: the two have not the same length, or there is nothing.
    """
    differences = [second - first for first, second in zip(a, b, strict=True)]
    if not differences:
        raise ValueError("no questions to compare")
    drawing, count = random.Random(seed), len(differences)  # noqa: S311 - statistics, not secrets
    means = sorted(sum(drawing.choices(differences, k=count)) / count for _ in range(rounds))
    outside = int(rounds * (1 - level) / 2)
    return Interval(round(sum(differences) / count, 4), round(means[outside], 4), round(means[rounds - 1 - outside], 4))
