"""The local server: bound to the loopback address, told to stop by a signal."""

from __future__ import annotations

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
from kb.bridge.workers import Workers
from kb.contract.facade import Facade
from kb.contract.problems import cannot_listen

_LOOPBACK = "127.0.0.1"
_WORKERS = 32
_FINISH_SECONDS = 2

OnReady = Callable[[int], None]


def create_server(
    facade: Facade, *, token: str, port: int, code: str | None = None, workers: Workers | None = None
) -> FastAPI:
    """Return the application; `port` is the one it will be reached at, `code` lets one browser in."""
    access = Access(token, code)
    app = FastAPI(title="Kebab", docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False
    add_routes(app, facade, access, workers or Workers(_WORKERS))

    async def on_bug(_request: object, error: Exception) -> Any:  # noqa: ANN401 - a response, as Starlette has it
        return problem_reply(explain(error))

    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_bug)
    app.add_middleware(Door, access=access, port=port)
    return app


def run_server(app: FastAPI, listening: socket.socket, on_ready: OnReady) -> None:
    """Serve on a bound socket until SIGTERM, SIGINT or Ctrl-C; `on_ready` gets the port."""
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
    server = _Server(config, lambda: on_ready(listening.getsockname()[1]))
    with _signals_only_end(server):
        server.run(sockets=[listening])


def serve_facade(facade: Facade, *, port: int, on_ready: Callable[[str, str, str], None]) -> None:
    """Serve `facade` until told to stop; port 0 takes a free one.

    Args:
        facade: what is served.
        port: where, on the loopback address.
        on_ready: gets the address, the token and the one-time code for a browser.

    Raises:
        Unreachable: the port is taken.
    """
    token, code = new_secret(), new_secret()
    workers = Workers(_WORKERS)
    try:
        with listen(port) as listening:
            app = create_server(facade, token=token, port=listening.getsockname()[1], code=code, workers=workers)
            run_server(app, listening, lambda real: on_ready(f"http://{_LOOPBACK}:{real}", token, code))
    finally:
        workers.close(_FINISH_SECONDS)


def listen(port: int) -> socket.socket:
    """Return a socket bound to the loopback address.

    Raises:
        Unreachable: the port is taken.
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
        raise cannot_listen(port) from error
    return listening


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_start()


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
