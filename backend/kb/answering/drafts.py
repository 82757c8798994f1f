"""Drafts: an answer's content before it is dated, numbered and kept; by extract, by a model, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb.answering.claims import (
    SUPPORTED,
    Quote,
    answer_sentences,
    citations,
    cited,
    claim,
    locate,
    narrowed,
)
from kb.answering.extractive import EXTRACTIVE, best_sentences
from kb.answering.generation import Generation
from kb.answering.markers import without_look_alikes
from kb.answering.phrases import phrases
from kb.answering.ports import PackedChunk
from kb.answering.prompt import Prompt
from kb.domain.answers import AnswerCitation, Claim, ModelRef, RefusalReason
from kb.domain.places import LinePlace
from kb.retrieval.values import Hit

NEAREST = 3
"""How many candidates a refusal shows."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer's content. `degraded` says what was less than asked for, in stable words."""

    text: str
    grounded: bool
    model: ModelRef
    refusal_reason: RefusalReason | None = None
    citations: tuple[AnswerCitation, ...] = ()
    claims: tuple[Claim, ...] = ()
    packed: tuple[PackedChunk, ...] = ()
    prompt: Prompt | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = "stop"
    degraded: tuple[str, ...] = ()


def refused(question: str, hits: Sequence[Hit], reason: RefusalReason, model: ModelRef) -> Draft:
    """Return a refusal in the question's language, with the nearest candidates."""
    return Draft(
        text=phrases(question).refusals[reason],
        grounded=False,
        model=model,
        refusal_reason=reason,
        citations=_nearest(hits[:NEAREST]),
    )


def extracted(question: str, hits: Sequence[Hit]) -> Draft:
    """Return the best sentences of the evidence, each a claim that is its own quote."""
    chosen = best_sentences(question, hits)
    if not chosen:
        return refused(question, hits, RefusalReason.NO_CHUNKS, EXTRACTIVE)
    sources: list[_Source] = []
    claims: list[Claim] = []
    text = ""
    for extract in chosen:
        hit = hits[extract.hit]
        chunk_text = hit.stored.chunk.text
        quote = Quote(extract.hit + 1, extract.unit.start, extract.unit.end)
        last = sources[-1] if sources else None
        joined = last is not None and last.holds(hit, quote)
        if last is None or not joined:
            sources.append(_Source(hit, [quote]))
        else:
            last.quotes.append(quote)
        before = last.quotes[-2 if joined else -1] if last else None
        goes_on = joined and before is not None and not chunk_text[before.end : quote.start].strip(" ")
        sentence = chunk_text[quote.start : quote.end]
        text += (" " if goes_on else "\n" if text else "") + f"{_one_line(sentence)} [{len(sources)}]"
        claims.append(Claim(_one_line(sentence), (len(sources),), sentence, SUPPORTED))
    used = dict.fromkeys(source.quotes[0].number for source in sources)
    return Draft(
        text=text,
        grounded=True,
        model=EXTRACTIVE,
        citations=tuple(cited(n, source.hit, source.quotes) for n, source in enumerate(sources, start=1)),
        claims=tuple(claims),
        packed=tuple(_packed(number, hits[number - 1]) for number in used),
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """Quotes of one hit that stand together: one marker, one place."""

    hit: Hit
    quotes: list[Quote]

    def holds(self, hit: Hit, quote: Quote) -> bool:
        """Return whether `quote` stands where these do, or in the very next line."""
        if hit is not self.hit:
            return False
        here, there = narrowed(hit, self.quotes).place, narrowed(hit, [quote]).place
        if isinstance(here, LinePlace) and isinstance(there, LinePlace):
            return here.start <= there.start <= here.end + 1
        return here == there


def written(question: str, hits: Sequence[Hit], prompt: Prompt, made: Generation, model: ModelRef) -> Draft:
    """Return the answer a model wrote: its sentences, their quotes, its citations.

    Without a single valid marker it is a refusal (`citation_check`), unless the person stopped it.
    """
    by_number = dict(enumerate(hits, start=1))
    said = answer_sentences(made.pieces)
    places = [locate(sentence, by_number) for sentence in said]
    found = citations([quote for quotes in places for quote in quotes], by_number, made.shown)
    if found or made.finish_reason == "aborted":
        draft = Draft(
            text=made.text,
            grounded=bool(found),
            model=model,
            citations=found,
            claims=tuple(
                claim(sentence, quotes, by_number, made.shown) for sentence, quotes in zip(said, places, strict=True)
            ),
        )
    else:
        draft = refused(question, hits, RefusalReason.CITATION_CHECK, model)
    return with_generation(draft, prompt, made)


def with_generation(draft: Draft, prompt: Prompt, made: Generation) -> Draft:
    """Return `draft` with what the generation read and cost, and what was less than asked for."""
    said = (
        ("evidence_dropped", prompt.dropped > 0),
        ("evidence_cut", prompt.cut),
        ("unknown_markers", bool(made.dropped_markers)),
        ("cut_by_length", made.finish_reason == "length"),
        ("stopped", made.finish_reason == "aborted"),
        ("repetition_cut", made.finish_reason == "repetition"),
    )
    return replace(
        draft,
        packed=prompt.packed,
        prompt=prompt,
        prompt_tokens=made.prompt_tokens,
        completion_tokens=made.completion_tokens,
        finish_reason=made.finish_reason or "error",
        degraded=(*draft.degraded, *(word for word, holds in said if holds)),
    )


def _one_line(sentence: str) -> str:
    return without_look_alikes(" ".join(sentence.split("\n")))


def _packed(number: int, hit: Hit) -> PackedChunk:
    chunk = hit.stored.chunk
    return PackedChunk(number, chunk.chunk_id, chunk.doc_id, chunk.text)


def _nearest(hits: Sequence[Hit]) -> tuple[AnswerCitation, ...]:
    """Return hits as a refusal shows them: no marker, their score."""
    return tuple(
        AnswerCitation(
            marker=None,
            citation=hit.citation,
            chunk_id=hit.stored.chunk.chunk_id,
            doc_id=hit.stored.chunk.doc_id,
            quote=hit.snippet,
            relevance=hit.relevance,
            channels=hit.scores.channels,
            is_edited=hit.stored.is_edited,
        )
        for hit in hits
    )
