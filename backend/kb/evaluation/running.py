"""A run: every question of a suite through the real search, and through the answer pipeline where that is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kb.answering.gates import top_score
from kb.domain.answers import Answer
from kb.domain.citations import cite
from kb.domain.errors import KebabError
from kb.domain.search import SearchMode
from kb.evaluation.matching import Found, is_same_place, rank_of
from kb.evaluation.outcomes import Cited, QueryOutcome, TargetOutcome
from kb.evaluation.suites import GoldenQuery, Suite, Target
from kb.retrieval.results import SearchResult
from kb.retrieval.values import Hit, RetrievalSettings, SearchQuery

Ask = Callable[[SearchQuery], tuple[SearchResult, Answer]]


@dataclass(frozen=True, slots=True)
class KnownChunk:
    """A chunk the library knows: its place as a citation URI; `is_shown` when a search can find it."""

    uri: str
    is_shown: bool


class Searching(Protocol):
    """The retriever."""

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question."""


@dataclass(frozen=True, slots=True)
class Library:
    """What a run asks.

    Attributes:
        searching: the real retriever.
        ask: the real answer pipeline; None in a run of searches alone.
        chunk: what the library knows of a chunk id; None when it never heard of it.
    """

    searching: Searching
    ask: Ask | None
    chunk: Callable[[str], KnownChunk | None]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run asks.

    Attributes:
        mode: of questions that name none.
        retrieval: the settings of every search.
        score_gate: a search whose best hit is less relevant counts as a refusal, as it would for an answer.
    """

    mode: SearchMode
    retrieval: RetrievalSettings
    score_gate: float


def run_suite(
    suite: Suite,
    library: Library,
    settings: RunSettings,
    *,
    each: Callable[[int], bool] = lambda _done: True,
    clock_ms: Callable[[], float] = lambda: time.perf_counter() * 1000,
) -> tuple[QueryOutcome, ...] | None:
    """Ask every question in order; None when it was stopped.

    Args:
        suite: the questions.
        library: what is asked.
        settings: how.
        each: told before each question how many are done; False stops.
        clock_ms: a monotonic clock in milliseconds.

    Raises:
        KebabError: a search could not run.
    """
    outcomes = []
    for number, golden in enumerate(suite.queries):
        if not each(number):
            return None
        outcomes.append(_outcome(golden, library, settings, clock_ms))
    return tuple(outcomes)


def place_of(hit: Hit) -> str:
    """Return the place of the whole passage of a hit as a citation URI."""
    chunk = hit.stored.chunk
    try:
        return cite(hit.stored.path, chunk.source_spans, chunk.section_label).to_uri()
    except KebabError:
        return hit.citation.to_uri()


def _outcome(
    golden: GoldenQuery, library: Library, settings: RunSettings, clock_ms: Callable[[], float]
) -> QueryOutcome:
    query = SearchQuery(golden.query, golden.mode or settings.mode, golden.filters, settings.retrieval)
    started = clock_ms()
    if library.ask is None:
        result, answer = library.searching.search(query), None
    else:
        result, answer = library.ask(query)
    took = clock_ms() - started
    targets = [_looked_for(target, library) for target in golden.targets]
    found = _found(result.hits)
    refused = top_score(result) < settings.score_gate if answer is None else not answer.grounded
    reason = answer.refusal_reason if answer else None
    return QueryOutcome(
        query_id=golden.query_id,
        query=golden.query,
        tags=golden.tags,
        should_refuse=golden.should_refuse,
        refused=refused,
        targets=tuple(replace(one, rank=rank_of(one.target, found, by_place=one.by_place)) for one in targets),
        found=found,
        milliseconds=round(took, 3),
        degraded=tuple(dict.fromkeys(one.reason for one in result.diagnostics.degraded)),
        refusal_reason=(reason.value if reason else "score_gate" if answer is None else None) if refused else None,
        cited=_cited(answer, targets) if answer is not None and answer.grounded else None,
    )


def _looked_for(target: Target, library: Library) -> TargetOutcome:
    """Return how a target is looked for: a chunk of another cut by its place, which the library may still know."""
    if target.level != "chunk":
        return TargetOutcome(target, None, by_place=target.level == "span")
    known = library.chunk(target.chunk_id or "")
    by_place = known is None or not known.is_shown
    return TargetOutcome(replace(target, uri=target.uri or (known.uri if known else None)), None, by_place=by_place)


def _found(hits: Sequence[Hit]) -> tuple[Found, ...]:
    return tuple(
        Found(
            rank=hit.rank,
            chunk_id=hit.stored.chunk.chunk_id,
            doc_id=hit.stored.chunk.doc_id,
            path=str(hit.stored.path),
            uri=place_of(hit),
            relevance=round(hit.relevance, 6),
        )
        for hit in hits
    )


def _cited(answer: Answer, targets: Sequence[TargetOutcome]) -> Cited:
    """Count the citations of an answer that are right, and the expected things they name."""
    right, named = 0, set()
    marked = [one for one in answer.citations if one.marker is not None]
    for one in marked:
        path, uri = str(one.citation.path), one.citation.to_uri()
        hit = [
            number
            for number, looked in enumerate(targets)
            if looked.target.doc in {one.doc_id, path}
            or (looked.target.chunk_id == one.chunk_id and not looked.by_place)
            or (looked.by_place and looked.target.uri is not None and is_same_place(looked.target.uri, uri))
        ]
        right += bool(hit)
        named.update(hit)
    return Cited(len(marked), right, len(named))
