"""Text to search terms, by script and without guessing languages. Pure functions.

Change what any of them returns and `ANALYZER_VERSION` must change too: indexes of another version are
rebuilt, and a golden test holds the output.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import add
from typing import Literal, NamedTuple

from kb.adapters.tantivy.scripts import CJK, marks, simplified, stem, triples

ANALYZER_VERSION = "2"

Kind = Literal["word", "compound", "stem", "triple", "pair", "start", "single"]

_LONGEST_WORD, _LONGEST_COMPOUND = 64, 200
_LONGEST_KNOWN = 24
_AROUND = ".,;:!?()[]{}<>|*`\"'“”‘’、。「」《》…"
_FIELDS = ("words", "stem", "gram", "cjk", "cjk1", "order")
RUN_ENDS = "/"
"""The token behind each run of CJK letters in the field `order`."""
_LETTER = rf"[^\W_{CJK}]"
_JOINT = r"(?:[.\-/:@+]|::|->|_++)"
# The look-behind and the possessive quantifiers keep these linear on any input.
_COMPOUND = re.compile(
    rf"(?<!{_LETTER})_*+{_LETTER}++(?:{_JOINT}{_LETTER}++)++_*+|(?<!{_LETTER})[a-z]{{1,2}}(?:\+\+|#)(?!{_LETTER})"
)
_ASCII_WORD = re.compile("[a-z0-9]+")
_ASCII_COMPOUND = re.compile(
    rf"(?<![a-z0-9])_*+[a-z0-9]++(?:{_JOINT}[a-z0-9]++)++_*+|(?<![a-z0-9])[a-z]{{1,2}}(?:\+\+|#)(?![a-z0-9])"
)
_ASCII_WORD_OR_NAME = re.compile(r"(?<![a-z0-9])[a-z]{1,2}(?:\+\+|#)(?![a-z0-9])|[a-z0-9]+")
_MAY_JOIN = re.compile("[-./:@+_#]")
_HUMP = re.compile("[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_IDENTIFIER = re.compile("[A-Za-z][A-Za-z0-9]*+")
_HUMP_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_RUN = re.compile(f"[{CJK}]+")


class WordTerms(NamedTuple):
    """Terms of everything that is not CJK, each as often as it stands in the text.

    Attributes:
        words: folded words with their accents, and the parts of `camelCase`.
        compounds: whole identifiers, paths, versions, numbers with points, `c++`.
        stems: of Latin and Greek words.
        triples: letters of other alphabets, three by three.
    """

    words: list[str]
    compounds: list[str]
    stems: list[str]
    triples: list[str]


class CjkTerms(NamedTuple):
    """Terms of runs of Han, Kana and Hangul, in Simplified Chinese.

    Attributes:
        pairs: letters two by two, never across the end of a run.
        starts: the first pair of each run with a `~`: words begin there more often.
        singles: every letter.
        lone: letters that are a whole run.
    """

    pairs: list[str]
    starts: list[str]
    singles: list[str]
    lone: list[str]


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a question looks for, each term once.

    Attributes:
        head_words, head_pairs: looked up in headings.
        letters: every CJK letter; not looked for, only asked whether the index has it.
    """

    by_kind: tuple[tuple[Kind, tuple[str, ...]], ...]
    head_words: tuple[str, ...]
    head_pairs: tuple[str, ...]
    letters: tuple[str, ...]


def word_terms(text: str) -> WordTerms:
    """Return the terms of all that is not CJK."""
    return _word_terms(unicodedata.normalize("NFKC", text))


def cjk_terms(text: str) -> CjkTerms:
    """Return the terms of runs of Han, Kana and Hangul."""
    return _cjk_terms(unicodedata.normalize("NFKC", text))


def _word_terms(normal: str) -> WordTerms:
    folded = normal.casefold()
    ascii_only = folded.isascii()
    words = (_ASCII_WORD if ascii_only else _any_word()).findall(folded)
    # A compound holds no space and is not all letters: most of the text need not be looked at.
    rest = " ".join([word for word in folded.split() if not word.isalpha()])
    compounds = (_ASCII_COMPOUND if ascii_only else _COMPOUND).findall(rest) if _MAY_JOIN.search(rest) else []
    words += _hump_parts(normal)
    if max(map(len, words), default=0) > _LONGEST_WORD:
        words = [word[:_LONGEST_WORD] for word in words]
    return WordTerms(
        words,
        [compound[:_LONGEST_COMPOUND] for compound in compounds],
        [short for short in map(stem, words) if short],
        [] if ascii_only else " ".join(filter(None, map(triples, words))).split(),
    )


def _cjk_terms(normal: str) -> CjkTerms:
    runs = [] if normal.isascii() else _RUN.findall(normal)
    if not runs:
        return CjkTerms([], [], [], [])
    joined = " ".join(runs).translate(simplified())
    runs = joined.split(" ")
    return CjkTerms(
        [pair for pair in map(add, joined, joined[1:]) if " " not in pair],
        [f"{run[:2]}~" for run in runs if len(run) > 1],
        list(joined.replace(" ", "")),
        [run for run in runs if len(run) == 1],
    )


