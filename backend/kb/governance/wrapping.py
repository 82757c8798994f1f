"""Values that a line end cuts in two: where they really end."""

from __future__ import annotations

import re

# A line end with what quotes and comments put before the next line, or the space that joins the lines of a page.
_GAP = re.compile(r"[ \t\u00a0]{0,4}(?:\\?\n[ \t>#*|\u00a0]{0,12}|[ \u00a0])")
_MOST_GAPS = 12
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])|.+[a-z][A-Z].*[a-z][A-Z]|.*[A-Z]{2}[a-z].*[A-Z]")
_LEAST_PIECE = 8
_LEAST_LINE = 20


def extent(text: str, at: int, body: re.Pattern[str], least: int, full: int) -> int:
    """Return where a value ends that begins at `at` and has the characters of `body`; `at` itself when there is none.

    It goes on after a gap while it is shorter than its format wants and what follows looks like more of it: random
    letters, or just as many as are missing.
    """
    run = body.match(text, at)
    if not run:
        return at
    end = run.end()
    length = end - at
    for _ in range(_MOST_GAPS):
        gap = _GAP.match(text, end)
        more = body.match(text, gap.end()) if gap else None
        if not gap or not more:
            break
        piece = more[0]
        if not _goes_on(text[at:end], length, piece, least=least, full=full, new_line="\n" in gap[0]):
            break
        length += len(piece)
        end = more.end()
    return end


def _goes_on(held: str, length: int, piece: str, *, least: int, full: int, new_line: bool) -> bool:
    if length < full:
        rest = piece.rstrip(".,;")
        random = bool(_RANDOM.match(rest))
        exact = length + len(rest) == full
        if length < least:
            # Too short to be a token by itself: a word that only begins like one must not swallow the next.
            return _is_random(held) and (exact or random)
        return exact or (new_line and random and length + len(rest) <= full)
    # Long enough; a next line is part of it only when it cannot be a word.
    return (
        new_line
        and length >= _LEAST_LINE
        and len(piece) >= _LEAST_PIECE
        and bool(_RANDOM.match(piece))
        and full > least
    )


def _is_random(text: str) -> bool:
    return any(letter.isdigit() for letter in text) or bool(re.search(r"[a-z][A-Z]|[A-Z][a-z]", text))
