"""Text rules shared by every part: normal forms, scripts, sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

CJK = (
    "\u1100-\u11ff\u3005\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
"""The inside of a regular expression class: Han, Kana and Hangul letters."""

# Letters that NFKC leaves alone and case folding maps one to one, so that a run of them is folded in one go.
_PLAIN = re.compile(
    "[\x00-\x7f\xc0-\xd6\xd8-\xde\xe0-\xf6\xf8-\xff\u0102\u0103\u0110\u0111\u0128\u0129\u0168\u0169\u01a0\u01a1\u01af"
    "\u01b0\u0391-\u03a1\u03a3-\u03a9\u03ac-\u03af\u03b1-\u03c9\u0400-\u045f\u0621-\u063a\u0641-\u064a\u1ea0-\u1ef9\u2010"
    "\u2012-\u2014\u2018-\u201e\u3001-\u3003\u3008-\u3011\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]+"
)
_SENTENCE_END = re.compile(
    r"(?:[.!?\u2026]+[\"\u2019\u201d)\]]*(?=\s|$)|[\u3002\uff01\uff1f\uff0e][\u300d\u300f\u201d\u2019\uff09]*|\n)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Eq|Sec|ca|approx|Inc|Ltd)|(?<!\d )\b[A-Z]|^\s*\d{1,3})\.$"
)


def nfc(text: str) -> str:
    """Return `text` in NFC with line ends as one line feed."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def fold(text: str) -> str:
    """Return `text` in NFKC, case-folded: the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).casefold()


def fold_with_origin(text: str, folding: Callable[[str], str] = fold) -> tuple[str, Sequence[int], Sequence[int]]:
    """Fold like `folding`; say for every folded character where what it came from starts and ends.

    Combining marks are folded together with their base, since NFKC joins them.
    """
    length = len(text)
    run = _PLAIN.match(text)
    if run and run.end() == length:
        return folding(text), range(length), range(1, length + 1)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    while start < length:
        run = _PLAIN.match(text, start)
        end = run.end() if run else start
        if run and end < length and _joins(text[end]):
            end -= 1  # the last letter belongs to the mark behind it
        if end > start:
            pieces.append(folding(text[start:end]))
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            start = end
            continue
        end = start + 1
        while end < length and _joins(text[end]):
            end += 1
        piece = folding(text[start:end])
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
        start = end
    return "".join(pieces), starts, ends


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


def _joins(letter: str) -> bool:
    """Return whether NFKC may join a letter to what stands before: a mark, or a medial or final jamo."""
    return unicodedata.combining(letter) != 0 or "\u1160" <= letter <= "\u11ff"


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
