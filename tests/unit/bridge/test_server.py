"""The server as a process: where it listens, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb.bridge.server import listen
from kb.domain.failures import Unreachable

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import sys
from kb.bridge.server import serve_facade
from kb.contract.system import Server
from tests.fakes.facade import FakeFacade
facade = FakeFacade()
facade.go_on.clear()
ready = lambda url, token, code: print(Server(url=url, token=token).model_dump_json(), flush=True)
serve_facade(facade.as_facade(), port=0, on_ready=ready)
print("cleaned up", flush=True)
"""


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """A server process, its port and token."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'backend'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            yield process, int(ready["url"].rpartition(":")[2]), ready["token"]
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_time_though_streams_are_open(kind: signal.Signals) -> None:
    with served() as (process, port, token):
        head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n"
        body = b'{"question": "q"}'
        ask = f"POST /api/v1/answers/ask HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
        ask += f"Content-Length: {len(body)}\r\n\r\n"
        with (
            socket.create_connection(("127.0.0.1", port), timeout=20) as events,
            socket.create_connection(("127.0.0.1", port), timeout=20) as asking,
            socket.create_connection(("127.0.0.1", port), timeout=20) as half,
        ):
            half.sendall(f"POST /api/v1/search/find HTTP/1.1\r\n{head}Content-Length: 99\r\n".encode())
            half.sendall(b"Content-Type: application/json\r\n\r\n{")
            events.sendall(f"GET /api/v1/events HTTP/1.1\r\n{head}\r\n".encode())
            asking.sendall(ask.encode() + body)
            assert events.recv(1_000)
            assert asking.recv(1_000)
            began = time.monotonic()
            process.send_signal(kind)
            assert process.wait(10) == 0
            assert time.monotonic() - began < 10
        assert process.stdout is not None
        assert process.stdout.read() == "cleaned up\n"
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_what_strangers_send_is_not_told_on_the_terminal() -> None:
    with served() as (process, port, _token):
        for sent in (b"junk\r\n\r\n", b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as stranger:
                stranger.sendall(sent)
                assert stranger.recv(1_000).startswith(b"HTTP/1.1 4")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_it_listens_on_the_loopback_address_only() -> None:
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_small_replies_are_sent_at_once() -> None:
    # asyncio turns Nagle's algorithm off only on sockets made for TCP by name
    with listen(0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_a_taken_port_is_said_so() -> None:
    with listen(0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(Unreachable, match=f"port {port} is taken") as caught:
            listen(port)
    assert "--port" in caught.value.hint


def test_a_port_that_only_the_system_may_open_is_not_called_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_socket: socket.socket, _address: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refused)
    with pytest.raises(Unreachable, match="port 80 may not be opened by you"):
        listen(80)
