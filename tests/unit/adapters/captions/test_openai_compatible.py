from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kb.adapters.captions.openai_compatible import OpenAiCompatibleCaptioner
from kb.domain.errors import InvalidSettings
from kb.domain.failures import ModelUnavailable, Unreachable
from kb.domain.items import MediaType

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


@dataclass
class Server:
    """What it answers, how slowly, and what it was asked."""

    body: bytes
    status: int = 200
    wait: float = 0.0
    drip: float = 0.0
    dripped: int = 0
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            server.headers.append({**dict(self.headers), "path": self.path})
            time.sleep(server.wait)
            try:
                self.send_response(server.status)
                if server.status == 302:
                    self.send_header("Location", f"{server.url}/elsewhere")
                self.send_header("Content-Length", str(len(server.body)))
                self.end_headers()
                for byte in server.body if server.drip else [server.body]:
                    self.wfile.write(bytes([byte]) if isinstance(byte, int) else byte)
                    server.dripped += 1
                    time.sleep(server.drip)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            return

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    server.url = f"http://127.0.0.1:{listener.server_address[1]}/v1"
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


def said(content: object) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()


def test_a_picture_is_sent_as_it_is_and_its_description_taken() -> None:
    with serving(Server(said(" A whiteboard\nwith three   boxes. "))) as server:
        captioner = OpenAiCompatibleCaptioner(server.url + "/", "qwen2.5-vl")
        assert captioner.caption(PNG, MediaType.IMAGE) == "A whiteboard with three boxes."
    (request,) = server.requests
    link = request["messages"][0]["content"][1]["image_url"]["url"]
    assert base64.b64decode(link.removeprefix("data:image/png;base64,")) == PNG
    assert (request["model"], request["stream"], request["temperature"]) == ("qwen2.5-vl", False, 0)
    assert server.headers[0]["path"] == "/v1/chat/completions"
    assert "Authorization" not in server.headers[0]
    assert captioner.model == "qwen2.5-vl"


def test_parts_of_a_description_are_joined() -> None:
    with serving(Server(said([{"type": "text", "text": "A cat"}, {"type": "text", "text": "asleep."}]))) as server:
        assert OpenAiCompatibleCaptioner(server.url, "m").caption(PNG, MediaType.IMAGE) == "A cat asleep."


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_CAPTION_KEY", "made-up")
    with serving(Server(said("A cat."))) as server:
        OpenAiCompatibleCaptioner(server.url, "m", "MY_CAPTION_KEY").caption(PNG, MediaType.IMAGE)
    assert server.headers[0]["Authorization"] == "Bearer made-up"


def test_a_missing_key_is_named_and_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_CAPTION_KEY", raising=False)
    with serving(Server(said("A cat."))) as server, pytest.raises(ModelUnavailable, match="MY_CAPTION_KEY"):
        OpenAiCompatibleCaptioner(server.url, "m", "MY_CAPTION_KEY").caption(PNG, MediaType.IMAGE)
    assert server.requests == []


@pytest.mark.parametrize("status", [302, 400, 401, 404, 500])
def test_another_status_is_a_refusal_and_redirects_are_not_followed(status: int) -> None:
    with serving(Server(b"", status)) as server, pytest.raises(ModelUnavailable, match=str(status)):
        OpenAiCompatibleCaptioner(server.url, "m").caption(PNG, MediaType.IMAGE)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b'"x"',
        b'{"choices": []}',
        said(None),
        said("  \n\x00 "),
        said(7),
        b"data: {}\n\ndata: [DONE]\n\n",
        b"\xff\xfe",
        b" " * (2 << 20),
    ],
)
def test_nonsense_is_no_description(body: bytes) -> None:
    with serving(Server(body)) as server, pytest.raises(ModelUnavailable):
        OpenAiCompatibleCaptioner(server.url, "m").caption(PNG, MediaType.IMAGE)


def test_a_slow_server_is_given_up() -> None:
    with serving(Server(said("late"), wait=0.6)) as server, pytest.raises(Unreachable, match="too long"):
        OpenAiCompatibleCaptioner(server.url, "m", timeout=0.1).caption(PNG, MediaType.IMAGE)


def test_a_server_that_drips_is_given_up_in_the_same_time() -> None:
    body = said("late " * 400)
    # Each byte comes in time; all of them take a hundred times as long as is allowed.
    with serving(Server(body, drip=0.02)) as server, pytest.raises(Unreachable, match="too long"):
        OpenAiCompatibleCaptioner(server.url, "m", timeout=0.4).caption(PNG, MediaType.IMAGE)
    assert server.dripped < len(body)


def test_no_server_is_unreachable_and_its_address_is_not_told() -> None:
    with serving(Server(b"")) as server:
        url = server.url
    with pytest.raises(Unreachable) as error:
        OpenAiCompatibleCaptioner(url, "m").caption(PNG, MediaType.IMAGE)
    assert "127.0.0.1" not in error.value.message + error.value.hint


def test_a_long_description_is_cut_and_control_characters_are_left_out() -> None:
    with serving(Server(said("A\x07 cat. " * 1_000))) as server:
        caption = OpenAiCompatibleCaptioner(server.url, "m").caption(PNG, MediaType.IMAGE)
    assert len(caption) == 2_000
    assert caption.startswith("A cat. A cat.")


def test_kinds_that_servers_do_not_take_are_not_sent() -> None:
    with serving(Server(said("x"))) as server:
        captioner = OpenAiCompatibleCaptioner(server.url, "m")
        for data, media_type in (
            (b"II*\x00", MediaType.IMAGE),
            (PNG, MediaType.PDF),
            (PNG + bytes(21 << 20), MediaType.IMAGE),
        ):
            with pytest.raises(ModelUnavailable):
                captioner.caption(data, media_type)
    assert server.requests == []


@pytest.mark.parametrize(("url", "model"), [("", "m"), ("ftp://x", "m"), ("http://127.0.0.1/v1", "")])
def test_settings_without_server_or_model_are_refused(url: str, model: str) -> None:
    with pytest.raises(InvalidSettings):
        OpenAiCompatibleCaptioner(url, model)
