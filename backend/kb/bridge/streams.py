"""Server-sent events: a streamed answer, and what happens in the library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from threading import Thread

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from kb.bridge.replies import explain, problem_reply
from kb.bridge.workers import Workers
from kb.contract.answers import AskRequest, StopRequest
from kb.contract.base import Wire
from kb.contract.events import StreamEvent
from kb.contract.facade import Facade, Subscription
from kb.contract.problems import problem
from kb.contract.retrieval import RetrievalResponse

KEEP_ALIVE_SECONDS = 15.0
MAX_LISTENERS = 64
_LISTEN_SECONDS = 0.5

_Piece = tuple[str, Wire, str] | None
"""Name, data and id, the last empty for what nobody resumes."""

_Tell = Callable[[_Piece], None]
_Pieces = asyncio.Queue[_Piece]


class Streams:
    """The open streams of one server; to be used from its event loop.

    Listeners have threads of their own: they wait for hours, and must not take those that calls are waiting for.

    Args:
        workers: write the answers.
    """

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._open: set[_Pieces] = set()
        self._writing: dict[str, Facade] = {}
        self._listeners = 0
        self._ended = False

    def answer(self, facade: Facade, request: AskRequest) -> Response:
        """Answer with events as the answer comes. A reader that leaves does not end the answer."""
        pieces, tell = _channel()
        found: list[str] = []

        def sink(event: StreamEvent) -> None:
            if isinstance(event.data, RetrievalResponse) and event.data.trace_id:
                found.append(event.data.trace_id)
                self._writing[event.data.trace_id] = facade
            # the last event is told once, below, whether the facade told it or not
            if event.name not in {"answer", "error"}:
                tell((event.name, event.data, ""))

        def work() -> None:
            try:
                tell(("answer", facade.answers.stream(request, sink), ""))
            except Exception as error:  # noqa: BLE001 - the edge: told as an event
                tell(("error", explain(error), ""))
            finally:
                tell(None)
                for trace_id in found:
                    self._writing.pop(trace_id, None)

        self.workers.submit(work)
        return _Stream(self._events(pieces))

    def listen(self, subscribe: Callable[[], Subscription]) -> Response:
        """Tell what happens until the reader leaves."""
        if self._listeners >= MAX_LISTENERS:
            hint = "close other windows of Kebab"
            return problem_reply(problem(503, "too_many_listeners", "no more event streams can be opened", hint=hint))
        self._listeners += 1
        pieces, tell = _channel()
        subscription = subscribe()
        left: list[bool] = []

        def work() -> None:
            try:
                while not left:
                    event = subscription.next(_LISTEN_SECONDS)
                    if event is not None:
                        tell((event.kind, event, subscription.last_id))
            finally:
                subscription.close()
                tell(None)

        def leave() -> None:
            left.append(True)
            self._listeners -= 1

        Thread(target=work, name="kb-listener", daemon=True).start()
        return _Stream(self._events(pieces), leave)

    def end(self) -> None:
        """Close every stream and stop the answers in them, which are kept as far as they are: the server stops."""
        self._ended = True
        for trace_id, facade in list(self._writing.items()):
            facade.answers.stop(StopRequest(trace_id=trace_id))
        for pieces in self._open:
            pieces.put_nowait(None)

    async def _events(self, pieces: _Pieces) -> AsyncIterator[bytes]:
        self._open.add(pieces)
        try:
            yield b": open\n\n"
            while not self._ended:
                try:
                    piece = await asyncio.wait_for(pieces.get(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield b": waiting\n\n"
                    continue
                if piece is None:
                    return
                name, data, number = piece
                line = f"id: {number}\n" if number else ""
                yield f"{line}event: {name}\ndata: {data.model_dump_json()}\n\n".encode()
        finally:
            self._open.discard(pieces)


def _channel() -> tuple[_Pieces, _Tell]:
    """A queue that threads may fill and the event loop reads."""
    pieces: _Pieces = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def tell(piece: _Piece) -> None:
        # once the loop has ended nobody is left to tell
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

    return pieces, tell


class _Stream(StreamingResponse):
    """Calls `at_end` however it ends, also when the reader left before the first byte."""

    def __init__(self, events: AsyncIterator[bytes], at_end: Callable[[], None] = lambda: None) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._at_end = at_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._at_end()
