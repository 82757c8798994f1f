"""Text rules shared by every part: normal forms, scripts, sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

CJK = (
    "\u1100-\u11ff\u3005\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
"""The inside of a regular expression class: Han, Kana and Hangul letters."""

_SENTENCE_END = re.compile(
    r"(?:[.!?\u2026]+[\"\u2019\u201d)\]]*(?=\s|$)|[\u3002\uff01\uff1f\uff0e][\u300d\u300f\u201d\u2019\uff09]*|\n)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Eq|Sec|ca|approx|Inc|Ltd)|\b[A-Z]|^\s*\d{1,3})\.$"
)


def nfc(text: str) -> str:
    """Return `text` in NFC with line ends as one line feed."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def fold(text: str) -> str:
    """Return `text` in NFKC, case-folded: the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).casefold()


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence, half open, without surrounding white space.

    Ends are `. ! ? …` before white space, the CJK marks, and line feeds; a few abbreviations,
    initials and list numbers do not end one.
    """
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        if match[0] == "." and _ABBREVIATION.search(text, max(start, end - 12), end):
            continue
        yield from _trimmed(text, start, end)
        start = end
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
