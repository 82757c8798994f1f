"""Slips of the keyboard: words that people may have meant. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

LONG_WORD = 8
"""From so many letters on two slips are forgiven."""

_SHORTEST = 4
_BLOCK = 128
_BASIC_LATIN, _LATIN_BLOCKS = 0, frozenset({1, 2, 0x3D})


def may_be_misspelled(word: str) -> bool:
    """Return whether a word is of letters only and long enough to be told from its likes."""
    return len(word) >= _SHORTEST and all(letter.isalpha() or unicodedata.category(letter)[0] == "M" for letter in word)


def one_slip(word: str) -> set[str]:
    """Return everything one slip away: a letter more, less or another, or two neighbours swapped."""
    letters = _alphabet(frozenset(ord(letter) // _BLOCK for letter in word))
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    near = {left + right[1:] for left, right in halves if right}
    near |= {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    near |= {left + letter + right[1:] for left, right in halves if right for letter in letters}
    near |= {left + letter + right for left, right in halves for letter in letters}
    return near - {word}


def starts_of(word: str) -> frozenset[str]:
    """Return the first two letters, as they are and swapped: two slips are looked for among words that begin so."""
    return frozenset({word[:2], word[1::-1]})


@lru_cache(64)
def _alphabet(blocks: Iterable[int]) -> str:
    """Return the small letters and marks of the alphabets that a word is written in.

    For a word without accents those without: stems ignore accents, so that one left out is no slip.
    """
    chosen = set(blocks)
    if chosen & _LATIN_BLOCKS:
        chosen.add(_BASIC_LATIN)
    codes = (chr(code) for block in sorted(chosen) for code in range(block * _BLOCK, (block + 1) * _BLOCK))
    return "".join(c for c in codes if unicodedata.category(c)[0] in "LM" and c.casefold() == c)
