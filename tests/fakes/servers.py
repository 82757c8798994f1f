"""Servers on this computer that embed and rank, and do whatever a server may do wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Reply:
    """What the server says; `body` is JSON unless it is bytes.

    Attributes:
        stalls: sends the headers, then nothing until the server ends.
        breaks_off: promises more than it sends.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    stalls: bool = False
    breaks_off: bool = False


class LocalServer:
    """Listens on loopback while it is entered.

    Args:
        answer: gives the reply of each request, on a thread of its own.
    """

    def __init__(self, answer: Callable[[Asked], Reply]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self._over = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                asked = Asked(self.path, dict(self.headers), json.loads(raw))
                server.asked.append(asked)
                server.send(self, server.answer(asked))

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        """Its address, with a path as real ones have."""
        return f"http://{self.host}/v1"

    @property
    def host(self) -> str:
        """Its host with the port."""
        return f"127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        """Write a reply, or a part of one."""
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content) + (100 if reply.breaks_off else 0)))
        handler.end_headers()
        if reply.stalls:
            handler.wfile.flush()
            self._over.wait(20)
            return
        handler.wfile.write(content)


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[LocalServer]:
    """Give a server on this computer."""
    with LocalServer(answer) as server:
        yield server


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return a vector that differs from text to text, not of length one: shared words make them alike."""
    values = [0.01] * dimensions
    for word in text.casefold().split():
        values[sum(map(ord, word)) % dimensions] += 2.0
    return values


def embedding(dimensions: int = 8) -> Callable[[Asked], Reply]:
    """Return what answers as an embedding server does, in no particular order."""

    def answer(asked: Asked) -> Reply:
        data = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, dimensions)}
            for index, text in enumerate(asked.body["input"])
        ]
        return Reply(body={"object": "list", "data": data[::-1], "model": asked.body["model"]})

    return answer


def ranking() -> Callable[[Asked], Reply]:
    """Return what answers as a rerank server does: the share of the question's words a passage has, best first."""

    def answer(asked: Asked) -> Reply:
        scores = [share(asked.body["query"], text) for text in asked.body["documents"]]
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return Reply(body={"results": [{"index": index, "relevance_score": scores[index]} for index in order]})

    return answer


def share(question: str, text: str) -> float:
    """Return the share of the question's words that a text has."""
    words = set(question.casefold().split())
    return len(words & set(text.casefold().split())) / len(words)


class FakeReranker:
    """Ranks by shared words, in process."""

    name = "fake"

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        """Return the share of the question's words that each text has."""
        del timeout_s
        return tuple(share(question, text) for text in texts)
