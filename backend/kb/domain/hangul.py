"""Korean initial consonants (초성): `ㄱㅂ` is how people abbreviate 김밥."""

from __future__ import annotations

import unicodedata

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
"""The nineteen in the order of Unicode's syllables, as the compatibility letters that keyboards type."""

_FIRST, _LAST, _EACH = 0xAC00, 0xD7A3, 588
_CONJOINING = {0x1100 + place: letter for place, letter in enumerate(INITIALS)}


def initial_of(letter: str) -> str:
    """Return the initial consonant of a syllable (NFC); any other letter is its own."""
    code = ord(letter)
    return INITIALS[(code - _FIRST) // _EACH] if _FIRST <= code <= _LAST else letter


def initials_of(text: str) -> str:
    """Return `text`, letter by letter, with each syllable as its initial consonant."""
    return "".join(map(initial_of, text))


def has_initials(text: str) -> bool:
    """Return whether some consonant stands alone, as no written Korean has it."""
    return any(letter in INITIALS for letter in text)


def compatibility(text: str) -> str:
    """Return `text` in NFKC with lone initial consonants as keyboards type them: NFKC makes other letters of them."""
    return unicodedata.normalize("NFKC", text).translate(_CONJOINING)
