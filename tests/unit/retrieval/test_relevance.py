"""Relevance: monotone, between 0 and 1, measured against a background."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.embeddings import EmbeddingModel
from kb.retrieval.relevance import Background, Calibration, Question, background_of, calibration_of, probability
from tests.unit.retrieval.corpus import MODEL

SCORE = st.floats(0, 50)
COSINE = st.floats(-1, 1)
BACKGROUND = Background(mean=0.80, deviation=0.025, chance=2.0)
QUESTION = Question(ceiling=20.0, seen=0.9, background=BACKGROUND, calibration=Calibration())


@given(SCORE, SCORE, COSINE)
def test_more_of_the_words_never_means_less_relevance(one: float, other: float, cosine: float) -> None:
    low, high = sorted((one, other))
    assert QUESTION.logit(low, cosine) <= QUESTION.logit(high, cosine)


@given(SCORE, COSINE, COSINE)
def test_a_nearer_meaning_never_means_less_relevance(score: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert QUESTION.logit(score, low) <= QUESTION.logit(score, high)


@given(st.floats(-1000, 1000))
def test_a_probability_is_between_none_and_certain(logit: float) -> None:
    assert 0.0 <= probability(logit) <= 1.0
    assert probability(logit) == pytest.approx(1 - probability(-logit))


def test_the_figures_of_the_decision_are_the_ones_used() -> None:
    # ADR 0008: L = -0.35 + 15.7 x share - 3.0 x size x seen^1.5 - 1.6 x language + 0.90 x excess
    expected = -0.35 + 15.7 * 0.5 - 3.0 * 0.9**1.5 - 1.6 + 0.90 * ((0.87 - 0.80) / 0.025 - 2.0)
    assert QUESTION.logit(10.0, 0.87) == pytest.approx(expected)
    small = replace(QUESTION, chunks=23, familiar=0.5)
    size = math.log(23) / math.log(128)
    assert small.logit(10.0, 0.87) == pytest.approx(expected + 3.0 * (1 - size) * 0.9**1.5 + 1.6 * (0.65 - 0.5) / 0.38)
    assert replace(QUESTION, background=None).logit(10.0, None) == pytest.approx(-2.40 + 21.3 * 0.5 - 3.9 * 0.9**1.5)
    assert replace(QUESTION, ceiling=0.0).logit(None, 0.87) == pytest.approx(-0.45 + 1.2 * 0.8)


def test_a_chunk_without_a_vector_is_judged_by_its_words() -> None:
    assert QUESTION.logit(10.0, None) == replace(QUESTION, background=None).logit(10.0, None)


def test_words_the_library_knows_and_no_passage_shares_speak_against_an_answer() -> None:
    assert replace(QUESTION, seen=1.0).logit(1.0, 0.85) < replace(QUESTION, seen=0.1).logit(1.0, 0.85)


def test_a_language_the_library_holds_speaks_against_an_answer_and_a_foreign_one_says_nothing() -> None:
    logits = [replace(QUESTION, familiar=share).logit(1.0, 0.85) for share in (0.0, 0.27, 0.5, 0.65, 1.0)]
    assert logits[0] == logits[1] > logits[2] > logits[3] == logits[4]


def test_in_a_small_library_known_words_speak_less_against_an_answer() -> None:
    logits = [replace(QUESTION, chunks=count).logit(5.0, 0.85) for count in (20, 60, 128, 5000)]
    assert logits[0] > logits[1] > logits[2] == logits[3]


def test_one_word_that_half_of_the_passages_hold_is_no_question() -> None:
    common = Question(2.9, 1.0, BACKGROUND, Calibration(), chunks=23)
    rare = replace(common, ceiling=10.0)
    assert probability(common.logit(3.4, 0.82)) < 0.3 < probability(rare.logit(5.1, 0.82))
    assert probability(replace(common, chunks=1).logit(2.9, 0.82)) > 0.9


def test_an_empty_library_has_a_logit_too() -> None:
    assert math.isfinite(replace(QUESTION, chunks=0).logit(None, 0.8))


@pytest.mark.parametrize(("fts", "vector"), [(2.0, 0.5), (0.5, 2.0)])
def test_weights_shift_the_say_of_the_channels(fts: float, vector: float) -> None:
    weighted = replace(QUESTION, fts_weight=fts, vector_weight=vector)
    by_words = weighted.logit(15.0, 0.80) - weighted.logit(5.0, 0.80)
    by_meaning = weighted.logit(5.0, 0.90) - weighted.logit(5.0, 0.80)
    plain_words = QUESTION.logit(15.0, 0.80) - QUESTION.logit(5.0, 0.80)
    plain_meaning = QUESTION.logit(5.0, 0.90) - QUESTION.logit(5.0, 0.80)
    assert (by_words > plain_words) == (fts > vector)
    assert (by_meaning > plain_meaning) == (vector > fts)


def test_a_small_library_leans_on_the_prior() -> None:
    empty = background_of([], 0, Calibration())
    assert (empty.mean, empty.deviation) == pytest.approx((0.80, 0.025))
    few, many = (background_of([0.70] * n, n, Calibration()) for n in (2, 256))
    assert 0.70 < many.mean < few.mean < 0.80


def test_the_more_vectors_the_higher_the_bar_of_chance() -> None:
    bars = [background_of([0.8], n, Calibration()).chance for n in (2, 100, 10_000)]
    assert bars == sorted(bars)
    assert bars[2] == pytest.approx(math.sqrt(2 * math.log(10_000)))


def test_a_model_nobody_fitted_is_marked() -> None:
    assert calibration_of(None).fitted
    assert calibration_of(replace(MODEL, id="multilingual-e5-small", dimensions=384)).fitted
    assert not calibration_of(EmbeddingModel("bge", "1", "fastembed", 384, "cls", "", "", 512)).fitted
