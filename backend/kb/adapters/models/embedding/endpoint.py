"""`EndpointEmbedder`: an OpenAI-compatible embeddings server (Ollama, a cloud); off unless a person sets one."""

from __future__ import annotations

import array
import math
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from kb.adapters.models.embedding.estimate import EstimatingTokenizer
from kb.adapters.models.embedding.tokenizer import sound
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.errors import Unreadable
from kb.domain.failures import ModelUnavailable
from kb.domain.servers import JsonServer, RequestRefused

PROVIDER = "openai_compatible"
PROBE = "Kebab asks whether this model answers."
"""What is sent to try a server; nothing of the library."""

_PATH = "/embeddings"
_BATCH = 32
_ATTEMPTS = 3
_QUESTION_S = 10.0
_SPECIAL_TOKENS = 2
_MARGIN = 2
_MOST_DIMENSIONS = 16_384
_LEAST_WINDOW = 16
_HINT = "`kb connections test embedding` asks the server anew"


def endpoint_model(  # noqa: PLR0917 - one value of each setting
    name: str,
    base_url: str,
    host: str,
    dimensions: int,
    query_prefix: str = "",
    passage_prefix: str = "",
    max_tokens: int = 512,
) -> EmbeddingModel:
    """Return the model of a server as what it is known by: everything that shapes its vectors is in its fingerprint.

    Its version names dimensions and server, since a server tells no other.
    """
    prefix = EstimatingTokenizer().count(passage_prefix)
    return EmbeddingModel(
        id=name,
        version=f"{dimensions}d from {host}",
        provider=PROVIDER,
        dimensions=dimensions,
        pooling="server",
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        max_tokens=max(max_tokens - _SPECIAL_TOKENS - prefix - _MARGIN, _LEAST_WINDOW),
        endpoint=base_url,
    )


def ask_dimensions(server: JsonServer, name: str, timeout_s: float) -> int:
    """Send one harmless sentence and return how many dimensions the model has.

    Raises:
        ModelUnavailable: the server does not answer, refuses or gives no vector.
    """
    (vector,) = _vectors(server, name, [PROBE], None, timeout_s, attempts=1)
    return len(vector) // 4


class EndpointEmbedder:
    """`PassageEmbedder` and `QueryEmbedder` over a server. May be used from several threads.

    While one request is under way the passages of other threads gather, and go together with the next: up to 32.

    Args:
        server: whom everything is sent to.
        model: what is known of the model; vectors of other dimensions are refused.
        timeout_s: for one request, further attempts included; a question waits ten seconds at most.
    """

    def __init__(self, server: JsonServer, model: EmbeddingModel, timeout_s: float = 30.0) -> None:
        self._server = server
        self._model = model
        self._timeout = timeout_s
        self._waiting: deque[tuple[str, Future[Vector]]] = deque()
        self._sending = threading.Lock()

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without asking the server."""
        return self._model

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question.

        Raises:
            ModelUnavailable: the server does not answer (`ServerUnreachable`), refuses or gives a wrong vector.
        """
        timeout = min(self._timeout, _QUESTION_S)
        (vector,) = self._ask([sound(self._model.query_prefix + text)], timeout, attempts=1)
        return vector

    def embed_passage(self, text: str) -> Vector:
        """Return the vector of one passage.

        Raises:
            ModelUnavailable: the server does not answer (`ServerUnreachable`), refuses or gives a wrong vector.
            Unreadable: it does not take this text, others it does.
        """
        future: Future[Vector] = Future()
        self._waiting.append((sound(self._model.passage_prefix + text), future))
        while not future.done():
            with self._sending:
                if not future.done():
                    self._send_next()
        return future.result()

    def _send_next(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        try:
            vectors = self._ask([text for text, _ in batch], self._timeout, _ATTEMPTS)
        except RequestRefused as error:
            if len(batch) == 1:
                batch[0][1].set_exception(self._why(error))
                return
            # One text that it does not take shall not cost the others their vectors.
            for text, future in batch:
                self._send_alone(text, future)
        except BaseException as error:  # noqa: BLE001 - whoever waits hears it
            for _, future in batch:
                future.set_exception(error)
        else:
            for (_, future), vector in zip(batch, vectors, strict=True):
                future.set_result(vector)

    def _send_alone(self, text: str, future: Future[Vector]) -> None:
        try:
            (vector,) = self._ask([text], self._timeout, _ATTEMPTS)
        except RequestRefused as error:
            future.set_exception(self._why(error))
        except BaseException as error:  # noqa: BLE001 - as above
            future.set_exception(error)
        else:
            future.set_result(vector)

    def _why(self, error: RequestRefused) -> Exception:
        """Return whether it refuses this text only, or everything."""
        try:
            self._ask([PROBE], self._timeout, attempts=1)
        except ModelUnavailable:
            return error
        return Unreadable("the embedding server does not take this text", reason="embedding")

    def _ask(self, texts: Sequence[str], timeout_s: float, attempts: int) -> list[Vector]:
        return _vectors(self._server, self._model.id, texts, self._model.dimensions, timeout_s, attempts=attempts)


def _vectors(  # noqa: PLR0917 - one request
    server: JsonServer, name: str, texts: Sequence[str], dimensions: int | None, timeout_s: float, attempts: int
) -> list[Vector]:
    body = {"model": name, "input": list(texts), "encoding_format": "float"}
    reply = server.post(_PATH, body, reason="embedding", timeout_s=timeout_s, attempts=attempts)
    data = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(data, list):
        raise _wrong(server, "its reply has no vectors")
    if len(data) != len(texts):
        raise _wrong(server, f"{len(data)} vectors for {len(texts)} texts")
    return [_vector(server, one, dimensions) for one in _in_order(server, data)]


def _in_order(server: JsonServer, data: Sequence[Any]) -> list[Any]:
    """Return the vectors in the order of the texts: a server may send them in any, but must say which is which."""
    placed: dict[int, Any] = {}
    for one in data:
        if not isinstance(one, Mapping):
            raise _wrong(server, "its reply has no vectors")
        index = one.get("index", 0 if len(data) == 1 else None)
        if type(index) is not int or not 0 <= index < len(data) or index in placed:
            raise _wrong(server, "it does not say which vector belongs to which text")
        placed[index] = one.get("embedding")
    return [placed[index] for index in range(len(data))]


def _vector(server: JsonServer, given: Any, dimensions: int | None) -> Vector:  # noqa: ANN401 - JSON
    if not isinstance(given, list) or not 0 < len(given) <= _MOST_DIMENSIONS:
        raise _wrong(server, "its reply has no vectors")
    if dimensions is not None and len(given) != dimensions:
        raise _wrong(
            server,
            f"its vectors have {len(given)} dimensions, those of the library {dimensions}: incompatible, "
            "another model stands behind the same name",
        )
    if not all(type(value) in {int, float} for value in given):
        raise _wrong(server, "a vector has something else than numbers")
    try:
        length = math.sqrt(math.fsum(float(value) ** 2 for value in given))
    except OverflowError:
        length = math.inf
    if not math.isfinite(length):
        raise _wrong(server, "a vector is not finite")
    if length <= sys.float_info.min:
        raise _wrong(server, "a vector is zero")
    values = array.array("f", (value / length for value in given))
    if sys.byteorder == "big":
        values.byteswap()
    return Vector(values.tobytes())


def _wrong(server: JsonServer, why: str) -> ModelUnavailable:
    return ModelUnavailable(f"the embedding server {server.host} gives wrong vectors: {why}", hint=_HINT)
