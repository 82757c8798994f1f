"""What a person types in the search box, taken apart. Pure: whatever is typed has a reading.

    budget "profit and loss" -draft tag:work path:"my notes/**" lang:ko type:pdf trust:secondary in:Research
    after:2025-03 before:2026

A colon behind any other word is text (`http://`, `std::vector`, `12:30`), as is a `-` that no letter follows. Colons,
hyphens, letters and quotes of full width, and typographic quotes, are read like the plain ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kb.retrieval.query_values import complaint_about


class PartKind(StrEnum):
    """What a piece of a query is."""

    TEXT = "text"
    PHRASE = "phrase"
    WORD = "word"
    TAG = "tag"
    PATH = "path"
    LANG = "lang"
    TYPE = "type"
    TRUST = "trust"
    IN = "in"
    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class QueryPart:
    """One piece, at the code points `start` to `end` (half open) of what was typed.

    Attributes:
        value: without key, quotes and `-`.
        negated: what has it is left out; phrases and words (always, for `word`) only.
    """

    kind: PartKind
    value: str
    start: int
    end: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """What cannot be meant, at the code points `start` to `end` (half open), and the remedy."""

    start: int
    end: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query taken apart, in the order typed. What has a problem stands among the parts as text."""

    parts: tuple[QueryPart, ...]
    problems: tuple[QueryProblem, ...]

    @property
    def text(self) -> str:
        """Return what is looked for: plain words, and the words of phrases that must stand in the passage."""
        wanted = (part.value for part in self.parts if part.kind is PartKind.TEXT or self._is_wanted_phrase(part))
        return " ".join(wanted)

    @property
    def filters(self) -> tuple[QueryPart, ...]:
        """Return everything but plain words."""
        return tuple(part for part in self.parts if part.kind is not PartKind.TEXT)

    @staticmethod
    def _is_wanted_phrase(part: QueryPart) -> bool:
        return part.kind is PartKind.PHRASE and not part.negated


_KEYS = {kind.value: kind for kind in PartKind if kind not in {PartKind.TEXT, PartKind.PHRASE, PartKind.WORD}}
_ONCE = frozenset({PartKind.PATH, PartKind.LANG, PartKind.TRUST, PartKind.AFTER, PartKind.BEFORE})
_MOST = {PartKind.PHRASE: 20, PartKind.WORD: 20, PartKind.TAG: 100, PartKind.TYPE: 50, PartKind.IN: 100}
_QUOTES = '"\uff02\u201c\u201d\u201e\u201f'
_MINUS = "-\uff0d\u2212"
_KEY = re.compile("([A-Za-z\uff21-\uff3a\uff41-\uff5a]{2,6})[:\uff1a]")
_QUOTED = re.compile(f"[{_QUOTES}]([^{_QUOTES}]*)[{_QUOTES}]")
# Typographic quotes open a phrase inside a run of letters too: Chinese writes no space before them.
_TOKEN = re.compile(f"(?:(?![\u201c\u201e][^{_QUOTES}]*[{_QUOTES}])\\S)+")
_SPACES = re.compile(r"\s*")
_BARE = re.compile(r"\S+")


def parse(text: str) -> ParsedQuery:
    """Take a query apart; linear in its length, and never an error."""
    parts: list[QueryPart] = []
    problems: list[QueryProblem] = []
    counts: dict[tuple[PartKind, bool], int] = {}
    for part, problem in _pieces(text):
        found = problem or _too_many(part, counts)
        if found is not None:
            problems.append(found)
        # As typed, so that taking it apart again finds the same.
        typed = QueryPart(PartKind.TEXT, text[part.start : part.end], part.start, part.end)
        parts.append(part if found is None else typed)
    return ParsedQuery(tuple(parts), tuple(problems))


def to_text(query: ParsedQuery) -> str:
    """Write a query so that `parse` reads the same again, spans aside."""
    return " ".join(map(_written, query.parts))


