"""The form in which secrets are sought: what only looks different is made equal, places are kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.text import fold_with_origin

_TO_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
# Without width, or soft: nothing of them is seen, and they part what belongs together.
_UNSEEN = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# Letters apart from their marks, and alphabets that only exist to look different (Unicode 16, chapter 22).
_MOVES = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
    "\u0300-\u036f\u1100-\u11ff\u2460-\u24ff\U0001d400-\U0001d7ff]"
)
# The same and the full-width letters and digits, in one pass, since hardly any text has any of them.
_LOOKS_DIFFERENT = re.compile(_MOVES.pattern[:-1] + "\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as searched; `starts` and `ends` give the original place of each character, None when nothing moved."""

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None


def folded(text: str) -> Folded:
    """Return the form of `text` that is searched: compatibility forms and zero-width characters gone, case kept."""
    if text.isascii():
        return Folded(text)
    first = _LOOKS_DIFFERENT.search(text)
    if not first:
        return Folded(text)
    if _MOVES.search(text, first.start()):
        return Folded(*fold_with_origin(text, _plain))
    # Only the full-width forms of ASCII: one character for one.
    return Folded(text.translate(_TO_NARROW))


def _plain(piece: str) -> str:
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", piece))
