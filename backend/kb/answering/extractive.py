"""The `extractive` provider: the best sentences of the evidence, verbatim, each with its number.

Nothing is generated. A sentence is scored by the share of the question's weight it carries (see `terms`), by what its
neighbours, heading and passage add, by whether it can hold the kind of answer asked for, and by its passage's
relevance. The weights were set on the even questions of KorQuAD and on XQuAD in English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb.answering.terms import overlap, rarity, terms
from kb.answering.units import Unit, heads_rows, units
from kb.domain.answers import ModelRef
from kb.domain.text import fold
from kb.retrieval.values import Hit

EXTRACTIVE = ModelRef(id="extractive-v1", provider="extractive")

MAX_SENTENCES = 3
MAX_CHARACTERS = 600

_NEIGHBOUR, _PASSAGE, _HEADING, _KIND, _RELEVANCE, _FIRST = 0.20, 0.45, 0.10, 0.20, 0.25, 0.03
_NEAR_BEST = 0.6
"""A further sentence must score this share of the best one's score."""

_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|big|large|tall|often)\b|\bwhat (?:percent|number|year|date|time)"
    r"|\bwhen\b|\bwhich year\b|몇|얼마|언제|며칠|년도|날짜|多少|几|何时|哪年|哪一年|什么时候|多[大长久高远]|第几",
)
_WHY = re.compile(r"\bwhy\b|\breasons?\b|왜|이유|为什么|为何|原因")
_NAME = re.compile(r"\b(?:who|whom|whose|where)\b")
_DIGIT = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half|third)\b"
)
_BECAUSE = re.compile(
    r"\b(?:because|since|reason|so that|due to|in order|to avoid)\b"
    r"|때문|이유|위해|므로|니까|因为|由于|原因|所以|为了|因此"
)
_ASKS = re.compile(r"[?？][\"'”’」』)\]]*\Z")
_ENDED = re.compile(r"[.!?…:;。！？：；][\"'”’」』）)\]]*\Z")
_CODE = re.compile(
    r"\A(?://|/\*|@?import\b.*['\"{]|from \S+ import\b|export\b|const\b|var\b|let \w+ ?="
    r"|def \w+\(|fn \w+\(|function\b|return\b)"
    r"|[;{}]\Z|\A<.*>\Z|=> ?[({]?\Z",
    re.DOTALL,
)
_HEADING_LENGTH = 60
_WORDS = re.compile(r"\w+")
_CAPITAL = re.compile(r"(?<=\s)[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class Extract:
    """A unit of the hit at index `hit` (from 0) and its score."""

    hit: int
    unit: Unit
    score: float


def best_sentences(question: str, hits: Sequence[Hit]) -> list[Extract]:
    """Return the units that answer best, those of the best passage first, each passage's in its own order.

    Beside prose no code is quoted. Empty only when the hits hold no words.
    """
    scored = _scored(question, hits)
    chosen: list[Extract] = []
    seen: set[str] = set()
    size = 0
    for extract in sorted(scored, key=lambda e: (-e.score, e.hit, e.unit.start)):
        text = hits[extract.hit].stored.chunk.text[extract.unit.start : extract.unit.end]
        plain = fold(text)
        if chosen and (extract.score < _NEAR_BEST * chosen[0].score or size + len(text) > MAX_CHARACTERS):
            continue
        # Chunks overlap: the same sentence must not be quoted twice.
        if plain in seen or (chosen and _is_code(hits, extract) and not _is_code(hits, chosen[0])):
            continue
        seen.add(plain)
        chosen.append(extract)
        size += len(text)
        if len(chosen) == MAX_SENTENCES:
            break
    # `chosen` falls by score: the place of a passage is that of its best unit.
    places: dict[int, int] = {}
    for extract in chosen:
        places.setdefault(extract.hit, len(places))
    return sorted(chosen, key=lambda e: (places[e.hit], e.unit.start))


def _is_code(hits: Sequence[Hit], extract: Extract) -> bool:
    return hits[extract.hit].stored.media == "code"


def best_unit(claim: str, text: str) -> Unit | None:
    """Return the unit of `text` that shares most with `claim`, None when none shares anything."""
    found = units(text)
    bags = [terms(text[unit.start : unit.end]) for unit in found]
    weights = rarity(bags)
    wanted = terms(claim)
    scores = [overlap(wanted, bag, weights) for bag in bags]
    best = max(range(len(found)), key=lambda i: (scores[i], -i), default=None)
    return found[best] if best is not None and scores[best] > 0 else None


def _scored(question: str, hits: Sequence[Hit]) -> list[Extract]:
    texts = [hit.stored.chunk.text for hit in hits]
    parts = [units(text) for text in texts]
    bags = [[terms(text[u.start : u.end]) for u in found] for text, found in zip(texts, parts, strict=True)]
    weights = rarity(bag for passage in bags for bag in passage)
    wanted = terms(question)
    top = max((hit.relevance for hit in hits), default=0.0) or 1.0
    extracts: list[Extract] = []
    for index, (hit, found, passage) in enumerate(zip(hits, parts, bags, strict=True)):
        shares = [overlap(wanted, bag, weights) for bag in passage]
        whole = overlap(wanted, frozenset().union(*passage), weights)
        heading = overlap(wanted, terms(" ".join((hit.stored.title, *hit.stored.chunk.heading_path))), weights)
        for i, unit in enumerate(found):
            said = texts[index][unit.start : unit.end]
            if _is_heading(said, hit) or heads_rows(texts[index], unit):
                continue
            kind = _fits_kind(question, said)
            near = max(shares[max(0, i - 1) : i] + shares[i + 1 : i + 2], default=0.0)
            score = (
                shares[i]
                + _NEIGHBOUR * near
                + _PASSAGE * whole
                + _HEADING * heading
                + _KIND * kind
                + _RELEVANCE * hit.relevance / top
                + _FIRST * (i == 0)
            )
            score *= _substance(wanted, passage[i], kind) * _form(texts[index], unit, hit.stored.media)
            extracts.append(Extract(index, unit, score))
    return extracts


def _is_heading(text: str, hit: Hit) -> bool:
    """Return whether a unit is the title or a heading of its passage: that answers nothing by itself."""
    words = _WORDS.findall(fold(text))
    return any(words == _WORDS.findall(fold(name)) for name in (hit.stored.title, *hit.stored.chunk.heading_path))


def _substance(question: frozenset[str], unit: frozenset[str], kind: float) -> float:
    """Return less than 1 for a unit that says hardly anything the question does not: a title, a question back.

    One word more is enough where it is of the kind asked for: the other cell of a table row.
    """
    new = len(unit - question)
    return 1.0 if new + kind >= 2 else 0.4 + 0.3 * new  # noqa: PLR2004 - two words beyond the question can be an answer


def _form(text: str, unit: Unit, media: str) -> float:
    """Return less than 1 for what stands in a text without telling: a question, a heading, code."""
    said = text[unit.start : unit.end]
    weight = 1.0
    if _ASKS.search(said):
        weight *= 0.6
    if _CODE.search(said):
        weight *= 0.6
    elif media == "code":
        # Comments tell something, and less than the note they come from.
        weight *= 0.7
    if _heads(text, unit):
        weight *= 0.7
    return weight


def _heads(text: str, unit: Unit) -> bool:
    """Return whether a unit is a short line without a stop that stands above others, as headings in chunks do."""
    before, after = text[: unit.start].rpartition("\n")[2], text[unit.end : unit.end + 2]
    if before.strip().startswith("#"):
        return True
    opens = not before.strip() and (unit.start <= len(before) or text[: unit.start - len(before)].endswith("\n\n"))
    is_short = unit.end - unit.start <= _HEADING_LENGTH
    said = text[unit.start : unit.end]
    return opens and is_short and after[:1] == "\n" and after != "\n\n" and not _ENDED.search(said) and "|" not in said


def _fits_kind(question: str, text: str) -> float:
    asked = question.casefold()
    if _NUMBER.search(asked):
        return 1.0 if _DIGIT.search(text.casefold()) else 0.0
    if _WHY.search(asked):
        return 1.0 if _BECAUSE.search(text.casefold()) else 0.0
    if _NAME.search(asked):
        known = {word.casefold() for word in re.findall(r"\w+", question)}
        return 1.0 if any(word.casefold() not in known for word in _CAPITAL.findall(text)) else 0.0
    return 0.0
