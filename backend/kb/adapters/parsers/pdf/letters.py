"""Letters as PDFs give them, and as people write them: ligatures, presentation forms, symbols, what is no letter."""

from __future__ import annotations

import re
import unicodedata

# Letters that only stand for how others are drawn: ligatures, Arabic forms, CJK radicals and compatibility forms.
_FORMS = re.compile("[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc]")
_NOISE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff\ufff0-\uffff"
    "\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff]"
)
# Soft hyphens and direction marks are unseen on purpose; the rest stands for a glyph whose letter is not known.
_LOST = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff]")
# How Symbol and Wingdings give bullets, ticks and arrows.
_BULLETS = dict.fromkeys((0xF0B7, 0xF0A7, 0xF0D8, 0xF0FC, 0xF076, 0xF0E0, 0xF06E, 0xF0A8, 0xF071), "\u2022")
SPACELESS = (
    "\u2e80-\u2fdf\u3000-\u303f\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff"
)
"""The inside of a regular expression class: scripts that put no space between words, and their punctuation."""
_CLOSE = re.compile(f"[{SPACELESS}]")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


_ODD = re.compile(f"[{_NOISE.pattern[1:-1]}{_FORMS.pattern[1:-1]}\\s]")


def is_clean(text: str) -> bool:
    """Return whether `cleaned` would leave every word of a text as it is."""
    if text.isascii() and text.isprintable():
        return True
    return not _ODD.search(text) and unicodedata.is_normalized("NFC", text)


def has_spaceless(text: str) -> bool:
    """Return whether any letter is of a script that puts no space between words."""
    return not text.isascii() and _CLOSE.search(text) is not None


def cleaned(text: str) -> str:
    """Return a word in NFC with ligatures and presentation forms spelled out, without what is no letter.

    Case, width and superscripts stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.translate(_BULLETS)
    if text[-1:] == "\u00ad":  # a word cut at the end of a line; within a word it is unseen
        text = text[:-1] + "-"
    text = _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    return unicodedata.normalize("NFC", " ".join(_NOISE.sub("", text).split()))


def lost(text: str) -> int:
    """Return how many letters of a raw text are not known: U+FFFD, private use, control characters, surrogates."""
    if text.isascii() and text.isprintable():
        return 0
    return len(_LOST.findall(text.translate(_BULLETS)))


def stand_close(left: str, right: str) -> bool:
    """Return whether no space belongs between two pieces of text: both sides are of a script without spaces."""
    return bool(left and right and _CLOSE.match(left[-1]) and _CLOSE.match(right[0]))


def runs_left(text: str) -> bool:
    """Return whether most of a text is written from right to left."""
    if text.isascii():
        return False
    letters = len(_RTL.findall(text))
    return letters * 2 > sum(letter.isalpha() for letter in text)
