from __future__ import annotations

import pytest

from kb.answering.gates import gate, top_score
from kb.domain.answers import RefusalReason
from tests.fakes.evidence import hit, result


def test_an_empty_library_has_no_index() -> None:
    assert gate(result("q", [], passages=0), 0.3) is RefusalReason.NO_INDEX


def test_a_search_in_which_no_channel_worked_has_no_index() -> None:
    assert gate(result("q", [], channels=()), 0.3) is RefusalReason.NO_INDEX


def test_no_hits_among_passages_is_no_chunks() -> None:
    assert gate(result("q", []), 0.3) is RefusalReason.NO_CHUNKS


def test_the_best_hit_under_the_gate_refuses_and_at_the_gate_passes() -> None:
    hits = [hit(1, "a", relevance=0.29), hit(2, "b", relevance=0.1)]
    assert gate(result("q", hits), 0.30) is RefusalReason.SCORE_GATE
    assert gate(result("q", hits), 0.29) is None
    assert top_score(result("q", hits)) == 0.29


def test_the_gate_looks_at_the_best_relevance_wherever_it_stands() -> None:
    assert gate(result("q", [hit(1, "a", relevance=0.2), hit(2, "b", relevance=0.6)]), 0.3) is None


@pytest.mark.parametrize("question", ["?!", "\u200b\u200b", "\x00\x01", "🦀"])
def test_a_question_without_a_letter_or_digit_is_not_answered(question: str) -> None:
    assert gate(result(question, [hit(1, "a", relevance=0.9)]), 0.3) is RefusalReason.SCORE_GATE
    assert gate(result(f"{question} 가", [hit(1, "a", relevance=0.9)]), 0.3) is None
