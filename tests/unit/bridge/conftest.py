"""A live server on the loopback address around the fake facade."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kb.bridge import server as bridge
from kb.bridge.access import Access
from kb.bridge.server import create_server, listen
from tests.fakes.facade import FakeFacade

TOKEN = "t0ken-of-this-test-and-no-other-0123456789"
CODE = "c0de-of-this-test"


@dataclass
class Reply:
    """What came back over a raw socket."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The one header of that name, None when there is none."""
        found = [value for key, value in self.headers if key == name.lower()]
        assert len(found) <= 1, found
        return found[0] if found else None

    @property
    def code(self) -> str:
        """The code of a problem."""
        return str(json.loads(self.body)["code"])


@dataclass
class Live:
    """A running server, spoken to byte by byte."""

    port: int
    facade: FakeFacade
    routes: list[tuple[str, str]]
    access: Access

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: list[tuple[str, str]] | None = None,
        host: str | list[str] | None = None,
        token: str | None = TOKEN,
        body: bytes | None = None,
        content_type: str | None = "application/json",
    ) -> Reply:
        """One request on a connection of its own; what is not given is as an honest caller sends it."""
        hosts = [f"127.0.0.1:{self.port}"] if host is None else [host] if isinstance(host, str) else host
        lines = [("Host", name) for name in hosts] + (headers or [])
        if token is not None:
            lines.append(("Authorization", f"Bearer {token}"))
        if method == "POST":
            body = b"{}" if body is None else body
            lines.append(("Content-Length", str(len(body))))
            if content_type is not None:
                lines.append(("Content-Type", content_type))
        lines.append(("Connection", "close"))
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in lines) + "\r\n"
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(head.encode("latin-1") + (body or b""))
            return read_reply(connection)

    def post(self, path: str, request: object) -> Reply:
        """An honest call with this request."""
        return self.send("POST", f"/api/v1/{path}", body=json.dumps(request).encode())


def read_reply(connection: socket.socket) -> Reply:
    """Everything until the other side closes."""
    data = b""
    while piece := connection.recv(65_536):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = [(key.lower(), value.strip()) for key, _, value in (line.partition(":") for line in rest)]
    if ("transfer-encoding", "chunked") in headers:
        body = _unchunked(body)
    return Reply(int(first.split(" ")[1]), headers, body)


def _unchunked(data: bytes) -> bytes:
    whole = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        whole, data = whole + data[:length], data[length + 2 :]
    return whole


@pytest.fixture(scope="module")
def running() -> Iterator[Live]:
    """A server for the tests of one module, ended with them."""
    facade = FakeFacade()
    listening = listen(0)
    port = listening.getsockname()[1]
    app = create_server(facade.as_facade(), token=TOKEN, port=port, code=CODE)
    access = next(found for m in app.user_middleware if isinstance(found := m.kwargs.get("access"), Access))
    routes = [
        (method, getattr(route, "path", ""))
        for route in app.routes
        for method in sorted(getattr(route, "methods", None) or [])
    ]
    started, servers = threading.Event(), []

    class Remembered(bridge._Server):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            servers.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge, "_Server", Remembered)
        thread = threading.Thread(target=bridge.run_server, args=(app, listening, lambda _port: started.set()))
        thread.start()
        assert started.wait(20)
    try:
        yield Live(port, facade, routes, access)
    finally:
        facade.go_on.set()
        servers[0].should_exit = True
        thread.join(20)
        listening.close()
        assert not thread.is_alive()


@pytest.fixture
def live(running: Live, tmp_path: Path) -> Iterator[Live]:
    """The server as if it had just been started, with two files."""
    facade = running.facade
    facade.reset()
    running.access.code = CODE
    (tmp_path / "a.txt").write_bytes(bytes(range(128)) * 8)
    (tmp_path / "page.html").write_text("<script>alert(1)</script>", encoding="utf-8")
    facade.files = {"text": (tmp_path / "a.txt", "text/plain"), "page": (tmp_path / "page.html", "text/html")}
    yield running
    facade.go_on.set()
