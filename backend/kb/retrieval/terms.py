"""The words of a question, and where they stand in a text: for snippets, quotes and features."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from kb.domain.text import CJK, fold, fold_with_origin

_CJK_RUN = re.compile(f"[{CJK}]+")
_LETTERS = rf"[^\W{CJK}]+"
_WORD = re.compile(rf"{_LETTERS}(?:[.'\u2019-](?=\w){_LETTERS})*")
_STEM_MINIMUM = 4


@dataclass(frozen=True, slots=True)
class Terms:
    """A question taken apart: folded words of spaced scripts, and bigrams of CJK runs.

    A run of one character stands as itself.
    """

    words: frozenset[str]
    grams: frozenset[str]

    @property
    def count(self) -> int:
        """Return how many terms there are."""
        return len(self.words) + len(self.grams)


@dataclass(frozen=True, slots=True)
class Match:
    """Characters `start` to `end` (half open) of a text carry the term `term`."""

    start: int
    end: int
    term: str


def terms_of(text: str) -> Terms:
    """Take a question apart."""
    folded = fold(text)
    words = frozenset(match[0] for match in _WORD.finditer(folded))
    grams: set[str] = set()
    for match in _CJK_RUN.finditer(folded):
        grams.update(_grams(match[0]))
    return Terms(words, frozenset(grams))


@lru_cache(maxsize=64)  # a snippet and its citation ask the same in turn
def matches(terms: Terms, text: str) -> tuple[Match, ...]:
    """Return where `terms` stand in `text`, in order; offsets count characters of `text` itself.

    A word also matches its inflections: another word that shares all but the last letters.
    """
    folded, starts, ends = fold_with_origin(text)
    found: list[Match] = []
    if terms.words:
        beginnings = frozenset(word[:_STEM_MINIMUM] for word in terms.words)
        for match in _WORD.finditer(folded):
            word = match[0]
            term = _matching_word(terms.words, word) if word[:_STEM_MINIMUM] in beginnings else None
            if term:
                found.append(Match(starts[match.start()], ends[match.end() - 1], term))
    for gram in terms.grams:
        place = folded.find(gram)
        while place >= 0:
            found.append(Match(starts[place], ends[place + len(gram) - 1], gram))
            place = folded.find(gram, place + 1)
    return tuple(sorted(found, key=lambda match: (match.start, match.end, match.term)))


def _grams(run: str) -> list[str]:
    return [a + b for a, b in pairwise(run)] if len(run) > 1 else [run]


def _matching_word(words: frozenset[str], word: str) -> str | None:
    if word in words:
        return word
    stem = max(_STEM_MINIMUM, len(word) - 3)
    if len(word) < _STEM_MINIMUM:
        return None
    close = (w for w in sorted(words) if w[:stem] == word[:stem] and abs(len(w) - len(word)) <= 3)  # noqa: PLR2004
    return next(close, None)
