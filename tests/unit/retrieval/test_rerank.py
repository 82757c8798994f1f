"""Reranking: by features, by a model, and exactly the fused order when it is off or fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.failures import ModelUnavailable
from kb.retrieval.rerank import Placed, as_fused, rerank_by_model, rerank_locally
from kb.retrieval.values import ChannelScores, Fused
from tests.unit.retrieval.corpus import a_stored


def fused_of(
    *texts: str, cosines: Sequence[float] = (), paths: Sequence[str] = ()
) -> tuple[list[Fused], dict[ChunkKey, StoredChunk]]:
    stored = {
        ChunkKey(key): a_stored(key, text, ordinal=key, path=paths[key] if paths else f"{key}.md")
        for key, text in enumerate(texts)
    }
    ranked = [
        Fused(key, 1 - key / 100, 0.5, ChannelScores(vector_similarity=cosines[key] if cosines else None))
        for key in stored
    ]
    return ranked, stored


def keys(placed: Sequence[Placed]) -> list[int]:
    return [one.fused.key for one in placed]


@dataclass
class Model:
    """Scores texts by a table; `broken` makes it fail."""

    by_text: dict[str, float] = field(default_factory=dict)
    broken: bool = False
    asked: list[str] = field(default_factory=list)
    name: str = "table"

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        if self.broken:
            raise ModelUnavailable("the rerank model did not answer in time")
        self.asked.extend(texts)
        return [self.by_text.get(text, 0.0) for text in texts]


def test_the_passage_with_the_whole_phrase_overtakes_its_neighbour() -> None:
    ranked, stored = fused_of("chain of an anchor", "the anchor chain rusts")
    placed = rerank_locally("anchor chain", ranked, stored)
    assert keys(placed) == [1, 0]
    assert [one.rank_before for one in placed] == [2, 1]
    assert [(one.features or {})["phrase"] for one in placed] == [1.0, 0.0]


def test_letters_and_words_are_covered_each_by_itself() -> None:
    ranked, stored = fused_of("锚链 rust", "锚链", "nothing")
    first, second, third = rerank_locally("锚链 rust", ranked, stored)
    assert (first.features or {})["cjk"] == (first.features or {})["words"] == 1.0
    assert ((second.features or {})["cjk"], (second.features or {})["words"]) == (1.0, 0.0)
    assert ((third.features or {})["cjk"], (third.features or {})["words"]) == (0.0, 0.0)


def test_a_hit_in_the_path_counts() -> None:
    ranked, stored = fused_of("alpha", "alpha", paths=("notes.md", "ship/anchor-chain.md"))
    assert keys(rerank_locally("anchor chain", ranked, stored)) == [1, 0]


def test_the_nearer_vector_wins_among_equals() -> None:
    ranked, stored = fused_of("same words", "same words", cosines=(0.80, 0.90))
    assert keys(rerank_locally("same words", ranked, stored)) == [1, 0]


def test_repeats_of_one_document_are_demoted() -> None:
    ranked, stored = fused_of("one", "one", "one", paths=("a.md", "a.md", "b.md"))
    placed = rerank_locally("other", ranked, stored)
    assert [(one.features or {})["repeat"] for one in placed if stored[one.fused.key].path == "a.md"] == [0.0, 0.02]


@given(st.lists(st.text("ab 锚链", max_size=20), min_size=1, max_size=30), st.text("ab 锚链", min_size=1, max_size=12))
def test_scores_are_between_0_and_1_the_same_each_time_and_nothing_is_lost(texts: list[str], question: str) -> None:
    ranked, stored = fused_of(*texts)
    placed = rerank_locally(question, ranked, stored)
    assert placed == rerank_locally(question, ranked, stored)
    assert sorted(keys(placed)) == sorted(one.key for one in ranked)
    assert all(0 <= one.score <= 1 for one in placed)
    assert all(0 <= value <= 1 for one in placed for value in (one.features or {}).values())


def test_off_is_exactly_the_fused_order() -> None:
    ranked, _ = fused_of("b", "a", "c")
    assert [(one.fused, one.score, one.rank_before, one.features) for one in as_fused(ranked)] == [
        (one, one.score, None, None) for one in ranked
    ]


def test_a_model_orders_the_first_hundred_and_the_others_stay_behind_them() -> None:
    ranked, stored = fused_of(*(f"text {number}" for number in range(105)))
    model = Model({"text 99": 0.9})
    placed = rerank_by_model(model, "q", ranked, stored, 1.5)
    assert len(model.asked) == 100
    assert keys(placed)[:2] == [99, 0]
    assert keys(placed)[-5:] == [100, 101, 102, 103, 104]


def test_a_model_sees_at_most_8000_characters_of_a_passage() -> None:
    ranked, stored = fused_of("x" * 9_000)
    model = Model()
    rerank_by_model(model, "q", ranked, stored, 1.5)
    assert [len(text) for text in model.asked] == [8_000]


@pytest.mark.parametrize("scores", [[], [0.1], [0.1, float("nan")]])
def test_a_model_that_answers_wrongly_is_refused(scores: list[float]) -> None:
    ranked, stored = fused_of("a", "b")
    model = Model()
    model.scores = lambda question, texts, timeout_s: scores  # type: ignore[method-assign]
    with pytest.raises(ModelUnavailable):
        rerank_by_model(model, "q", ranked, stored, 1.5)
