"""The promises of models, kept by the fakes and by the real ones."""

from __future__ import annotations

import pytest

from kb.adapters.models.embedding.fastembed_embedder import FastembedEmbedder
from kb.adapters.models.embedding.tokenizer import EmbedderTokenizer
from kb.adapters.models.language.llama_cpp_model import LlamaCppModel
from kb.domain.answers import ModelRef
from tests.contracts.models import EmbedderContract, LanguageModelContract, TokenizerContract
from tests.fakes.models import FakeEmbedder, FakeTokenizer, ScriptedModel
from tests.unit.adapters.models.places import embedding_folder, language_file


# The real models are loaded once for the module.
@pytest.fixture(scope="module")
def e5() -> FastembedEmbedder:
    return FastembedEmbedder(embedding_folder())


@pytest.fixture(scope="module")
def e5_tokenizer() -> EmbedderTokenizer:
    return EmbedderTokenizer(embedding_folder())


@pytest.fixture(scope="module")
def smollm() -> LlamaCppModel:
    return LlamaCppModel(language_file(), ModelRef("smollm2-135m-instruct", "llama_cpp"), 512)


class TestFakeEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> FakeEmbedder:
        return FakeEmbedder()

    @pytest.fixture
    def asker(self, embedder: FakeEmbedder) -> FakeEmbedder:
        return embedder


class TestFastembedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, e5: FastembedEmbedder) -> FastembedEmbedder:
        return e5

    @pytest.fixture
    def asker(self, embedder: FastembedEmbedder) -> FastembedEmbedder:
        return embedder


class TestFakeTokenizer(TokenizerContract):
    @pytest.fixture
    def tokenizer(self) -> FakeTokenizer:
        return FakeTokenizer()


class TestEmbedderTokenizer(TokenizerContract):
    @pytest.fixture
    def tokenizer(self, e5_tokenizer: EmbedderTokenizer) -> EmbedderTokenizer:
        return e5_tokenizer


class TestScriptedModel(LanguageModelContract):
    @pytest.fixture
    def model(self) -> ScriptedModel:
        return ScriptedModel(("Something ", "said."))


class TestLlamaCppModel(LanguageModelContract):
    @pytest.fixture
    def model(self, smollm: LlamaCppModel) -> LlamaCppModel:
        return smollm
