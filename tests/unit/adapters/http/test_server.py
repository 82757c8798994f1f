"""A server may be slow, gone, busy or wrong: what is said then, and what is never said."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from kb.adapters.http.server import HttpxJsonServer
from kb.domain.errors import InvalidSettings
from kb.domain.failures import ModelUnavailable
from kb.domain.servers import Exchange, RequestRefused, ServerUnreachable, address_of
from tests.fakes.servers import Asked, LocalServer, Reply, serving

KEY = "sk-secret-1234567890"


def client(server: LocalServer, **more: Any) -> HttpxJsonServer:
    address = address_of(server.base_url, "models.embedding")
    return HttpxJsonServer(address, role="embedding", setting="models.embedding", **more)


def ask(of: HttpxJsonServer, timeout_s: float = 5.0, attempts: int = 1) -> Any:
    return of.post("/embeddings", {"input": ["x"]}, reason="embedding", timeout_s=timeout_s, attempts=attempts)


def test_what_is_sent_arrives_with_the_key_and_is_told_of_without_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[Exchange] = []
    with serving(lambda _: Reply(body={"ok": 1})) as server:
        assert ask(client(server, key=lambda: KEY, told=told.append)) == {"ok": 1}
    (asked,) = server.asked
    assert (asked.path, asked.body) == ("/v1/embeddings", {"input": ["x"]})
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert told == [Exchange(server.host, "embedding", len(b'{"input": ["x"]}'), len(b'{"ok": 1}'), 200)]
    assert KEY not in caplog.text + repr(told)


def test_without_a_key_none_is_sent() -> None:
    with serving(lambda _: Reply(body={})) as server:
        ask(client(server))
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (401, ModelUnavailable, "refuses the key"),
        (403, ModelUnavailable, "refuses the key"),
        (400, RequestRefused, "does not take the request"),
        (404, ModelUnavailable, "refused (status 404)"),
        (500, ModelUnavailable, "refused (status 500)"),
        (302, ModelUnavailable, "points to another address, which is not followed"),
        (429, ServerUnreachable, "is busy"),
    ],
)
def test_a_refusal_is_said_in_words_and_never_repeats_the_reply(
    status: int, error: type[ModelUnavailable], says: str
) -> None:
    body = {"error": f"Incorrect API key provided: {KEY}"}
    with (
        serving(lambda _: Reply(status, body, {"Location": "http://127.0.0.1:1/"})) as server,
        pytest.raises(error) as caught,
    ):
        ask(client(server, key=lambda: KEY))
    assert says in caught.value.message
    assert caught.value.hint
    assert KEY not in repr(caught.getrepr(chain=True)) + caught.value.message + caught.value.hint
    assert len(server.asked) == 1


def test_a_refused_key_hints_at_the_key() -> None:
    with serving(lambda _: Reply(401, {})) as server, pytest.raises(ModelUnavailable) as caught:
        ask(client(server))
    assert "kb connections key set embedding" in caught.value.hint


def test_a_busy_server_is_asked_again_after_the_time_it_says() -> None:
    replies = iter([Reply(429, {}, {"Retry-After": "3"}), Reply(503, {}), Reply(body={"ok": 1})])
    waited: list[float] = []
    with serving(lambda _: next(replies)) as server:
        assert ask(client(server, sleep=waited.append), attempts=3) == {"ok": 1}
    assert waited == [3.0, 1.0]


@pytest.mark.parametrize("after", ["3600", "21"])
def test_nobody_waits_for_a_server_that_wants_longer(after: str) -> None:
    waited: list[float] = []
    with (
        serving(lambda _: Reply(429, {}, {"Retry-After": after})) as server,
        pytest.raises(ServerUnreachable),
    ):
        ask(client(server, sleep=waited.append), attempts=3, timeout_s=60)
    assert not waited


def test_tries_end() -> None:
    with serving(lambda _: Reply(503, {})) as server, pytest.raises(ServerUnreachable):
        ask(client(server, sleep=lambda _: None), attempts=3)
    assert len(server.asked) == 3


def test_a_slow_server_is_given_up() -> None:
    started = time.monotonic()
    with serving(lambda _: Reply(body={}, stalls=True)) as server, pytest.raises(ServerUnreachable) as caught:
        ask(client(server), timeout_s=0.3)
    assert "took too long" in caught.value.message
    assert time.monotonic() - started < 5


def test_a_reply_that_breaks_off_is_no_reply() -> None:
    with (
        serving(lambda _: Reply(body={"data": []}, breaks_off=True)) as server,
        pytest.raises(ServerUnreachable) as caught,
    ):
        ask(client(server))
    assert "does not answer" in caught.value.message


def test_a_server_that_is_gone_is_said_to_be() -> None:
    with serving(lambda _: Reply()) as server:
        gone = client(server)
    with pytest.raises(ServerUnreachable) as caught:
        ask(gone, attempts=2)
    assert f"the embedding server {server.host} does not answer" in caught.value.message


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"\xff", b"[" * 100_000])
def test_a_reply_that_is_no_json_is_refused(body: bytes) -> None:
    with serving(lambda _: Reply(body=body)) as server, pytest.raises(ModelUnavailable) as caught:
        ask(client(server))
    assert "no JSON" in caught.value.message


def test_an_endless_reply_is_cut_off() -> None:
    with serving(lambda _: Reply(body=b" " * 3_000)) as server, pytest.raises(ModelUnavailable) as caught:
        ask(client(server, most_bytes=1_000))
    assert "longer than" in caught.value.message


def test_a_key_that_no_header_can_hold_is_not_shown_in_the_error() -> None:
    with serving(lambda _: Reply()) as server, pytest.raises(ModelUnavailable) as caught:
        ask(client(server, key=lambda: "sk-\nsecret"))
    assert "secret" not in repr(caught.getrepr(chain=True).reprcrash) + caught.value.message
    assert server.asked == []


def test_a_proxy_of_the_surroundings_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Asked] = []

    def proxy(asked: Asked) -> Reply:
        seen.append(asked)
        return Reply(502, {})

    with serving(proxy) as between, serving(lambda _: Reply(body={"ok": 1})) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{between.host}")
        assert ask(client(server)) == {"ok": 1}
    assert not seen


@pytest.mark.parametrize(
    ("url", "host", "is_loopback"),
    [
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434", True),
        ("http://localhost/v1/", "localhost", True),
        ("http://[::1]:1234/v1", "[::1]:1234", True),
        ("https://api.jina.ai/v1", "api.jina.ai", False),
        ("https://api.jina.ai:443/v1", "api.jina.ai", False),
    ],
)
def test_an_address_says_whom_it_means(url: str, host: str, is_loopback: bool) -> None:
    found = address_of(url, "models.rerank")
    assert (found.host, found.is_loopback) == (host, is_loopback)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "no address"),
        ("ftp://a/b", "no address"),
        ("http://:80/", "no address"),
        ("https://a:99999/", "no address"),
        ("https://user:pw@a/", "a server and a path only"),
        ("https://a/?key=1", "a server and a path only"),
        ("http://192.168.1.5:11434/v1", "unencrypted"),
        ("http://localhost.example.com/v1", "unencrypted"),
    ],
)
def test_what_nothing_may_be_sent_to_is_refused(url: str, says: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        address_of(url, "models.embedding")
    assert says in caught.value.message
    assert "pw" not in caught.value.message


def test_plain_http_to_another_computer_has_to_be_allowed() -> None:
    assert address_of("http://192.168.1.5:11434/v1", "models.embedding", allows_plain_http=True).host == (
        "192.168.1.5:11434"
    )
