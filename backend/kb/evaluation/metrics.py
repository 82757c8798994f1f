"""Figures over many questions: means of rankings, refusals, citations, milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.evaluation.matching import answers, documents_of
from kb.evaluation.outcomes import QueryOutcome
from kb.evaluation.ports import Ranking, RankingMeasures

DECIMALS = 4
_OF_RANKINGS = ("recall@1", "recall@3", "recall@5", "recall@10", "mrr", "ndcg@10")


def measured(outcomes: Sequence[QueryOutcome], measures: RankingMeasures) -> tuple[QueryOutcome, ...]:
    """Return the questions with the measures of their rankings, where something is expected."""
    found = measures.measure([ranking_of(one) for one in outcomes if one.targets])
    return tuple(replace(one, metrics=found.get(one.query_id, {})) for one in outcomes)


def ranking_of(outcome: QueryOutcome) -> Ranking:
    """Return a question's hits by name, in which whatever is expected has the name of its target.

    A hit that is several of the expected things stands for each of them; a later hit of the same thing for nothing.
    """
    is_of_documents = all(one.target.level == "doc" for one in outcome.targets)
    waiting = list(dict.fromkeys(outcome.targets))
    names: list[str] = []
    for hit in documents_of(outcome.found) if is_of_documents else outcome.found:
        right = [one for one in waiting if answers(one.target, hit, by_place=one.by_place)]
        names += [f"+{one.target.key}" for one in right] or [f"-{hit.rank}"]
        waiting = [one for one in waiting if one not in right]
    return Ranking(outcome.query_id, tuple(names), frozenset(f"+{one.target.key}" for one in outcome.targets))


def summary(outcomes: Sequence[QueryOutcome]) -> dict[str, float]:
    """Return the figures of questions, 4 decimals; what does not apply to any of them is left out.

    `recall@k`, `mrr`, `ndcg@10`: means over questions with something to find. `refusal_accuracy`: share of all
    questions that are refused as they should be, or not. `citation_precision`: mean share of an answer's citations
    that are right, over answers; `citation_recall`: mean share of what is expected that is cited, over questions with
    something to find. `latency_ms_*`: of the whole question.
    """
    to_find = [one for one in outcomes if not one.should_refuse]
    figures = {name: _mean([one.metrics[name] for one in to_find if name in one.metrics]) for name in _OF_RANKINGS}
    figures["refusal_accuracy"] = _mean([float(one.refused == one.should_refuse) for one in outcomes])
    cited = [one.cited for one in to_find if one.cited is not None]
    if any(one.cited is not None for one in outcomes):
        figures["citation_precision"] = _mean([one.right / one.count for one in cited if one.count])
        shares = [one.cited.named / len(one.targets) if one.cited else 0.0 for one in to_find]
        figures["citation_recall"] = _mean(shares)
    times = sorted(one.milliseconds for one in outcomes)
    figures["latency_ms_mean"] = _mean(times)
    figures["latency_ms_p50"] = percentile(times, 0.5)
    figures["latency_ms_p95"] = percentile(times, 0.95)
    return {name: round(value, DECIMALS) for name, value in figures.items() if value is not None}


def percentile(rising: Sequence[float], share: float) -> float | None:
    """Return the value that this share of all (0-1) does not exceed: the nearest rank; None of nothing."""
    if not rising:
        return None
    return rising[max(0, -int(-share * len(rising) // 1) - 1)]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
