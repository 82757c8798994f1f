"""Names of files: how one compares, and how one is found. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from kb.domain.hangul import compatibility
from kb.domain.recipes import ItemId
from kb.domain.text import CJK, fold_with_origin


class NameMatch(IntEnum):
    """How a name was found, best first."""

    EXACT = 0
    START = 1
    WORD_START = 2
    INSIDE = 3
    INITIALS = 4
    TYPO = 5

    @property
    def word(self) -> Literal["exact", "start", "word_start", "inside", "initials", "typo"]:
        """Return its stable word."""
        return _WORDS[self]


_WORDS: Mapping[NameMatch, Literal["exact", "start", "word_start", "inside", "initials", "typo"]] = {
    NameMatch.EXACT: "exact",
    NameMatch.START: "start",
    NameMatch.WORD_START: "word_start",
    NameMatch.INSIDE: "inside",
    NameMatch.INITIALS: "initials",
    NameMatch.TYPO: "typo",
}


@dataclass(frozen=True, slots=True)
class NameHit:
    """An item by its name; `highlights` are places in `path`, start and end (half open) in code points."""

    item_id: ItemId
    path: str
    match: NameMatch
    highlights: tuple[tuple[int, int], ...]


WORD_MARK = "\x01"
"""Stands before each word of a marked name."""

_LETTER = rf"[^\W_{CJK}]"
_WORD = re.compile(rf"(?<!{_LETTER}){_LETTER}|(?<![{CJK}])[{CJK}]")


def folded(text: str, simplify: Callable[[str], str]) -> str:
    """Return `text` as names compare: NFKC, case-folded, in Simplified Chinese, lone consonants as typed."""
    return simplify(compatibility(unicodedata.normalize("NFC", text)).casefold())


def marked(text: str) -> str:
    """Return a folded text with a mark before each word: where letters, or Han, Kana and Hangul, begin."""
    return _WORD.sub(lambda match: f"{WORD_MARK}{match[0]}", text)


def own_name(path: str) -> str:
    """Return the last part of a path, of an attachment that of its own."""
    return path.rsplit("/", 1)[-1]


def highlighted(path: str, wanted: Sequence[str], simplify: Callable[[str], str]) -> tuple[tuple[int, int], ...]:
    """Return where folded texts stand in the name at the end of `path`, the first place of each."""
    begin = len(path) - len(own_name(path))
    name, starts, ends = fold_with_origin(path[begin:], lambda text: folded(text, simplify))
    found = ((name.find(text), len(text)) for text in wanted)
    spans = sorted({(begin + starts[at], begin + ends[at + size - 1]) for at, size in found if at >= 0 and size})
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return tuple(kept)
