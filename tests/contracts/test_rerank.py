"""The promises of embedding and rerank connections, kept by the fakes and by the real ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.http.server import HttpxJsonServer
from kb.adapters.models.embedding.endpoint import EndpointEmbedder, endpoint_model
from kb.adapters.models.embedding.estimate import EstimatingTokenizer
from kb.adapters.models.rerank.cross_encoder import CrossEncoder
from kb.adapters.models.rerank.endpoint import EndpointReranker
from kb.domain.servers import address_of
from tests.contracts.models import EmbedderContract, TokenizerContract
from tests.contracts.rerank import RerankerContract
from tests.fakes.servers import FakeReranker, embedding, ranking, serving
from tests.unit.adapters.models.rerank.tiny import make_model


class TestFakeReranker(RerankerContract):
    @pytest.fixture
    def reranker(self) -> FakeReranker:
        return FakeReranker()


class TestCrossEncoder(RerankerContract):
    @pytest.fixture
    def reranker(self, tmp_path: Path) -> CrossEncoder:
        return CrossEncoder(make_model(tmp_path))


class TestEndpointReranker(RerankerContract):
    @pytest.fixture
    def reranker(self) -> Iterator[EndpointReranker]:
        with serving(ranking()) as server:
            address = address_of(server.base_url, "models.rerank")
            yield EndpointReranker(HttpxJsonServer(address, role="rerank", setting="models.rerank"), "r1")


class TestEndpointEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Iterator[EndpointEmbedder]:
        with serving(embedding(8)) as server:
            address = address_of(server.base_url, "models.embedding")
            model = endpoint_model("m", address.base_url, address.host, 8)
            yield EndpointEmbedder(HttpxJsonServer(address, role="embedding", setting="models.embedding"), model)

    @pytest.fixture
    def asker(self, embedder: EndpointEmbedder) -> EndpointEmbedder:
        return embedder


class TestEstimatingTokenizer(TokenizerContract):
    @pytest.fixture
    def tokenizer(self) -> EstimatingTokenizer:
        return EstimatingTokenizer()
