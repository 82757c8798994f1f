"""Figures, held against counting them by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.evaluation.pytrec import PytrecMeasures
from kb.evaluation.metrics import measured, percentile, ranking_of, summary
from kb.evaluation.outcomes import Cited, QueryOutcome
from kb.evaluation.ports import Ranking
from kb.evaluation.resampling import paired_interval
from kb.evaluation.suites import Target
from tests.unit.evaluation.made import hit, outcome


@given(
    names=st.lists(st.sampled_from("abcdefghijklmno"), unique=True, max_size=15),
    right=st.sets(st.sampled_from("abcdefghijklmnopq"), min_size=1),
)
def test_measures_are_what_counting_gives(names: list[str], right: set[str]) -> None:
    found = PytrecMeasures().measure([Ranking("q", tuple(names), frozenset(right))])["q"]
    for k in (1, 3, 5, 10):
        assert found[f"recall@{k}"] == pytest.approx(len(right & set(names[:k])) / len(right))
    first = next((place for place, name in enumerate(names, 1) if name in right), None)
    assert found["mrr"] == pytest.approx(1 / first if first else 0)
    gain = sum(1 / math.log2(place + 1) for place, name in enumerate(names[:10], 1) if name in right)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(right), 10) + 1))
    assert found["ndcg@10"] == pytest.approx(gain / ideal)


def test_a_question_that_finds_nothing_counts_as_nothing_found() -> None:
    empty = outcome("q", (), ((Target("doc", doc="a.md"), None),))
    (one,) = measured([empty], PytrecMeasures())
    assert one.metrics == {"recall@1": 0, "recall@3": 0, "recall@5": 0, "recall@10": 0, "mrr": 0, "ndcg@10": 0}


def test_several_hits_of_one_document_count_once_and_take_one_rank() -> None:
    found = (hit(1, "a1", doc="a"), hit(2, "a2", doc="a"), hit(3, "b1", doc="b"))
    ranking = ranking_of(outcome("q", found, ((Target("doc", doc="b"), None),)))
    assert ranking.names == ("-1", "+b")


def test_a_hit_that_is_two_expected_things_stands_for_both() -> None:
    found = (hit(1, "a", "a.md#L1-L9"), hit(2, "b", "a.md#L2"))
    targets = ((Target("span", uri="a.md#L2"), None), (Target("span", uri="a.md#L5"), None))
    assert ranking_of(outcome("q", found, targets)).names == ("+a.md#L2", "+a.md#L5", "-2")


def test_refusals_and_citations_are_counted_over_the_questions_they_belong_to() -> None:
    right = outcome("right", (hit(1, "a"),), ((Target("doc", doc="a.md"), 1),), metrics={"mrr": 1.0})
    cited = _with(right, Cited(count=4, right=3, named=1))
    refused_wrongly = outcome("missed", (), ((Target("doc", doc="b.md"), None),), refused=True, metrics={"mrr": 0.0})
    refused_rightly = outcome("none", (), refused=True)
    found = summary([cited, refused_wrongly, refused_rightly])
    assert found["refusal_accuracy"] == 0.6667
    assert found["citation_precision"] == 0.75
    assert found["citation_recall"] == 0.5
    assert found["mrr"] == 0.5


def test_a_run_without_answers_has_no_figures_of_citations() -> None:
    found = summary([outcome("q", (), refused=True)])
    assert set(found) == {"refusal_accuracy", "latency_ms_mean", "latency_ms_p50", "latency_ms_p95"}


@given(st.lists(st.floats(0, 1000), min_size=1), st.sampled_from([0.5, 0.95]))
def test_a_percentile_is_a_value_that_this_share_does_not_exceed(values: list[float], share: float) -> None:
    found = percentile(sorted(values), share)
    assert found in values
    assert found is not None
    assert sum(one <= found for one in values) >= share * len(values)
    assert sum(one < found for one in values) < share * len(values) or found == min(values)


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60))
def test_an_interval_holds_the_difference_and_is_the_same_every_time(pairs: list[tuple[float, float]]) -> None:
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    found = paired_interval(a, b, seed=3, rounds=200)
    assert found == paired_interval(a, b, seed=3, rounds=200)
    assert found.delta == pytest.approx((sum(b) - sum(a)) / len(a), abs=5e-5)
    assert -1 <= found.low <= found.high <= 1


def test_an_interval_of_equal_ways_is_nothing() -> None:
    found = paired_interval([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert (found.delta, found.low, found.high) == (0, 0, 0)


def test_an_interval_of_no_questions_is_refused() -> None:
    with pytest.raises(ValueError, match="no questions"):
        paired_interval([], [])


def _with(one: QueryOutcome, cited: Cited) -> QueryOutcome:
    from dataclasses import replace

    return replace(one, cited=cited)
