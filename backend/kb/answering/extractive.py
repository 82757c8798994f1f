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
from kb.answering.units import Unit, units
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
_CAPITAL = re.compile(r"(?<=\s)[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class Extract:
    """A unit of the hit at index `hit` (from 0) and its score."""

    hit: int
    unit: Unit
    score: float


def best_sentences(question: str, hits: Sequence[Hit]) -> list[Extract]:
    """Return the units that answer best, in the order of the evidence; empty only when the hits hold no words."""
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
        if plain in seen:
            continue
        seen.add(plain)
        chosen.append(extract)
        size += len(text)
        if len(chosen) == MAX_SENTENCES:
            break
    return sorted(chosen, key=lambda e: (e.hit, e.unit.start))


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
            if _is_heading(texts[index][unit.start : unit.end], hit):
                continue
            near = max(shares[max(0, i - 1) : i] + shares[i + 1 : i + 2], default=0.0)
            score = (
                shares[i]
                + _NEIGHBOUR * near
                + _PASSAGE * whole
                + _HEADING * heading
                + _KIND * _fits_kind(question, texts[index][unit.start : unit.end])
                + _RELEVANCE * hit.relevance / top
                + _FIRST * (i == 0)
            )
            extracts.append(Extract(index, unit, score * _substance(wanted, passage[i])))
    return extracts


def _is_heading(text: str, hit: Hit) -> bool:
    """Return whether a unit is the title or a heading of its passage: that answers nothing by itself."""
    return text in (hit.stored.title, *hit.stored.chunk.heading_path)


def _substance(question: frozenset[str], unit: frozenset[str]) -> float:
    """Return less than 1 for a unit that says hardly anything the question does not: a title, a question back."""
    new = len(unit - question)
    return 1.0 if new >= 2 else 0.4 + 0.3 * new  # noqa: PLR2004 - two words beyond the question can be an answer


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
