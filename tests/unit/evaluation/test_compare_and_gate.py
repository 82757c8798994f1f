"""Two runs side by side, and the gate."""

from __future__ import annotations

import json

import pytest

from kb.domain.errors import InvalidInput
from kb.evaluation.compare import compare
from kb.evaluation.gate import gate
from kb.evaluation.outcomes import QueryOutcome, outcome_from_json, outcome_to_json
from kb.evaluation.suites import Target
from tests.unit.evaluation.made import hit, outcome, run

A, B = run("a", {"recall@5": 0.9, "mrr": 0.8}), run("b", {"recall@5": 0.70001, "mrr": 0.9})


def ranked(rank: int | None) -> QueryOutcome:
    return outcome("q", (), ((Target("doc", doc="a.md"), rank),))


@pytest.mark.parametrize(
    ("rank_a", "rank_b", "verdict", "lost"),
    [
        (None, 3, "win", ()),
        (3, None, "loss", ("a.md",)),
        (2, 2, "draw", ()),
        (None, None, "draw", ()),
        (4, 1, "better_rank", ()),
        (1, 4, "worse_rank", ()),
    ],
)
def test_the_verdict_on_a_question(rank_a: int | None, rank_b: int | None, verdict: str, lost: tuple[str, ...]) -> None:
    (one,) = compare(A, B, [ranked(rank_a)], [ranked(rank_b)]).queries
    assert (one.verdict, one.rank_a, one.rank_b, one.regressions) == (verdict, rank_a, rank_b, lost)


def test_a_question_can_be_won_and_have_lost_one_expected_thing() -> None:
    first, second = Target("doc", doc="a.md"), Target("doc", doc="b.md")
    before = outcome("q", (), ((first, 2), (second, None)))
    now = outcome("q", (), ((first, None), (second, 1)))
    found = compare(A, B, [before], [now])
    assert found.queries[0].verdict == "better_rank"
    assert found.queries[0].regressions == ("a.md",)
    assert found.regressions == 1


def test_a_refusal_is_right_or_not() -> None:
    found = compare(A, B, [outcome("q", (), refused=True)], [outcome("q", (), refused=False)])
    assert found.queries[0].verdict == "loss"


def test_deltas_are_b_less_a_in_4_decimals() -> None:
    found = compare(A, B, [ranked(1)], [ranked(1)])
    assert dict(found.deltas) == {"recall@5": -0.2, "mrr": 0.1}


def test_questions_of_one_run_alone_are_listed() -> None:
    other = outcome("new", (), ((Target("doc", doc="a.md"), 1),))
    found = compare(A, B, [ranked(1)], [ranked(1), other])
    assert (found.only_a, found.only_b) == ((), ("new",))
    with pytest.raises(InvalidInput, match="no question in common"):
        compare(A, B, [ranked(1)], [other])


def test_runs_over_other_cuts_match_by_document_and_place_and_say_so() -> None:
    recut = run("b", {"recall@5": 1.0}, policies=["p2"])
    target = Target("chunk", chunk_id="old")
    before = outcome("q", (hit(1, "old", "a.md#L1-L10"),), ((target, 1),))
    now = outcome("q", (hit(1, "x", "b.md#L1-L10"), hit(2, "new", "a.md#L4-L30")), ((target, None),))
    found = compare(A, recut, [before], [now])
    assert found.chunker_version_match == "fallback_doc_span"
    assert (found.queries[0].rank_a, found.queries[0].rank_b) == (1, 2)
    assert "chunking settings: p1 → p2" in found.note
    with pytest.raises(InvalidInput, match="cut otherwise"):
        compare(A, recut, [before], [now], strict_chunker_version=True)


def test_runs_over_one_cut_match_exactly() -> None:
    target = Target("chunk", chunk_id="old", uri="a.md#L1-L10")
    before = outcome("q", (hit(1, "old", "a.md#L1-L10"),), ((target, 1),))
    now = outcome("q", (hit(1, "new", "a.md#L1-L10"),), ((target, None),))
    found = compare(A, run("b", {}), [before], [now], strict_chunker_version=True)
    assert (found.chunker_version_match, found.queries[0].verdict) == ("exact", "loss")


def test_the_note_names_models_and_prompts_that_differ_and_nothing_else() -> None:
    other = run("b", {}, embedding="e5 1234", prompt="rag-v2")
    assert compare(A, other, [ranked(1)], [ranked(1)]).note == "embedding model: None → e5 1234; prompt: None → rag-v2"
    assert compare(A, run("b", {}), [ranked(1)], [ranked(1)]).note == ""


def test_the_gate_names_every_question_that_got_worse_and_why() -> None:
    compared = compare(A, B, [ranked(1)], [ranked(None)])
    found = gate(B, [ranked(None)], minimums={}, drops={}, against=(A, [ranked(1)], compared))
    assert not found.passed
    assert [(one.metric, one.wanted, one.passed) for one in found.checks] == [
        ("recall@5", 0.89, False),
        ("mrr", 0.78, True),
    ]
    (named,) = found.queries
    assert named.query_id == "q"
    assert named.why == "expected a.md: not among 0 hits (rank 1 before)"


def test_the_gate_does_not_name_what_was_wrong_before() -> None:
    compared = compare(A, A, [ranked(None)], [ranked(None)])
    found = gate(A, [ranked(None)], minimums={}, drops={}, against=(A, [ranked(None)], compared))
    assert found.passed
    assert found.queries == ()


@pytest.mark.parametrize(
    ("minimums", "passed"),
    [
        ({"recall@5": 0.9}, True),
        ({"recall@5": 0.9001}, False),
        ({"recall@5": 0.5, "mrr": 0.81}, False),
        ({"latency_ms_p95": 20.0}, True),
        ({"latency_ms_p95": 5.0}, False),
    ],
)
def test_least_figures_and_the_most_of_milliseconds(minimums: dict[str, float], passed: bool) -> None:
    one = run("a", {"recall@5": 0.9, "mrr": 0.8, "latency_ms_p95": 12.0})
    assert gate(one, [ranked(1)], minimums=minimums, drops={}).passed is passed


@pytest.mark.parametrize(
    ("minimums", "drops", "said"),
    [
        ({}, {}, "nothing to go by"),
        ({}, {"mrr": 0.1}, "needs a run to drop from"),
        ({"recal@5": 0.9}, {}, "no figure 'recal@5'"),
    ],
)
def test_a_gate_that_means_nothing_is_refused(minimums: dict[str, float], drops: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        gate(A, [ranked(1)], minimums=minimums, drops=drops)


def test_a_question_that_is_kept_reads_back_as_it_was() -> None:
    target = Target("chunk", chunk_id="c", uri="猫.txt#L1")
    one = outcome("q", (hit(1, "c", "猫.txt#L1"),), ((target, 1),), metrics={"mrr": 1.0})
    assert outcome_from_json(json.loads(json.dumps(outcome_to_json(one)))) == one


def test_leaving_out_a_question_is_no_way_through_the_gate() -> None:
    other = outcome("other", (), ((Target("doc", doc="a.md"), 1),))
    compared = compare(A, A, [ranked(1), other], [other])
    found = gate(A, [other], minimums={}, drops={}, against=(A, [ranked(1), other], compared))
    assert not found.passed
    assert [(one.query_id, one.why) for one in found.queries] == [("q", "not asked any more")]
