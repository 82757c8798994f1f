"""Values that a line end cuts in two: where they really end."""

from __future__ import annotations

import re
from collections.abc import Callable

# A line end with what quotes and comments put before the next line, or the space that joins the lines of a page.
_GAP = re.compile(r"[ \t\u00a0]{0,4}(?:\\?\n[ \t>#*|\u00a0]{0,12}|[ \u00a0])")
_MOST_GAPS = 12
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])|.+[a-z][A-Z].*[a-z][A-Z]|.*[A-Z]{2}[a-z].*[A-Z]")
# What people write: words, perhaps in one, with a number behind them or a sign between them.
_READABLE = re.compile(
    r"(?:(?:[0-9]{1,8}|[A-Z]{2,}+[0-9]{0,4}|[A-Z]?[a-z]{2,}+(?:[A-Z][a-z]{2,}+){0,4}[0-9]{0,4})(?:[-_./]+|\Z)){1,8}\Z"
)
_LONGEST_READABLE = 60
_WHITE = re.compile(r"\s+")
_WORD = re.compile(r"[A-Z]?[a-z]{4,}\Z")
_LEAST_PIECE = 8
_LEAST_RANDOM = 12
_LEAST_LONG = 16
_LEAST_LINE = 20


def always(_position: int) -> bool:
    """Say of every line end that a value may go on behind it."""
    return True


def extent(
    text: str,
    at: int,
    body: re.Pattern[str],
    length: tuple[int, int],
    *,
    exact: bool = False,
    joins: Callable[[int], bool] = always,
    others: re.Pattern[str] | None = None,
) -> int:
    """Return where a value ends that begins at `at` and has the characters of `body`; `at` itself when there is none.

    It goes on after a gap while it is shorter than its format wants and what follows looks like more of it: random
    letters, or just as many as are missing; with `exact` never beyond that length.

    Args:
        text: blocks or lines, a line feed between them.
        at: where it begins.
        body: the characters it may have.
        length: how many characters it has at least, and in full.
        exact: it is never longer.
        joins: says whether a value that is long enough may go on behind the line feed at a position.
        others: how other values begin, which are never part of this one.
    """
    full = length[1]
    run = body.match(text, at)
    if not run:
        return at
    end = run.end()
    have = end - at
    for _ in range(_MOST_GAPS):
        gap = _GAP.match(text, end)
        more = body.match(text, gap.end()) if gap else None
        if not gap or not more or text[more.end() : more.end() + 1] in {":", "="}:  # the next line's name
            break
        piece = more[0]
        missing = full - have if exact else 0
        if exact and len(piece.rstrip(".,;")) > missing:
            break
        # The second part of a web token begins as the first.
        if others and text[end - 1] != "." and others.match(text, more.start()):
            break
        new_line = gap[0].find("\n")
        if have >= full and new_line >= 0 and not joins(end + new_line):
            break
        if not _goes_on(text[at:end], piece, length, missing=missing, new_line=new_line >= 0):
            break
        have += len(piece)
        end = more.end()
    return end


def _goes_on(held: str, piece: str, length: tuple[int, int], *, missing: int, new_line: bool) -> bool:
    least, full = length
    have = len(_WHITE.sub("", held))
    rest = piece.rstrip(".,;")
    fills = len(rest) == missing and not _WORD.match(rest)
    readable = len(rest) <= _LONGEST_READABLE and _READABLE.match(rest)
    random = not readable and bool(_RANDOM.match(rest))
    if have < least:
        # Too short to be a token by itself: a word that only begins like one must not swallow the next.
        return _is_random(held) and (fills or random)
    if have < full:
        return fills or (random and (new_line or len(rest) >= _LEAST_RANDOM))
    # Long enough; a next line is part of it only when it cannot be a word.
    least_piece = _LEAST_PIECE if new_line else _LEAST_LONG
    return random and have >= _LEAST_LINE and len(piece) >= least_piece


def _is_random(text: str) -> bool:
    return any(letter.isdigit() for letter in text) or bool(re.search(r"[a-z][A-Z]|[A-Z][a-z]", text))
