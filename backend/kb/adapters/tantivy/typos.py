"""Words of the index that differ from one it lacks by a slip or two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rapidfuzz.distance import DamerauLevenshtein

from kb.domain.slips import LONG_WORD, one_slip, starts_of

_MOST = 8


def likes_of(word: str, searcher: Any) -> tuple[str, ...]:  # noqa: ANN401 - untyped library
    """Return up to eight words of the index within one slip of `word`, or two if it has eight letters, nearest first.

    A slip is a letter more, less or another, or two neighbours swapped (Damerau and Levenshtein). Of those equally near
    the more frequent come first.
    """
    found = {term: having for term in one_slip(word) if (having := searcher.doc_freq("words", term))}
    ranked = [(1, -having, term) for term, having in found.items()]
    if len(word) >= LONG_WORD:
        for term, having in _beginning_alike(word, searcher):
            if abs(len(term) - len(word)) <= 2 and term not in found:  # noqa: PLR2004 - two slips
                slips = DamerauLevenshtein.distance(word, term, score_cutoff=2)
                ranked += [(slips, -having, term)] if slips == 2 else []  # noqa: PLR2004
    return tuple(term for _, _, term in sorted(ranked)[:_MOST])


def _beginning_alike(word: str, searcher: Any) -> Iterator[tuple[str, int]]:  # noqa: ANN401
    for start in sorted(starts_of(word)):
        yield from searcher.terms_with_prefix("words", start)
