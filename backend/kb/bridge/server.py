"""The local server: bound to the loopback address, told to stop by a signal."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.exceptions import HTTPException

from kb.bridge.access import Access, new_secret
from kb.bridge.door import Door
from kb.bridge.replies import explain, on_http_error, problem_reply
from kb.bridge.routes import add_routes
from kb.bridge.streams import Streams
from kb.bridge.workers import Workers
from kb.contract.facade import Facade
from kb.contract.problems import cannot_listen

_LOG = logging.getLogger("kb.bridge")
_LOOPBACK = "127.0.0.1"
_WORKERS = 32
# Answers may wait for each other and for a model for minutes; searches must not wait behind them.
_ANSWERING = 16
_FINISH_SECONDS = 2

OnReady = Callable[[int], None]


def create_server(
    facade: Facade,
    *,
    token: str,
    port: int,
    code: str | None = None,
    workers: Workers | None = None,
    streams: Streams | None = None,
) -> FastAPI:
    """Return the application; `port` is the one it will be reached at, `code` lets one browser in."""
    access = Access(token, code)
    app = FastAPI(title="Kebab", docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False
    add_routes(app, facade, access, workers or Workers(_WORKERS), streams or Streams(Workers(_ANSWERING)))

    async def on_bug(_request: object, error: Exception) -> Any:  # noqa: ANN401 - a response, as Starlette has it
        return problem_reply(explain(error))

    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_bug)
    app.add_middleware(Door, access=access, port=port)
    return app


def run_server(
    app: FastAPI, listening: socket.socket, on_ready: OnReady, on_stop: Callable[[], None] = lambda: None
) -> None:
    """Serve on a bound socket until SIGTERM, SIGINT or Ctrl-C; `on_ready` gets the port, `on_stop` runs in the loop."""
    config = uvicorn.Config(
        app,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_FINISH_SECONDS,
        timeout_keep_alive=30,
    )
    server = _Server(config, lambda: on_ready(listening.getsockname()[1]), on_stop)
    with _signals_only_end(server), _failures_to_our_log():
        server.run(sockets=[listening])


def serve_facade(facade: Facade, *, port: int, on_ready: Callable[[str, str, str], None]) -> None:
    """Serve `facade` until told to stop; port 0 takes a free one.

    Args:
        facade: what is served.
        port: where, on the loopback address.
        on_ready: gets the address, the token and the one-time code for a browser.

    Raises:
        Unreachable: the port is taken, or not for this person to open.
    """
    token, code = new_secret(), new_secret()
    workers, streams = Workers(_WORKERS), Streams(Workers(_ANSWERING))
    try:
        with listen(port) as listening:
            app = create_server(
                facade, token=token, port=listening.getsockname()[1], code=code, workers=workers, streams=streams
            )
            run_server(app, listening, lambda real: on_ready(f"http://{_LOOPBACK}:{real}", token, code), streams.end)
    finally:
        workers.close(_FINISH_SECONDS)
        streams.workers.close(_FINISH_SECONDS)


def listen(port: int) -> socket.socket:
    """Return a socket bound to the loopback address.

    Raises:
        Unreachable: the port is taken, or not for this person to open.
    """
    # asyncio sends small replies at once only on sockets that name TCP; else each call waits 40 ms for an ACK
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # on Windows this option would let another program share the port
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_LOOPBACK, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise cannot_listen(port, error) from error
    return listening


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets=sockets)


class _ToOurLog(logging.Handler):
    """Takes what uvicorn says: failures go to our log, and nothing to the terminal.

    Broken requests of strangers, and requests that were cut off because the server stops, are no failures.
    """

    def emit(self, record: logging.LogRecord) -> None:
        cut_off = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
        if record.exc_info is not None and not cut_off:
            _LOG.error("the server failed", exc_info=record.exc_info)


@contextmanager
def _failures_to_our_log() -> Iterator[None]:
    theirs, handler = logging.getLogger("uvicorn"), _ToOurLog(logging.ERROR)
    before, theirs.propagate = theirs.propagate, False
    theirs.addHandler(handler)
    try:
        yield
    finally:
        theirs.removeHandler(handler)
        theirs.propagate = before


@contextmanager
def _signals_only_end(server: uvicorn.Server) -> Iterator[None]:
    """Let the caller clean up: uvicorn repeats the signal after its end, which would kill the process."""

    def stop(*_: object) -> None:
        server.should_exit = True

    kinds = (signal.SIGTERM, signal.SIGINT)
    try:
        before = {kind: signal.signal(kind, stop) for kind in kinds}
    except ValueError:  # not in the main thread: there are no signals to mind
        yield
        return
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
