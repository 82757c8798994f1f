"""Fusion: scores by relevance, ranks by reciprocal rank, ties by a fixed key."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kb.domain.embeddings import ChunkKey
from kb.retrieval.fusion import Evidence, fuse_ranks, fuse_scores
from kb.retrieval.relevance import Background, Calibration, Question
from kb.retrieval.values import ChannelScores

QUESTION = Question(10.0, 0.8, Background(0.80, 0.025, 2.0), Calibration())


def evidence(key: int, text: float | None = None, cosine: float | None = None, **ranks: int) -> Evidence:
    return Evidence(ChunkKey(key), text, cosine, ChannelScores(**ranks), (f"{key:03}.md", 0, str(key)))


MANY = st.lists(st.tuples(st.none() | st.floats(0, 10), st.none() | st.floats(0.6, 1.0)), max_size=20).map(
    lambda rows: [evidence(key, *row) for key, row in enumerate(rows)]
)


@given(MANY, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_change_the_order_of_the_hits(
    candidates: list[Evidence], chance: random.Random
) -> None:
    shuffled = candidates[:]
    chance.shuffle(shuffled)
    assert fuse_scores(candidates, QUESTION) == fuse_scores(shuffled, QUESTION)
    assert fuse_ranks(candidates, QUESTION, 60) == fuse_ranks(shuffled, QUESTION, 60)


@given(MANY)
def test_relevance_falls_from_hit_to_hit_and_every_candidate_stays(candidates: list[Evidence]) -> None:
    fused = fuse_scores(candidates, QUESTION)
    relevances = [hit.relevance for hit in fused]
    assert relevances == sorted(relevances, reverse=True)
    assert {hit.key for hit in fused} == {candidate.key for candidate in candidates}
    assert all(0 <= relevance <= 1 for relevance in relevances)


def test_equal_evidence_is_ordered_by_the_fixed_key() -> None:
    fused = fuse_scores([evidence(3, 5.0, 0.9), evidence(1, 5.0, 0.9), evidence(2, 5.0, 0.9)], QUESTION)
    assert [hit.key for hit in fused] == [1, 2, 3]


def test_a_weak_channel_does_not_drag_a_good_one_down() -> None:
    # Another language: no words in common but one by chance, while the vectors know the answer.
    question = Question(40.0, 0.05, Background(0.78, 0.02, 2.5), Calibration())
    answer, accident = evidence(1, None, 0.88, vector_rank=1), evidence(2, 2.0, 0.80, vector_rank=9, lexical_rank=1)
    assert [hit.key for hit in fuse_scores([accident, answer], question)] == [1, 2]
    assert [hit.key for hit in fuse_ranks([accident, answer], question, 60)] == [2, 1]


def test_reciprocal_ranks_add_up_with_their_weights() -> None:
    both, one = evidence(1, 5.0, 0.9, lexical_rank=2, vector_rank=2), evidence(2, 9.0, 0.7, lexical_rank=1)
    fused = {hit.key: hit.score for hit in fuse_ranks([both, one], QUESTION, 60)}
    assert fused == {1: round(1 / 62 + 1 / 62, 6), 2: round(1 / 61, 6)}
