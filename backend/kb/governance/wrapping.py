"""Values that a line end cuts in two: where they really end."""

from __future__ import annotations

import re

# A line end with what quotes and comments put before the next line, or the space that joins the lines of a page.
_GAP = re.compile(r"[ \t\u00a0]{0,4}(?:\\?\n[ \t>#*|\u00a0]{0,12}|[ \u00a0])")
_MOST_GAPS = 12
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])|.+[a-z][A-Z].*[a-z][A-Z]|.*[A-Z]{2}[a-z].*[A-Z]")
_WHITE = re.compile(r"\s+")
_WORD = re.compile(r"[A-Z]?[a-z]{4,}\Z")
_LEAST_PIECE = 8
_LEAST_RANDOM = 12
_LEAST_LONG = 16
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
        missing = full - length if exact else 0
        if exact and len(piece.rstrip(".,;")) > missing:
            break
        if not _goes_on(text[at:end], piece, (least, full), missing=missing, new_line="\n" in gap[0]):
            break
        length += len(piece)
        end = more.end()
    return end


def _goes_on(held: str, piece: str, length: tuple[int, int], *, missing: int, new_line: bool) -> bool:
    least, full = length
    have = len(_WHITE.sub("", held))
    rest = piece.rstrip(".,;")
    fills = len(rest) == missing and not _WORD.match(rest)
    random = bool(_RANDOM.match(rest))
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
