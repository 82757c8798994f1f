"""A cross-encoder in process: pairs one by one, within a window, in time, or not at all."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kb.adapters.models.rerank.cross_encoder import CrossEncoder
from kb.domain.failures import ModelUnavailable
from tests.unit.adapters.models.rerank.tiny import make_model

QUESTION = "the sea is salt"
TEXTS = ("bread in the oven", "the sea is salt", "the sea", "")


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_scores_are_those_of_the_model_in_the_order_of_the_texts(tmp_path: Path) -> None:
    model = CrossEncoder(make_model(tmp_path / "tiny"))
    assert model.name == "tiny"
    assert model.scores(QUESTION, TEXTS, 10) == pytest.approx([sigmoid(n) for n in (0, 3, 1, -1)], abs=1e-6)


def test_two_logits_are_read_as_no_and_yes(tmp_path: Path) -> None:
    model = CrossEncoder(make_model(tmp_path, logits=2))
    assert model.scores(QUESTION, TEXTS[:2], 10) == pytest.approx([sigmoid(0), sigmoid(3)], abs=1e-6)


def test_the_same_pair_has_the_same_score_whatever_stands_beside_it(tmp_path: Path) -> None:
    model = CrossEncoder(make_model(tmp_path))
    alone = [model.scores(QUESTION, [text], 10)[0] for text in TEXTS]
    for _ in range(20):
        assert list(model.scores(QUESTION, TEXTS, 10)) == alone
    assert list(model.scores(QUESTION, TEXTS[::-1], 10)) == alone[::-1]


def test_what_is_beyond_the_window_does_not_count(tmp_path: Path) -> None:
    model = CrossEncoder(make_model(tmp_path, window=12))
    filler = "oven " * 100
    assert model.scores("sea", [f"{filler} sea"], 10) == model.scores("sea", [filler], 10)
    assert model.scores("sea", [f"sea {filler}"], 10)[0] > model.scores("sea", [filler], 10)[0]


@pytest.mark.parametrize("text", ["\x00 \ud800", "🍢" * 9_000, " "])
def test_every_text_has_a_score(tmp_path: Path, text: str) -> None:
    (score,) = CrossEncoder(make_model(tmp_path)).scores(QUESTION, [text], 10)
    assert 0 <= score <= 1


def test_time_that_is_over_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="took too long: 0 of 4 passages"):
        CrossEncoder(make_model(tmp_path / "tiny")).scores(QUESTION, TEXTS, -1)


def test_a_hundred_passages_are_the_most(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="more than 100"):
        CrossEncoder(make_model(tmp_path)).scores(QUESTION, ["sea"] * 101, 10)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named_without_its_path(tmp_path: Path, name: str) -> None:
    folder = make_model(tmp_path / "tiny")
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable) as caught:
        CrossEncoder(folder)
    assert name in caught.value.message
    assert str(tmp_path) not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_said(tmp_path: Path, name: str) -> None:
    folder = make_model(tmp_path / "tiny")
    (folder / name).write_bytes(b"{]")
    with pytest.raises(ModelUnavailable, match="damaged"):
        CrossEncoder(folder).scores(QUESTION, TEXTS, 10)


def test_what_is_no_score_is_refused(tmp_path: Path) -> None:
    for folder in (make_model(tmp_path / "nan", is_nan=True), make_model(tmp_path / "three", logits=3)):
        with pytest.raises(ModelUnavailable, match="no score"):
            CrossEncoder(folder).scores(QUESTION, TEXTS, 10)
