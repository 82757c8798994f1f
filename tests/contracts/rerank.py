"""What every model that orders passages again promises."""

from __future__ import annotations

import pytest

from kb.retrieval.ports import Reranker


class RerankerContract:
    """For `reranker`."""

    def test_every_text_has_a_score_from_0_to_1_in_order(self, reranker: Reranker) -> None:
        texts = ["bread in the oven", "the sea is salt", "salt"]
        scores = reranker.scores("the sea is salt", texts, 10)
        assert len(scores) == len(texts)
        assert all(0 <= score <= 1 for score in scores)
        assert max(range(3), key=lambda index: scores[index]) == 1

    def test_the_same_pairs_have_the_same_scores(self, reranker: Reranker) -> None:
        first = reranker.scores("sea", ["the sea", "the oven"], 10)
        assert all(tuple(reranker.scores("sea", ["the sea", "the oven"], 10)) == tuple(first) for _ in range(5))

    def test_no_texts_have_no_scores(self, reranker: Reranker) -> None:
        assert list(reranker.scores("sea", [], 10)) == []

    @pytest.mark.parametrize("text", ["", "\x00 \ud800", "oven " * 5_000])
    def test_odd_texts_have_scores_too(self, reranker: Reranker, text: str) -> None:
        (score,) = reranker.scores("sea", [text], 10)
        assert 0 <= score <= 1

    def test_it_has_a_name(self, reranker: Reranker) -> None:
        assert reranker.name
