"""Letters: which script they are of, and the forms in which they compare."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from operator import add

CJK = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u3005\u3007"  # Han
    "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"  # Kana
    "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e"  # Hangul
)
"""The inside of a class: Han, Kana and Hangul letters after NFKC."""

_VARIANTS = str.maketrans(
    {
        **dict.fromkeys("أإآٱ", "ا"),
        "ى": "ي",
        "ة": "ه",
        "ـ": None,
        "ی": "ي",
        "ک": "ك",
        "đ": "d",
        "ł": "l",
        "ø": "o",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "ð": "d",
        "þ": "th",
    }
)
"""Letters with a plain form that no Unicode decomposition gives."""

_STEM_LENGTH = 5
_SHORTEST_PLURAL = 4
_CACHED = 65_536


def marks() -> str:
    r"""Return the inside of a class with all combining marks, which `\w` leaves out."""
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in _mark_ranges())


@cache
def simplified() -> dict[int, str]:
    """Return the table from Traditional to Simplified Chinese, one letter to one (OpenCC t2s)."""
    from opencc import OpenCC

    blocks = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2A6DF))
    letters = [chr(code) for start, end in blocks for code in range(start, end + 1)]
    # One call: a call a letter takes a hundred times as long.
    simple = OpenCC("t2s").convert("\n".join(letters)).split("\n")
    return {ord(old): new for old, new in zip(letters, simple, strict=True) if old != new and len(new) == 1}


@lru_cache(_CACHED)
def stem(word: str) -> str:
    """Return the first five letters of a Latin or Greek word, accents and a plural s off; else nothing.

    Cruder than a stemmer per language, and as good on the sets of `docs/performance.md`; needs no guess
    about the language.
    """
    if word.isascii():
        return _shortened(word) if word.isalpha() else ""
    return _shortened(_plain(word)) if _is_latin(word) else ""


@lru_cache(_CACHED)
def triples(word: str) -> str:
    """Return the letter triples of a word of another alphabet, its ends marked, with spaces between."""
    if word.isascii() or _is_latin(word) or word.isdigit():
        return ""
    padded = f"_{_plain(word)}_"
    return " ".join(map(add, map(add, padded, padded[1:]), padded[2:]))


def _plain(word: str) -> str:
    """Take accents off, except where marks are vowels (Indic scripts, Thai)."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word.translate(_VARIANTS))
    bare = "".join(c for c in parts if not ("\u0300" <= c < "\u0700" and unicodedata.combining(c)))
    return unicodedata.normalize("NFC", bare)


def _shortened(word: str) -> str:
    if len(word) >= _SHORTEST_PLURAL and word[-1] == "s" and word[-2] not in "su":
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > _SHORTEST_PLURAL else word[:-1]
    return word[:_STEM_LENGTH]


def _is_latin(word: str) -> bool:
    """Return whether the first letter is Latin or Greek."""
    return word[0] < "\u0400" or "\u1e00" <= word[0] < "\u2000"


def _mark_ranges() -> Iterator[tuple[int, int]]:
    start = None
    for code in range(0x300, 0x10000):
        is_mark = unicodedata.category(chr(code)).startswith("M")
        if is_mark and start is None:
            start = code
        elif not is_mark and start is not None:
            yield start, code - 1
            start = None
