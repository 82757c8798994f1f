"""What every embedder, tokenizer and language model promises, whatever it is made of."""

from __future__ import annotations

import struct

import pytest

from kb.answering.ports import GenerateRequest, LanguageModel
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.ingest.ports import PassageEmbedder, Tokenizer
from kb.retrieval.ports import QueryEmbedder

TEXTS = ["backup", "백업은 일요일", "备份在周日", "", "\x00 \ud800", "word " * 2000]


class EmbedderContract:
    """For `embedder` and `asker`, the two sides of one model."""

    @pytest.mark.parametrize("text", TEXTS)
    def test_every_text_has_a_vector_of_length_one(
        self, embedder: PassageEmbedder, asker: QueryEmbedder, text: str
    ) -> None:
        for vector in (embedder.embed_passage(text), asker.embed_query(text)):
            numbers = floats(vector)
            assert len(numbers) == embedder.model.dimensions
            assert sum(number * number for number in numbers) == pytest.approx(1, abs=1e-4)

    def test_the_same_text_gives_the_same_bytes(self, embedder: PassageEmbedder) -> None:
        first = embedder.embed_passage("the same")
        embedder.embed_passage("another")
        assert embedder.embed_passage("the same") == first

    def test_both_sides_are_the_same_model(self, embedder: PassageEmbedder, asker: QueryEmbedder) -> None:
        model: EmbeddingModel = embedder.model
        assert model == asker.model
        assert model.max_tokens > 0


class TokenizerContract:
    """For `tokenizer`."""

    @pytest.mark.parametrize("text", TEXTS)
    def test_the_fitting_beginning_fits(self, tokenizer: Tokenizer, text: str) -> None:
        size = tokenizer.fitting_prefix(text, 5)
        assert size >= 1
        assert size == 1 or tokenizer.count(text[:size]) <= 5

    def test_nothing_has_no_tokens_and_more_text_has_no_fewer(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.count("") == 0
        assert 0 < tokenizer.count("one two") <= tokenizer.count("one two three four")


class LanguageModelContract:
    """For `model`."""

    def test_the_last_piece_alone_has_a_finish_reason_and_counts(self, model: LanguageModel) -> None:
        *pieces, last = model.generate(GenerateRequest("Rules.", "Say something.", 8))
        assert all(piece.finish_reason is None for piece in pieces)
        assert last.finish_reason in {"stop", "length"}
        assert last.prompt_tokens > 0
        assert 0 < last.completion_tokens <= 8

    def test_the_same_request_gives_the_same_pieces(self, model: LanguageModel) -> None:
        request = GenerateRequest("Rules.", "Say something.", 8, temperature=0.7, seed=3)
        assert list(model.generate(request)) == list(model.generate(request))

    def test_a_closed_generation_leaves_the_model_ready(self, model: LanguageModel) -> None:
        stream = model.generate(GenerateRequest("Rules.", "Say something long.", 200))
        next(stream)
        stream.close()
        assert list(model.generate(GenerateRequest("Rules.", "Say something.", 8)))

    def test_a_generation_that_is_told_to_stop_before_its_first_piece_has_none(self, model: LanguageModel) -> None:
        (last,) = model.generate(GenerateRequest("Rules.", "Say something.", 8), lambda: True)
        assert (last.text, last.finish_reason, last.completion_tokens) == ("", "aborted", 0)
        assert list(model.generate(GenerateRequest("Rules.", "Say something.", 8)))

    def test_it_is_named_and_counts_tokens(self, model: LanguageModel) -> None:
        assert model.ref.id
        assert model.ref.provider
        assert model.context_tokens > 0
        assert model.count_tokens("") == 0
        assert model.count_tokens("one two three") > 0


def floats(vector: Vector) -> tuple[float, ...]:
    """The numbers of a vector."""
    return struct.unpack(f"<{len(vector) // 4}f", vector)
