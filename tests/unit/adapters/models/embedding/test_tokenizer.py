from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from kb.adapters.models.embedding.folder import read_folder
from kb.adapters.models.embedding.tokenizer import EmbedderTokenizer
from kb.domain.failures import ModelUnavailable
from tests.unit.adapters.models.places import embedding_folder

TEXTS = st.text(alphabet=st.sampled_from("ab eё가나中文テ.,!12 \n\t😀é　ﷺ"), max_size=400)


@pytest.fixture(scope="module")
def tokenizer() -> EmbedderTokenizer:
    return EmbedderTokenizer(embedding_folder())


@pytest.fixture(scope="module")
def whole() -> Tokenizer:
    """The library's own tokenizer, special tokens and all."""
    return Tokenizer.from_file(str(embedding_folder() / "tokenizer.json"))


def test_tokens_are_counted_without_special_ones(tokenizer: EmbedderTokenizer) -> None:
    assert tokenizer.count("hello world") == 3
    assert tokenizer.count("") == 0


def test_a_text_beyond_the_window_is_counted_whole(tokenizer: EmbedderTokenizer) -> None:
    assert tokenizer.count("word" + " word" * 4999) == 5000


@given(text=TEXTS, limit=st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_the_fitting_beginning_fits_and_is_never_empty(tokenizer: EmbedderTokenizer, text: str, limit: int) -> None:
    size = tokenizer.fitting_prefix(text, limit)
    assert size >= 1
    assert size == 1 or tokenizer.count(text[:size]) <= limit
    if tokenizer.count(text) <= limit:
        assert size >= len(text)


def test_the_fitting_beginning_is_not_needlessly_short(tokenizer: EmbedderTokenizer) -> None:
    text = "word " * 1000
    assert tokenizer.count(text[: tokenizer.fitting_prefix(text, 100)]) >= 99


def test_a_huge_line_is_not_read_to_its_end(tokenizer: EmbedderTokenizer) -> None:
    text = "word " * 2_000_000
    assert tokenizer.fitting_prefix(text, 500) < 5000


@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_a_text_of_the_window_with_prefix_and_marks_is_never_longer_than_the_model_reads(
    tokenizer: EmbedderTokenizer, whole: Tokenizer, text: str
) -> None:
    model = read_folder(embedding_folder(), "fastembed").model
    long = text * 8
    fitting = long[: tokenizer.fitting_prefix(long, model.max_tokens)] if long else ""
    assert len(whole.encode(model.passage_prefix + fitting).ids) <= 512


def test_a_missing_tokenizer_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        EmbedderTokenizer(tmp_path).count("text")
    assert "dev.py setup" in raised.value.hint