def index_text(text: str, heading: str) -> Iterator[tuple[str, str]]:
    """Yield (field, terms separated by spaces) for a chunk; empty fields are left out.

    No term crosses white space, so the text is analysed piece by piece, and pieces seen before are remembered.
    """
    pieces = unicodedata.normalize("NFKC", text).split()
    found = [_known_piece(piece) if len(piece) <= _LONGEST_KNOWN else _piece(piece) for piece in pieces]
    for field, terms in zip(_FIELDS, zip(*found, strict=True), strict=False):
        joined = " ".join(filter(None, terms))
        if joined:
            yield field, joined
    head = " ".join([*_head_words(word_terms(heading)), *cjk_terms(heading).pairs])
    if head:
        yield "head", head


def query_terms(text: str) -> QueryTerms:
    """Return what to look for; single letters only where a CJK run is one letter long."""
    words, cjk = word_terms(text), cjk_terms(text)
    by_kind: tuple[tuple[Kind, list[str]], ...] = (
        ("word", words.words),
        ("compound", words.compounds),
        ("stem", words.stems),
        ("triple", words.triples),
        ("pair", cjk.pairs),
        ("start", cjk.starts),
        ("single", cjk.lone),
    )
    return QueryTerms(
        tuple((kind, _once(found)) for kind, found in by_kind),
        _once(_head_words(words)),
        _once(cjk.pairs),
        _once(cjk.singles),
    )


def in_order(text: str) -> list[str]:
    """Return the folded words (also `c++`) and single CJK letters of a text as they follow each other, for phrases.

    A `/` stands behind each run of CJK letters, so that no phrase joins the end of one word with the start of another.
    """
    return [token for piece in unicodedata.normalize("NFKC", text).split() for token in _in_order(piece)]


def _in_order(piece: str) -> list[str]:
    folded = piece.casefold()
    if folded.isascii():
        return [word[:_LONGEST_WORD] for word in _ASCII_WORD_OR_NAME.findall(folded)]
    found: list[str] = []
    for match in _word_or_run().finditer(folded.translate(simplified())):
        token = match[0]
        found += [*token, RUN_ENDS] if _RUN.match(token) else [token[:_LONGEST_WORD]]
    return found


def _piece(piece: str) -> tuple[str, str, str, str, str, str]:
    """Return the terms of a text without white space, as `_FIELDS` names them."""
    core = piece.strip(_AROUND)
    if core.isalpha():
        # Marks around a plain word add no term; most pieces are a known word with some mark.
        if len(core) < len(piece):
            return _known_piece(core) if len(core) <= _LONGEST_KNOWN else _piece(core)
        if core.isascii() and (core.islower() or core.istitle()):
            word = core.casefold()[:_LONGEST_WORD]
            return word, stem(word), "", "", "", word
    cjk = _cjk_terms(piece)
    if cjk.singles and _RUN.fullmatch(core):
        singles = " ".join(cjk.singles)
        return "", "", "", " ".join(cjk.pairs + cjk.starts), singles, f"{singles} {RUN_ENDS}"
    words = _word_terms(piece)
    return (
        " ".join(words.words + words.compounds),
        " ".join(words.stems),
        " ".join(words.triples),
        " ".join(cjk.pairs + cjk.starts),
        " ".join(cjk.singles),
        " ".join(_in_order(piece)),
    )


_known_piece = lru_cache(32_768)(_piece)


@cache
def _any_word() -> re.Pattern[str]:
    # Made when first used: finding every combining mark takes as long as the rest of an import.
    return re.compile(rf"{_LETTER}(?:{_LETTER}|[{marks()}])*+")


@cache
def _word_or_run() -> re.Pattern[str]:
    named = rf"(?<!{_LETTER})[a-z]{{1,2}}(?:\+\+|#)(?!{_LETTER})"
    return re.compile(rf"{named}|{_any_word().pattern}|{_RUN.pattern}")


def _hump_parts(text: str) -> list[str]:
    """Return the parts of identifiers such as `getUserName` and `HTTPServer`, folded."""
    mixed = " ".join([word for word in text.split() if not (word.islower() or word.istitle())])
    if not mixed or not _HUMP.search(mixed):
        return []
    found: list[str] = []
    for name in _IDENTIFIER.findall(mixed):
        if not name.islower() and not name.istitle() and _HUMP.search(name):
            parts = _HUMP_PART.findall(name)
            found += [part.casefold() for part in parts] if len(parts) > 1 else []
    return found


def _head_words(terms: WordTerms) -> list[str]:
    # One field for headings: the mark keeps stems apart from words that look like them.
    return [*terms.words, *(f"{short}~" for short in terms.stems), *terms.triples]


def _once(terms: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms))
