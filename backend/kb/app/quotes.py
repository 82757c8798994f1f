"""Finding a quote in a text: exactly, whatever its white space, or as near as recognised text lets it be."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb.domain.text import fold_with_origin

_PIECES = 24
_SHORTEST = 6
_LONGEST = 2_000
_ERRORS = 0.2
_LETTERS_A_DIGIT = 30
# What is mistaken for a digit when it is recognised, and the other way round, in lower case.
_LOOKS_LIKE = str.maketrans("olidsbzgqt", "0110582997")
_SPACE = re.compile(r"\s")
# All but letters and digits; a point or comma in a number and the sign before one stay: 8.5 is not 85.
_MARKS = re.compile(r"[^\w.,\u2212-]|_|[.,](?!\d)|(?<!\d)[.,]|[\u2212-](?!\d)|(?<=\w)[\u2212-]")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote in the forms it is looked for.

    Attributes:
        words: NFKC, without white space.
        letters: case-folded letters and numbers: what two readings of one text agree on.
        errors: how many letters may differ where a text was recognised.
    """

    words: str
    letters: str
    errors: int

    @classmethod
    def of(cls, text: str) -> Quote:
        """Prepare a quote."""
        words = "".join(_nfkc(text).split())
        letters = letters_of(text)
        return cls(words, letters, round(len(letters) * _ERRORS) if len(letters) >= _SHORTEST else 0)


def letters_of(text: str) -> str:
    """Return what two readings of one text agree on: its letters and numbers, case-folded."""
    return _letters(_nfkc(text).casefold())


def locate(text: str, quote: Quote, begin: int = 0, *, tolerant: bool = False) -> tuple[int, int] | None:
    """Return where a quote stands in `text`, from `begin` on if it can be; None when it does not.

    White space, widths (NFKC), case, hyphens and punctuation never matter.

    Args:
        text: where to look.
        quote: what to look for.
        begin: places from here on are taken before others.
        tolerant: up to a fifth of the letters may differ, as where a picture or speech was recognised twice; its
            numbers may not, for another number says something else.
    """
    if not quote.words:
        return None
    exact = _search(_Packed.of(text, _nfkc, _SPACE), quote.words, begin)
    if exact is not None or not quote.letters:
        return exact
    packed = _Packed.of(text, lambda part: _nfkc(part).casefold(), _MARKS)
    found = _search(packed, quote.letters, begin)
    if found is None and tolerant and quote.errors:
        place = _nearest(packed.letters, quote.letters, quote.errors)
        if place and _same_numbers(packed.letters[slice(*place)], quote.letters):
            return packed.origin(*place)
        return None
    return found


def likeness(text: str, quote: Quote) -> int:
    """Return how many of some pieces of a quote stand in `text`: 0 where no reading of it can.

    Cheap, for choosing among the passages of a book where to look closely. With at most `errors` letters wrong, one of
    `errors + 1` pieces is right (the pigeonhole principle).
    """
    letters = letters_of(text)
    size = max(3, len(quote.letters) // (quote.errors + 1))
    step = max(size, len(quote.letters) // _PIECES)
    pieces = {quote.letters[at : at + size] for at in range(0, len(quote.letters) - size + 1, step)}
    return sum(piece in letters for piece in pieces)


@dataclass(frozen=True, slots=True)
class _Packed:
    """A text in a folded form without what does not matter; each letter knows where it came from."""

    letters: str
    places: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str, folding: Callable[[str], str], nothing: re.Pattern[str]) -> _Packed:
        folded, starts, ends = fold_with_origin(text, folding)
        left_out = {found.start() for found in nothing.finditer(folded)}
        places = [index for index in range(len(folded)) if index not in left_out]
        return cls("".join([folded[index] for index in places]), places, starts, ends)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        return self.starts[self.places[start]], self.ends[self.places[end - 1]]


def _search(packed: _Packed, words: str, begin: int) -> tuple[int, int] | None:
    own = bisect_left(packed.places, begin, key=lambda index: packed.starts[index])
    at = packed.letters.find(words, own)
    if at < 0:
        at = packed.letters.find(words)
    return packed.origin(at, at + len(words)) if at >= 0 else None


def _nearest(text: str, wanted: str, errors: int) -> tuple[int, int] | None:
    """Return the part of `text` with the smallest edit distance to `wanted`, if at most `errors`."""
    if len(wanted) > _LONGEST:  # where its beginning and its end are says enough of a long one
        half = _LONGEST // 2
        allowed = int(half * _ERRORS)
        first, last = _nearest(text, wanted[:half], allowed), _nearest(text, wanted[-half:], allowed)
        return (first[0], last[1]) if first and last and first[0] < last[1] else None
    end, distance = _best_end(text, wanted)
    if distance > errors or end == 0:
        return None
    # The same backwards from that end finds where the part begins.
    window = text[max(0, end - len(wanted) - errors) : end]
    length, _ = _best_end(window[::-1], wanted[::-1], anchored=True)
    return (end - length, end) if length else None


def _best_end(text: str, wanted: str, *, anchored: bool = False) -> tuple[int, int]:
    """Return where the best match of `wanted` ends in `text`, and its edit distance.

    G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM 46
    (1999), in the form of H. Hyyrö (2003), with one integer for the whole column. `anchored`: the match begins where
    the text does.
    """
    rows = len(wanted)
    full, last = (1 << rows) - 1, 1 << (rows - 1)
    masks: dict[str, int] = {}
    for row, letter in enumerate(wanted):
        masks[letter] = masks.get(letter, 0) | 1 << row
    plus, minus, score = full, 0, rows
    best = (0, rows)
    for column, letter in enumerate(text, 1):
        equal = masks.get(letter, 0)
        diagonal = (((equal & plus) + plus) ^ plus) | equal | minus
        up = minus | ~(diagonal | plus) & full
        down = plus & diagonal
        if up & last:
            score += 1
        elif down & last:
            score -= 1
        up = (up << 1 | anchored) & full
        down = down << 1 & full
        plus = down | ~(diagonal | up) & full
        minus = up & diagonal
        if score < best[1]:
            best = (column, score)
    return best


def _same_numbers(one: str, other: str) -> bool:
    """Return whether each of two readings has the digits of the other, in order, or letters that look like them.

    Of every 30 letters one digit may be misread for another.
    """
    forgiven = min(len(one), len(other)) // _LETTERS_A_DIGIT
    return _lacking(one, other) <= forgiven and _lacking(other, one) <= forgiven


def _lacking(digits_of: str, text: str) -> int:
    """Return how many digits of one text do not stand in another, in order."""
    there = text.translate(_LOOKS_LIKE)
    at = lacking = 0
    for digit in filter(str.isdigit, digits_of):
        found = there.find(digit, at)
        lacking += found < 0
        at = found + 1 if found >= 0 else at
    return lacking


def _letters(text: str) -> str:
    return _MARKS.sub("", text)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
