"""An embedding server: its vectors are checked one by one, and what is wrong is said, never used."""

from __future__ import annotations

import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kb.adapters.http.server import HttpxJsonServer
from kb.adapters.models.embedding.endpoint import EndpointEmbedder, ask_dimensions, endpoint_model
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.errors import Unreadable
from kb.domain.failures import ModelUnavailable
from kb.domain.servers import ServerUnreachable, address_of
from tests.fakes.servers import Asked, LocalServer, Reply, embedding, serving, vector_of

DIMENSIONS = 8


def client(server: LocalServer) -> HttpxJsonServer:
    address = address_of(server.base_url, "models.embedding")
    return HttpxJsonServer(address, role="embedding", setting="models.embedding", sleep=lambda _: None)


def model(server: LocalServer, **more: Any) -> EmbeddingModel:
    fields = {"name": "bge-m3", "base_url": server.base_url, "host": server.host, "dimensions": DIMENSIONS}
    return endpoint_model(**{**fields, **more})


def embedder(server: LocalServer, **more: Any) -> EndpointEmbedder:
    return EndpointEmbedder(client(server), model(server, **more), 2.0)


def floats(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def of_one(embedded: Any, index: Any = 0) -> Reply:
    return Reply(body={"data": [{"index": index, "embedding": embedded}]})


def test_prefixes_go_with_the_text_and_the_vector_has_length_one() -> None:
    with serving(embedding(DIMENSIONS)) as server:
        made = embedder(server, query_prefix="query: ", passage_prefix="passage: ")
        passage, question = made.embed_passage("tea"), made.embed_query("tea")
    assert [asked.body["input"] for asked in server.asked] == [["passage: tea"], ["query: tea"]]
    assert {asked.path for asked in server.asked} == {"/v1/embeddings"}
    assert server.asked[0].body["model"] == "bge-m3"
    given = vector_of("passage: tea", DIMENSIONS)
    length = sum(value * value for value in given) ** 0.5
    assert floats(passage) == pytest.approx([value / length for value in given], abs=1e-6)
    assert passage != question


def test_passages_of_several_threads_go_together_and_each_gets_its_own_vector() -> None:
    first, go_on = threading.Event(), threading.Event()
    answer = embedding(DIMENSIONS)

    def slow_at_first(asked: Asked) -> Reply:
        if not first.is_set():
            first.set()
            go_on.wait(10)
        return answer(asked)

    texts = [f"text{number} " * (number + 1) for number in range(12)]
    with serving(slow_at_first) as server, ThreadPoolExecutor(12) as pool:
        made = embedder(server)
        futures = [pool.submit(made.embed_passage, texts[0])]
        assert first.wait(10)
        futures += [pool.submit(made.embed_passage, text) for text in texts[1:]]
        while len(made._waiting) < 11:
            threading.Event().wait(0.01)
        go_on.set()
        vectors = [future.result(10) for future in futures]
        alone = [made.embed_query(text) for text in texts]
    assert vectors == alone
    assert [len(asked.body["input"]) for asked in server.asked[:2]] == [1, 11]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (of_one([1.0] * 7), "7 dimensions, those of the library 8: incompatible"),
        (of_one([0.0] * 8), "a vector is zero"),
        (of_one([float("nan")] * 8), "a vector is not finite"),
        (of_one([float("inf")] + [0.0] * 7), "a vector is not finite"),
        (of_one([10**400] + [0] * 7), "a vector is not finite"),
        (of_one(["1"] * 8), "something else than numbers"),
        (of_one([True] * 8), "something else than numbers"),
        (of_one([]), "no vectors"),
        (of_one("AAAA"), "no vectors"),
        (of_one([1.0] * 8, index=1), "which vector belongs to which text"),
        (of_one([1.0] * 8, index="0"), "which vector belongs to which text"),
        (Reply(body={"data": []}), "0 vectors for 1 texts"),
        (Reply(body={"data": [{"index": 0}] * 2}), "2 vectors for 1 texts"),
        (Reply(body={"data": [1]}), "no vectors"),
        (Reply(body={"data": {}}), "no vectors"),
        (Reply(body=[]), "no vectors"),
        (Reply(body={"error": "no"}), "no vectors"),
    ],
)
def test_wrong_vectors_are_refused_in_words(reply: Reply, says: str) -> None:
    with serving(lambda _: reply) as server:
        made = embedder(server)
        for call in (made.embed_query, made.embed_passage):
            with pytest.raises(ModelUnavailable) as caught:
                call("tea")
            assert says in caught.value.message
            assert caught.value.hint


