"""Claims: each sentence of an answer, the evidence it names, and the words of that evidence which bear it best.

Quotes are verbatim and found by their place in the chunk, never by what a model says the chunk says. Support is
`supported` only where the sentence itself is the quote; for a model's own words nothing is claimed yet (None).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb.answering.extractive import best_unit
from kb.answering.markers import Piece
from kb.domain.answers import AnswerCitation, Claim
from kb.domain.citations import Citation, cite
from kb.domain.errors import InvalidInput
from kb.domain.placed import spans_between
from kb.domain.text import sentences
from kb.retrieval.values import Hit

SUPPORTED = "supported"
_TRAILING = ".!?…。！？．\"'”’」』）) \t"


@dataclass(frozen=True, slots=True)
class Quote:
    """Characters `start` to `end` of the text of the chunk behind evidence `number`."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer without its markers, and the evidence numbers it names, each once, in order."""

    text: str
    numbers: tuple[int, ...]


def answer_sentences(pieces: Iterable[Piece]) -> list[Sentence]:
    """Return the sentences of an answer.

    Markers belong to the sentence they follow, also behind its full stop; a sentence's text is without them.
    """
    text = ""
    marks: list[tuple[int, int]] = []
    for piece in pieces:
        if piece.number is None:
            text += piece.text
        else:
            marks.append((len(text), piece.number))
    found: list[Sentence] = []
    spans = list(sentences(text))
    for i, (start, end) in enumerate(spans):
        until = spans[i + 1][0] if i + 1 < len(spans) else len(text)
        # A marker at the very start of a sentence stood behind the stop of the one before.
        numbers = [number for place, number in marks if (place > start or i == 0) and place <= until]
        if any(letter.isalnum() for letter in text[start:end]):
            found.append(Sentence(text[start:end], tuple(dict.fromkeys(numbers))))
    return found


def locate(sentence: Sentence, hits: Mapping[int, Hit]) -> list[Quote]:
    """Return, for each number a sentence names, the place in that chunk which says it best."""
    quotes: list[Quote] = []
    for number in sentence.numbers:
        text = hits[number].stored.chunk.text
        plain = sentence.text.strip(_TRAILING)
        start = text.find(plain) if plain else -1
        if start >= 0:
            quotes.append(Quote(number, start, start + len(plain)))
            continue
        unit = best_unit(sentence.text, text)
        if unit is not None:
            quotes.append(Quote(number, unit.start, unit.end))
    return quotes


def claim(sentence: Sentence, quotes: Sequence[Quote], hits: Mapping[int, Hit], shown: Mapping[int, int]) -> Claim:
    """Return the claim of a model's sentence: the quote of its first number, support not judged."""
    quote = quotes[0] if quotes else None
    text = hits[quote.number].stored.chunk.text[quote.start : quote.end] if quote else None
    return Claim(sentence.text, tuple(shown[number] for number in sentence.numbers), text, None)


def citations(quotes: Sequence[Quote], hits: Mapping[int, Hit], shown: Mapping[int, int]) -> tuple[AnswerCitation, ...]:
    """Return one citation for each number shown, in their order, narrowed to the places quoted under it."""
    return tuple(
        cited(shown[number], hits[number], [quote for quote in quotes if quote.number == number])
        for number in sorted(shown, key=lambda n: shown[n])
    )


def cited(marker: int, hit: Hit, quotes: Sequence[Quote]) -> AnswerCitation:
    """Return the citation `marker` of a hit, narrowed to `quotes` of it; without any it is the whole chunk."""
    chunk = hit.stored.chunk
    first = quotes[0] if quotes else Quote(0, 0, len(chunk.text))
    return AnswerCitation(
        marker=marker,
        citation=narrowed(hit, quotes),
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        quote=chunk.text[first.start : first.end],
        relevance=hit.relevance,
        channels=hit.scores.channels,
        is_edited=hit.stored.is_edited,
    )


def narrowed(hit: Hit, quotes: Sequence[Quote]) -> Citation:
    """Return the place of the quotes; the hit's own where they stand in text without places, or there are none."""
    if not quotes:
        return hit.citation
    chunk = hit.stored.chunk
    start, end = min(quote.start for quote in quotes), max(quote.end for quote in quotes)
    try:
        return cite(hit.stored.path, spans_between(chunk.segments, start, end), chunk.section_label)
    except InvalidInput:
        return hit.citation
