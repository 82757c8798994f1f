"""All names of a library in a few long strings: a name is found by scanning them, letter for letter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice

from rapidfuzz.distance import DamerauLevenshtein

from kb.domain.hangul import INITIALS, has_initials, initials_of
from kb.domain.names import WORD_MARK, NameMatch, folded, marked, own_name
from kb.domain.slips import LONG_WORD, may_be_misspelled, one_slip, starts_of
from kb.domain.text import CJK

_LINE = "\n"
_MOST_LIKE = 20
_MOST_WORDS = 4
_LOOKED_AT = 20_000
"""So many places that hold a word misspelled, or the consonants of mixed letters, are looked at."""
_SPELLED = re.compile(rf"[^\W\d_{CJK}]{{3,64}}")

Found = tuple[int, NameMatch, tuple[str, ...]]
"""Which name, how, and the folded texts that stand in it."""


class NameTable:
    """The names of paths that are given in order; about 10 bytes a letter.

    Args:
        paths: in the order in which equally good names come.
        simplify: Traditional to Simplified Chinese, letter for letter.
    """

    def __init__(self, paths: Sequence[str], simplify: Callable[[str], str]) -> None:
        self._simplify = simplify
        names = [marked(folded(own_name(path), simplify).replace(_LINE, " ")) for path in paths]
        self._text = _LINE + _LINE.join(names) + _LINE
        self._initials = initials_of(self._text)
        # The place behind the line end before each name.
        self._begins = list(accumulate((len(name) + 1 for name in names), initial=1))[:-1]
        plain = self._text.replace(WORD_MARK, "")
        self._words = frozenset(_SPELLED.findall(plain))
        self._by_start: dict[str, list[str]] = {}
        for word in sorted(word for word in self._words if len(word) >= LONG_WORD - 2):
            self._by_start.setdefault(word[:2], []).append(word)

    def find(self, query: str, limit: int) -> list[Found]:
        """Return the best `limit` names for a query, each once."""
        text = " ".join(folded(query, self._simplify).split())
        if not any(map(str.isalnum, text)):
            return []
        found: dict[int, Found] = {}
        for number, match, wanted in self._all(text):
            if len(found) >= limit:
                break
            found.setdefault(number, (number, match, wanted))
        return list(found.values())

    def _all(self, text: str) -> Iterator[Found]:
        """Yield names, best first; one may come again."""
        begin = marked(text)
        inside = begin.removeprefix(WORD_MARK)
        whole = (text,)
        exact = (
            self._number(at)
            for at in self._places(self._text, f"{_LINE}{begin}")
            if self._is_whole(at + 1 + len(begin))
        )
        for match, numbers in (
            (NameMatch.EXACT, exact),
            (NameMatch.START, map(self._number, self._places(self._text, f"{_LINE}{begin}"))),
            (NameMatch.WORD_START, map(self._number, self._places(self._text, begin))),
            (NameMatch.INSIDE, map(self._number, self._places(self._text, inside))),
        ):
            for number in numbers:
                yield number, match, whole
        words = text.split()
        if len(words) > 1:
            yield from ((number, NameMatch.INSIDE, held) for number, held in self._holding([[word] for word in words]))
        if has_initials(text):
            yield from self._by_initials(inside)
        yield from self._misspelled(words)

    def _is_whole(self, end: int) -> bool:
        """Return whether a name ends at `end`, but for its ending."""
        stop = self._text.index(_LINE, end)
        rest = self._text[end:stop].replace(WORD_MARK, "")
        return not rest or (rest[0] == "." and rest[1:].isalnum())

    def _by_initials(self, inside: str) -> Iterator[Found]:
        """Yield names with these letters, where a lone consonant stands for any syllable that begins with it."""
        for at in islice(self._places(self._initials, initials_of(inside)), _LOOKED_AT):
            there = self._text[at : at + len(inside)]
            if all(mine in INITIALS or mine == letter for mine, letter in zip(inside, there, strict=True)):
                yield self._number(at), NameMatch.INITIALS, (there.replace(WORD_MARK, ""),)

    def _misspelled(self, words: Sequence[str]) -> Iterator[Found]:
        """Yield names with words like those of the query; short words and those of other scripts must be there."""
        may_differ = [_SPELLED.fullmatch(word) is not None and may_be_misspelled(word) for word in words]
        if sum(may_differ) > _MOST_WORDS:
            return
        choices = [self._likes(word) if differs else [word] for word, differs in zip(words, may_differ, strict=True)]
        if any(len(likes) > 1 for likes in choices):
            yield from ((number, NameMatch.TYPO, held) for number, held in self._holding(choices))

    def _holding(self, choices: Sequence[Sequence[str]]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield names that hold one word of each choice, in their order, with the words."""
        rarest = min(choices, key=lambda likes: (len(likes), -len(likes[0])))
        numbers: set[int] = set()
        for like in rarest:
            places = self._places(self._text, marked(like).removeprefix(WORD_MARK))
            numbers.update(self._number(at) for at in islice(places, _LOOKED_AT))
        for number in sorted(numbers):
            name = self._name(number)
            held = [next((like for like in likes if like in name), "") for likes in choices]
            if all(held):
                yield number, tuple(held)

    def _likes(self, word: str) -> list[str]:
        """Return the word and those of names within a slip of it, two from eight letters on, nearest first."""
        near = sorted(like for like in one_slip(word) if like in self._words)
        if len(word) >= LONG_WORD:
            begins = (like for start in sorted(starts_of(word)) for like in self._by_start.get(start, ()))
            alike = (like for like in begins if abs(len(like) - len(word)) <= 2)  # noqa: PLR2004 - two slips
            near += [like for like in alike if DamerauLevenshtein.distance(word, like, score_cutoff=2) == 2]  # noqa: PLR2004
        return [word, *near[:_MOST_LIKE]]

    def _places(self, text: str, wanted: str) -> Iterator[int]:
        at = text.find(wanted)
        while at >= 0:
            yield at
            # On to the next name: a name counts once.
            stop = text.find(_LINE, at + len(wanted) - 1)
            at = text.find(wanted, max(stop, at + 1)) if stop >= 0 else -1

    def _number(self, at: int) -> int:
        return bisect_right(self._begins, at + (self._text[at] == _LINE)) - 1

    def _name(self, number: int) -> str:
        begin = self._begins[number]
        return self._text[begin : self._text.index(_LINE, begin)].replace(WORD_MARK, "")