def test_vectors_without_their_place_are_refused() -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(body={"data": [{"index": 0, "embedding": [1.0] * 8} for _ in asked.body["input"]]})

    with serving(answer) as server, ThreadPoolExecutor(2) as pool:
        made = embedder(server)
        made._sending.acquire()
        futures = [pool.submit(made.embed_passage, text) for text in ("one", "two")]
        while len(made._waiting) < 2:
            threading.Event().wait(0.01)
        made._sending.release()
        for future in futures:
            with pytest.raises(ModelUnavailable, match="which vector belongs to which text"):
                future.result(10)


def test_one_text_that_the_server_does_not_take_costs_the_others_nothing() -> None:
    answer = embedding(DIMENSIONS)

    def picky(asked: Asked) -> Reply:
        return Reply(400, {}) if any("endless" in text for text in asked.body["input"]) else answer(asked)

    with serving(picky) as server, ThreadPoolExecutor(3) as pool:
        made = embedder(server)
        made._sending.acquire()
        good, bad = pool.submit(made.embed_passage, "tea"), pool.submit(made.embed_passage, "endless")
        while len(made._waiting) < 2:
            threading.Event().wait(0.01)
        made._sending.release()
        assert len(floats(good.result(10))) == DIMENSIONS
        with pytest.raises(Unreadable) as caught:
            bad.result(10)
    assert caught.value.reason == "embedding"


def test_a_server_that_takes_nothing_is_no_fault_of_the_text() -> None:
    with serving(lambda _: Reply(400, {})) as server, pytest.raises(ModelUnavailable):
        embedder(server).embed_passage("tea")


def test_passages_are_sent_again_when_the_server_was_busy_and_questions_are_not() -> None:
    replies = [Reply(503, {}), Reply(503, {})]
    answer = embedding(DIMENSIONS)
    with serving(lambda asked: replies.pop() if replies else answer(asked)) as server:
        made = embedder(server)
        assert made.embed_passage("tea")
        replies[:] = [Reply(503, {})]
        with pytest.raises(ServerUnreachable):
            made.embed_query("tea")


def test_a_server_that_is_gone_is_unreachable_for_both() -> None:
    with serving(embedding()) as server:
        made = embedder(server)
    for call in (made.embed_query, made.embed_passage):
        with pytest.raises(ServerUnreachable):
            call("tea")


def test_dimensions_are_asked_for_with_a_sentence_that_tells_nothing() -> None:
    with serving(embedding(5)) as server:
        assert ask_dimensions(client(server), "bge-m3", 2.0) == 5
    assert server.asked[0].body["input"] == ["Kebab asks whether this model answers."]


def test_everything_that_shapes_vectors_is_in_the_fingerprint() -> None:
    with serving(embedding()) as server:
        known = model(server)
        others = [
            model(server, name="other"),
            model(server, dimensions=16),
            model(server, base_url="http://127.0.0.1:1/v1", host="127.0.0.1:1"),
            model(server, base_url="https://127.0.0.1/v1"),
            model(server, query_prefix="q"),
            model(server, passage_prefix="p"),
        ]
    prints = [one.fingerprint() for one in (known, *others)]
    assert len(set(prints)) == len(prints)
    assert model(server).fingerprint() == known.fingerprint()


def test_the_window_leaves_room_for_prefix_and_marks() -> None:
    with serving(embedding()) as server:
        assert model(server, max_tokens=512).max_tokens == 508
        assert model(server, max_tokens=512, passage_prefix="passage: ").max_tokens == 503