def _written(part: QueryPart) -> str:
    minus = "-" if part.negated else ""
    if part.kind is PartKind.TEXT:
        return part.value
    if part.kind is PartKind.PHRASE:
        return f'{minus}"{part.value}"'
    if part.kind is PartKind.WORD:
        return f"{minus}{part.value}"
    return f"{part.kind}:" + (f'"{part.value}"' if _BARE.fullmatch(part.value) is None else part.value)


def _pieces(text: str) -> Iterator[tuple[QueryPart, QueryProblem | None]]:
    at = _after_spaces(text, 0)
    while at < len(text):
        part, problem = _piece(text, at)
        yield part, problem
        at = _after_spaces(text, part.end)


def _piece(text: str, at: int) -> tuple[QueryPart, QueryProblem | None]:
    """Read the piece that starts at `at`, which is no space."""
    negated = text[at] in _MINUS and at + 1 < len(text) and (text[at + 1].isalnum() or text[at + 1] in _QUOTES)
    begin = at + negated
    if text[begin] in _QUOTES:
        return _phrase(text, at, begin)
    key = _KEY.match(text, begin)
    kind = _KEYS.get(_folded(key[1])) if key else None
    if key and kind is not None:
        return _filter(text, at, key.end(), kind, negated=negated)
    token = _TOKEN.match(text, begin)
    end = token.end() if token else begin + 1
    if not negated:
        return QueryPart(PartKind.TEXT, text[at:end], at, end), None
    return QueryPart(PartKind.WORD, text[begin:end], at, end, negated=True), None


def _phrase(text: str, at: int, begin: int) -> tuple[QueryPart, QueryProblem | None]:
    quoted = _QUOTED.match(text, begin)
    if quoted is None:
        return _unclosed(text, at, begin)
    part = QueryPart(PartKind.PHRASE, quoted[1].strip(), at, quoted.end(), negated=begin > at)
    if not any(map(str.isalnum, quoted[1])):
        hint = "write a word between the quotes, or leave them out"
        return part, QueryProblem(at, quoted.end(), "no word stands between these quotes", hint)
    return part, None


def _filter(text: str, at: int, begin: int, kind: PartKind, *, negated: bool) -> tuple[QueryPart, QueryProblem | None]:
    """Read the value of a key that ends at `begin`."""
    if begin < len(text) and text[begin] in _QUOTES:
        quoted = _QUOTED.match(text, begin)
        if quoted is None:
            return _unclosed(text, at, begin)
        value, end = quoted[1].strip(), quoted.end()
    else:
        bare = _BARE.match(text, begin)
        value, end = (bare[0], bare.end()) if bare else ("", begin)
    part = QueryPart(kind, value, at, end)
    if negated:
        hint = f'a `-` goes before a word or a "phrase"; to look for the text itself, write "{kind}:{value}"'
        return part, QueryProblem(at, end, f"`{kind}:` cannot be left out", hint)
    found = complaint_about(kind, value)
    return part, QueryProblem(at, end, *found) if found else None


def _unclosed(text: str, at: int, quote: int) -> tuple[QueryPart, QueryProblem]:
    bare = _BARE.match(text, at)
    end = bare.end() if bare else len(text)
    problem = QueryProblem(
        quote, quote + 1, "this quote is not closed", "put a quote behind the phrase, or leave it out"
    )
    return QueryPart(PartKind.TEXT, text[at:end], at, end), problem


def _too_many(part: QueryPart, counts: dict[tuple[PartKind, bool], int]) -> QueryProblem | None:
    kind = PartKind.WORD if part.negated else part.kind  # left-out phrases and words are one list
    if kind is PartKind.TEXT:
        return None
    most = 1 if kind in _ONCE else _MOST[kind]
    place = kind, part.negated
    counts[place] = counts.get(place, 0) + 1
    if counts[place] <= most:
        return None
    if most == 1:
        return QueryProblem(part.start, part.end, f"`{kind}:` stands here twice", "keep one of them")
    return QueryProblem(part.start, part.end, f"more than {most} of one kind", "leave some out")


def _after_spaces(text: str, at: int) -> int:
    spaces = _SPACES.match(text, at)
    return spaces.end() if spaces else at


def _folded(key: str) -> str:
    return unicodedata.normalize("NFKC", key).casefold()
