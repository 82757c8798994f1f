"""Phrases that a recogniser repeats without end when it loses its way."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 3
"""How often the same phrase may follow itself within one stretch of recognition."""
_MOST_SINGLE = 6
_LONGEST = 40


def looping(words: Sequence[str]) -> list[bool]:
    """Return for each word whether it belongs to a repetition too many of the words before it.

    Compared without case, spaces and punctuation. A phrase of two words or more counts up to 3 times in a row, a
    single word ("no, no, no") up to 6 times.
    """
    plain = ["".join(letter for letter in word.casefold() if letter.isalnum()) for word in words]
    kept: list[int] = []
    dropped = [False] * len(words)
    for index, word in enumerate(plain):
        if not word:
            dropped[index] = bool(kept) and index > 0 and dropped[index - 1]
            continue
        kept.append(index)
        period = _period([plain[number] for number in kept[-_LONGEST * (MOST + 1) :]])
        if period:
            for number in kept[-period:]:
                dropped[number] = True
            del kept[-period:]
    return dropped


def _period(words: list[str]) -> int:
    """Return how many words at the end are one repetition too many, 0 when none are."""
    last = words[-1]
    for period in range(1, min(_LONGEST, len(words) // (MOST + 1)) + 1):
        if words[-1 - period] != last:
            continue
        times = (_MOST_SINGLE if period == 1 else MOST) + 1
        tail = words[-period * times :]
        if len(tail) == period * times and tail == tail[-period:] * times:
            return period
    return 0
