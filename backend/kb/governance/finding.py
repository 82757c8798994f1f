"""Secrets in a text: where they stand and of which kind they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

from kb.governance.credentials import find_credentials
from kb.governance.folding import folded
from kb.governance.found import Found, Setting
from kb.governance.naming import find_named
from kb.governance.private_keys import find_private_keys
from kb.governance.tokens import find_tokens
from kb.governance.wrapping import always

_PIECE = 1 << 18


def prose(_position: int) -> Setting:
    """Say of every place that people's language stands there."""
    return Setting.PROSE


def find_secrets(
    text: str, setting: Callable[[int], Setting] = prose, joins: Callable[[int], bool] = always
) -> list[Found]:
    """Return the secrets of a text in order, none overlapping another.

    Letters that only look different (full-width forms, decomposed letters, zero-width characters between them) hide
    nothing. The time grows with the length of the text alone, whatever stands in it.

    Args:
        text: blocks or lines, a line feed between them.
        setting: says what kind of text stands at a position, since `password = word` means a value in a file of
            settings and a variable in a program.
        joins: says whether a token that is long enough may go on behind the line feed at a position.
    """
    form = folded(text)
    starts, ends = form.starts, form.ends
    if starts is None or ends is None:
        return _search(form.text, setting, joins)
    last = len(starts) - 1

    def origin(at: int) -> int:
        # Behind the last letter there is none to ask for its place; it belongs where the last one does.
        return starts[min(at, last)]

    found = _search(form.text, lambda at: setting(origin(at)), lambda at: joins(origin(at)))
    return [Found(starts[one.start], ends[one.end - 1], one.kind, one.value) for one in found]


def _search(text: str, setting: Callable[[int], Setting], joins: Callable[[int], bool]) -> list[Found]:
    # A format says more than a name beside a value, so what comes first keeps its place.
    kept: list[Found] = []
    lower = _lower(text)
    if len(lower) != len(text):  # of all letters only the dotted capital I grows
        lower = _lower(text.replace("\u0130", "I"))
    finders = (
        find_private_keys(text),
        find_tokens(text, joins),
        find_credentials(text, lower, joins),
        find_named(text, lower, setting, joins),
    )
    for finder in finders:
        kept = _merged(kept, finder)
    return kept


def _lower(text: str) -> str:
    """As `str.lower`, which takes twelve bytes a character while it works on anything but ASCII."""
    if len(text) <= _PIECE or text.isascii():
        return text.lower()
    return "".join(text[start : start + _PIECE].lower() for start in range(0, len(text), _PIECE))


def _merged(kept: list[Found], more: Iterable[Found]) -> list[Found]:
    fresh = sorted(more, key=attrgetter("start"))
    if not fresh:
        return kept
    result: list[Found] = []
    index = 0
    for one in fresh:
        while index < len(kept) and kept[index].end <= one.start:
            result.append(kept[index])
            index += 1
        start = max(one.start, result[-1].end) if result else one.start
        end = min(one.end, kept[index].start) if index < len(kept) else one.end
        if start == one.start and end == one.end:
            result.append(one)
        elif index < len(kept) and one.start < kept[index].start and kept[index].end <= one.end:
            # A known format within a longer value, such as a prefix of one's own before a token: all of it goes.
            result.append(Found(one.start, one.end, kept[index].kind, one.value))
            while index < len(kept) and kept[index].end <= one.end:
                index += 1
    result.extend(kept[index:])
    return result
