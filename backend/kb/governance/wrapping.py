"""Values that a line end cuts in two: where they really end."""

from __future__ import annotations

import re

# A line end with what quotes and comments put before the next line, or the space that joins the lines of a page.
_GAP = re.compile(r"[ \t\u00a0]{0,4}(?:\\?\n[ \t>#*|\u00a0]{0,12}|[ \u00a0])")
_MOST_GAPS = 12
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])|.+[a-z][A-Z].*[a-z][A-Z]|.*[A-Z]{2}[a-z].*[A-Z]")
_WORD = re.compile(r"[A-Z]?[a-z]{4,}\Z")
_LEAST_PIECE = 8
_LEAST_LINE = 20


def extent(text: str, at: int, body: re.Pattern[str], least: int, full: int, *, exact: bool = False) -> int:
    """Return where a value ends that begins at `at` and has the characters of `body`; `at` itself when there is none.

    It goes on after a gap while it is shorter than its format wants and what follows looks like more of it: random
    letters, or just as many as are missing; with `exact` never beyond that length.
    """
    run = body.match(text, at)
    if not run:
        return at
    end = run.end()
    length = end - at
    for _ in range(_MOST_GAPS):
        gap = _GAP.match(text, end)
        more = body.match(text, gap.end()) if gap else None
        if not gap or not more or text[more.end() : more.end() + 1] in {":", "="}:  # the next line's name
            break
        piece = more[0]
        if not _goes_on(text[at:end], length, piece, least=least, full=full, new_line="\n" in gap[0]) or (
            exact and length + len(piece.rstrip(".,;")) > full
        ):
            break
        length += len(piece)
        end = more.end()
    return end


def _goes_on(held: str, length: int, piece: str, *, least: int, full: int, new_line: bool) -> bool:
    rest = piece.rstrip(".,;")
    fills = length + len(rest) == full and not _WORD.match(rest)
    random = bool(_RANDOM.match(rest))
    if length < least:
        # Too short to be a token by itself: a word that only begins like one must not swallow the next.
        return _is_random(held) and (fills or random)
    if length < full:
        return fills or (new_line and random)
    # Long enough; a next line is part of it only when it cannot be a word.
    return new_line and random and length >= _LEAST_LINE and len(piece) >= _LEAST_PIECE


def _is_random(text: str) -> bool:
    return any(letter.isdigit() for letter in text) or bool(re.search(r"[a-z][A-Z]|[A-Z][a-z]", text))
