"""Words of the index that differ from one it lacks by a slip or two."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from rapidfuzz.distance import DamerauLevenshtein

_SHORTEST = 4
_SHORTEST_FOR_TWO = 8
_MOST = 8
_BLOCK = 128
_BASIC_LATIN, _LATIN_BLOCKS = 0, frozenset({1, 2, 0x3D})
_KEPT = 2
"""Of a word with two slips so many first letters are right, or swapped: the dictionary can be looked up from there."""


def may_be_misspelled(word: str) -> bool:
    """Return whether a word is of letters only and long enough to be told from its likes."""
    return len(word) >= _SHORTEST and all(letter.isalpha() or unicodedata.category(letter)[0] == "M" for letter in word)


def likes_of(word: str, searcher: Any) -> tuple[str, ...]:  # noqa: ANN401 - untyped library
    """Return up to eight words of the index within one slip of `word`, or two if it has eight letters, nearest first.

    A slip is a letter more, less or another, or two neighbours swapped (Damerau and Levenshtein). Of those equally near
    the more frequent come first.
    """
    found = {term: having for term in _one_slip(word) if (having := searcher.doc_freq("words", term))}
    ranked = [(1, -having, term) for term, having in found.items()]
    if len(word) >= _SHORTEST_FOR_TWO:
        for term, having in _beginning_alike(word, searcher):
            if abs(len(term) - len(word)) <= 2 and term not in found:  # noqa: PLR2004 - two slips
                slips = DamerauLevenshtein.distance(word, term, score_cutoff=2)
                ranked += [(slips, -having, term)] if slips == 2 else []  # noqa: PLR2004
    return tuple(term for _, _, term in sorted(ranked)[:_MOST])


def _one_slip(word: str) -> set[str]:
    letters = _alphabet(frozenset(ord(letter) // _BLOCK for letter in word))
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    near = {left + right[1:] for left, right in halves if right}
    near |= {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    near |= {left + letter + right[1:] for left, right in halves if right for letter in letters}
    near |= {left + letter + right for left, right in halves for letter in letters}
    return near - {word}


def _beginning_alike(word: str, searcher: Any) -> Iterator[tuple[str, int]]:  # noqa: ANN401
    for start in sorted({word[:_KEPT], word[_KEPT - 1 :: -1]}):
        yield from searcher.terms_with_prefix("words", start)


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
