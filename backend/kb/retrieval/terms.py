"""The words of a question, and where they stand in a text: for snippets, quotes and features."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kb.domain.text import CJK, fold

_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"(?:(?![{CJK}])[\w])+(?:[.'\u2019-](?=\w)(?:(?![{CJK}])[\w])+)*")
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


def matches(terms: Terms, text: str) -> Iterator[Match]:
    """Yield where `terms` stand in `text`, in order; offsets count characters of `text` itself.

    A word also matches its inflections: another word that shares all but the last letters.
    """
    folded, starts, ends = _fold_with_origin(text)
    found: list[Match] = []
    for match in _WORD.finditer(folded):
        term = _matching_word(terms.words, match[0])
        if term:
            found.append(Match(starts[match.start()], ends[match.end() - 1], term))
    for match in _CJK_RUN.finditer(folded):
        run, base = match[0], match.start()
        for index, gram in enumerate(_grams(run)):
            if gram in terms.grams:
                last = base + index + len(gram) - 1
                found.append(Match(starts[base + index], ends[last], gram))
        found.extend(
            Match(starts[base + index], ends[base + index], letter)
            for index, letter in enumerate(run)
            if len(run) > 1 and letter in terms.grams
        )
    yield from sorted(found, key=lambda match: (match.start, match.end))


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


def _fold_with_origin(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Fold like `fold`; say for every folded character where what it came from starts and ends.

    Combining marks are folded together with their base, since NFKC joins them.
    """
    if text.isascii():
        return text.lower(), range(len(text)), range(1, len(text) + 1)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and (unicodedata.combining(text[end]) or _is_jamo(text[end])):
            end += 1
        piece = fold(text[start:end])
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
        start = end
    return "".join(pieces), starts, ends


def _is_jamo(letter: str) -> bool:
    """Return whether a letter is a medial or final jamo, which NFKC joins to what stands before."""
    return "\u1160" <= letter <= "\u11ff"
