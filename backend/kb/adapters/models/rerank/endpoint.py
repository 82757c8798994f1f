"""`EndpointReranker`: a Cohere- or Jina-compatible `POST /rerank`; off unless a person sets one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kb.domain.failures import ModelUnavailable
from kb.domain.servers import JsonServer

MOST_TEXTS = 100
MOST_CHARACTERS = 8_000
_PATH = "/rerank"
_STEEPEST = 60.0


class EndpointReranker:
    """`Reranker` over a server. May be used from several threads.

    Args:
        server: whom question and passages are sent to; it bounds the reply.
        model: as the server calls it.
        timeout_s: for one request, whatever longer time a search may have.
    """

    def __init__(self, server: JsonServer, model: str, timeout_s: float = 15.0) -> None:
        self._server = server
        self._model = model
        self._timeout = timeout_s

    @property
    def name(self) -> str:
        """The model and its server, as diagnostics name them."""
        return f"{self._model} at {self._server.host}"

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        """Return a score for each text, 0 to 1, in order; at most 100 texts, of each its first 8,000 characters.

        Scores beyond 0 to 1 are taken as logits, all of a reply alike, so that the order is the server's.

        Raises:
            ModelUnavailable: the server does not answer in time, refuses, or leaves texts out.
        """
        if len(texts) > MOST_TEXTS:
            raise ModelUnavailable(f"more than {MOST_TEXTS} passages cannot be ordered again")
        if not texts:
            return ()
        body = {
            "model": self._model,
            "query": _sound(question[:MOST_CHARACTERS]),
            "documents": [_sound(text[:MOST_CHARACTERS]) for text in texts],
            "top_n": len(texts),
            "return_documents": False,
        }
        reply = self._server.post(_PATH, body, reason="rerank", timeout_s=min(timeout_s, self._timeout))
        found = self._by_index(reply, len(texts))
        if all(0 <= score <= 1 for score in found):
            return tuple(found)
        return tuple(1 / (1 + math.exp(-max(-_STEEPEST, min(score, _STEEPEST)))) for score in found)

    def _by_index(self, reply: Any, count: int) -> list[float]:  # noqa: ANN401 - JSON
        results = reply.get("results") if isinstance(reply, Mapping) else None
        if not isinstance(results, list):
            raise self._wrong("its reply has no results")
        found: dict[int, float] = {}
        for one in results:
            index = one.get("index") if isinstance(one, Mapping) else None
            score = one.get("relevance_score") if isinstance(one, Mapping) else None
            if type(index) is not int or not 0 <= index < count or index in found:
                raise self._wrong("it does not say which score belongs to which passage")
            if type(score) not in {int, float}:
                raise self._wrong("a score is no number")
            found[index] = _finite(score)
            if not math.isfinite(found[index]):
                raise self._wrong("a score is not finite")
        if len(found) != count:
            raise self._wrong(f"{len(found)} scores for {count} passages")
        return [found[index] for index in range(count)]

    def _wrong(self, why: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"the rerank server {self._server.host} answers wrongly: {why}",
            hint="check base_url and model under `models.rerank` in the settings",
        )


def _finite(score: Any) -> float:  # noqa: ANN401 - JSON
    try:
        return float(score)
    except OverflowError:
        return math.inf


def _sound(text: str) -> str:
    """Return `text` without halves of surrogate pairs, which are no Unicode and which servers refuse."""
    return text.encode("utf-8", "replace").decode()
