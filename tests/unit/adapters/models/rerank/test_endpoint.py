"""A rerank server: within limits, scores by index, all of them or none."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from kb.adapters.http.server import HttpxJsonServer
from kb.adapters.models.rerank.endpoint import EndpointReranker
from kb.domain.failures import ModelUnavailable
from kb.domain.servers import ServerUnreachable, address_of
from tests.fakes.servers import LocalServer, Reply, ranking, serving

TEXTS = ("bread in the oven", "the sea is salt", "the sea")


def reranker(server: LocalServer, timeout_s: float = 15.0) -> EndpointReranker:
    address = address_of(server.base_url, "models.rerank")
    return EndpointReranker(HttpxJsonServer(address, role="rerank", setting="models.rerank"), "r1", timeout_s)


def results(*pairs: tuple[Any, Any]) -> Reply:
    return Reply(body={"results": [{"index": index, "relevance_score": score} for index, score in pairs]})


def test_scores_come_in_the_order_of_the_texts_whatever_the_order_of_the_reply() -> None:
    with serving(ranking()) as server:
        made = reranker(server)
        assert made.scores("the sea is salt", TEXTS, 5) == (0.25, 1.0, 0.5)
        assert made.name == f"r1 at {server.host}"
    (asked,) = server.asked
    assert asked.path == "/v1/rerank"
    assert asked.body == {
        "model": "r1",
        "query": "the sea is salt",
        "documents": list(TEXTS),
        "top_n": 3,
        "return_documents": False,
    }


def test_of_a_long_passage_the_first_8000_characters_are_sent() -> None:
    with serving(ranking()) as server:
        reranker(server).scores("sea", ["x" * 20_000, "sea \ud800"], 5)
    assert server.asked[0].body["documents"] == ["x" * 8_000, "sea ?"]


def test_a_hundred_passages_are_the_most_and_none_are_not_sent() -> None:
    with serving(ranking()) as server:
        assert reranker(server).scores("sea", [], 5) == ()
        with pytest.raises(ModelUnavailable, match="more than 100"):
            reranker(server).scores("sea", ["sea"] * 101, 5)
        assert len(reranker(server).scores("sea", ["sea"] * 100, 5)) == 100
    assert len(server.asked) == 1


def test_logits_become_shares_and_keep_their_order() -> None:
    with serving(lambda _: results((0, -3.0), (1, 4.5), (2, 0.5))) as server:
        found = reranker(server).scores("sea", TEXTS, 5)
    assert found == pytest.approx([1 / (1 + math.exp(-value)) for value in (-3.0, 4.5, 0.5)])


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (results((0, 0.1), (1, 0.2)), "2 scores for 3 passages"),
        (results((0, 0.1), (1, 0.2), (1, 0.3)), "which score belongs"),
        (results((0, 0.1), (1, 0.2), (3, 0.3)), "which score belongs"),
        (results((0, 0.1), (1, 0.2), (-1, 0.3)), "which score belongs"),
        (results((0, 0.1), (1, 0.2), (None, 0.3)), "which score belongs"),
        (results((0, 0.1), (1, 0.2), (2, None)), "no number"),
        (results((0, 0.1), (1, 0.2), (2, True)), "no number"),
        (results((0, 0.1), (1, 0.2), (2, float("nan"))), "not finite"),
        (results((0, 0.1), (1, 0.2), (2, 10**400)), "not finite"),
        (Reply(body={"results": {}}), "no results"),
        (Reply(body=[1]), "no results"),
        (Reply(body=b"oops"), "no JSON"),
        (Reply(401, {}), "refuses the key"),
    ],
)
def test_a_wrong_reply_is_refused_in_words(reply: Reply, says: str) -> None:
    with serving(lambda _: reply) as server, pytest.raises(ModelUnavailable) as caught:
        reranker(server).scores("sea", TEXTS, 5)
    assert says in caught.value.message
    assert "sea" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(("search_s", "own_s"), [(0.3, 15.0), (15.0, 0.3)])
def test_the_shorter_of_both_times_counts(search_s: float, own_s: float) -> None:
    started = time.monotonic()
    with serving(lambda _: Reply(body={}, stalls=True)) as server, pytest.raises(ServerUnreachable):
        reranker(server, own_s).scores("sea", TEXTS, search_s)
    assert time.monotonic() - started < 5
