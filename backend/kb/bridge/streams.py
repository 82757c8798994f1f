"""Server-sent events: a streamed answer, and what happens in the library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.responses import StreamingResponse

from kb.bridge.replies import explain
from kb.bridge.workers import Workers
from kb.contract.answers import AskRequest
from kb.contract.base import Wire
from kb.contract.events import StreamEvent
from kb.contract.facade import Facade, Subscription

KEEP_ALIVE_SECONDS = 15.0
_LISTEN_SECONDS = 0.5

_Piece = tuple[str, Wire] | None
_Tell = Callable[[_Piece], None]


def answer_stream(facade: Facade, request: AskRequest, workers: Workers) -> StreamingResponse:
    """Answer with events as the answer comes. A reader that leaves does not end the answer."""
    tell, pieces = _channel()

    def sink(event: StreamEvent) -> None:
        # the last event is told once, below, whether the facade told it or not
        if event.name not in {"answer", "error"}:
            tell((event.name, event.data))

    def work() -> None:
        try:
            tell(("answer", facade.answers.stream(request, sink)))
        except Exception as error:  # noqa: BLE001 - the edge: told as an event
            tell(("error", explain(error)))
        finally:
            tell(None)

    workers.submit(work)
    return _stream(_events(pieces))


def library_stream(subscription: Subscription, workers: Workers) -> StreamingResponse:
    """Tell what happens until the reader leaves."""
    tell, pieces = _channel()
    left: list[bool] = []

    def work() -> None:
        try:
            while not left:
                event = subscription.next(_LISTEN_SECONDS)
                if event is not None:
                    tell((event.kind, event))
        finally:
            subscription.close()
            tell(None)

    async def until_left() -> AsyncIterator[bytes]:
        try:
            async for text in _events(pieces):
                yield text
        finally:
            left.append(True)

    workers.submit(work)
    return _stream(until_left())


def _channel() -> tuple[_Tell, asyncio.Queue[_Piece]]:
    """A queue that threads may fill and the event loop reads."""
    pieces: asyncio.Queue[_Piece] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def tell(piece: _Piece) -> None:
        try:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)
        except RuntimeError:
            return  # the loop has ended: nobody is left to tell

    return tell, pieces


async def _events(pieces: asyncio.Queue[_Piece]) -> AsyncIterator[bytes]:
    yield b": open\n\n"
    while True:
        try:
            piece = await asyncio.wait_for(pieces.get(), KEEP_ALIVE_SECONDS)
        except TimeoutError:
            yield b": waiting\n\n"
            continue
        if piece is None:
            return
        name, data = piece
        yield f"event: {name}\ndata: {data.model_dump_json()}\n\n".encode()


def _stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(events, media_type="text/event-stream")
