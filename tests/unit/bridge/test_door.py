"""The door, over raw sockets: every route, every way of not being allowed in (threats, rows 1 and 2)."""

from __future__ import annotations

import re
import socket

import pytest

from kb.bridge.access import Access, new_secret
from tests.unit.bridge.conftest import CODE, TOKEN, Live, read_reply

OPEN = {("GET", "/api/v1/health"), ("HEAD", "/api/v1/health"), ("POST", "/api/v1/session/open")}


def concrete(path: str) -> str:
    """A path with its parameters filled in."""
    return re.sub(r"\{\w+\}", "text", path)


def requests(live: Live) -> list[tuple[str, str]]:
    """Every route as it would be called."""
    found = [(method, concrete(path)) for method, path in live.routes]
    assert ("POST", "/api/v1/search/find") in found
    assert len(found) > 25
    return found


def hosts(port: int) -> list[str | list[str]]:
    """Host headers of others."""
    return [
        "evil.example",
        f"evil.example:{port}",
        f"localhost.evil.com:{port}",
        f"127.0.0.1.nip.io:{port}",
        f":{port}",
        "",
        f"[::1]:{port}",
        f"0.0.0.0:{port}",
        f"127.0.0.1:{port + 1}",
        "127.0.0.1",
        "localhost",
        f"localhost.:{port}",
        f"127.0.0.1.:{port}",
        f"LOCALHOST:{port}",
        f"127.0.0.1:{port}@evil.example",
        f"127.1:{port}",
        f"2130706433:{port}",
        [f"127.0.0.1:{port}", "evil.example"],
        ["evil.example", f"127.0.0.1:{port}"],
        [f"127.0.0.1:{port}", f"127.0.0.1:{port}"],
        [],
    ]


def test_a_foreign_host_reaches_no_handler_on_any_route(live: Live) -> None:
    for method, path in requests(live):
        for host in hosts(live.port):
            reply = live.send(method, path, host=host)
            # 400 is the HTTP parser's own refusal, before our code
            assert reply.status in {421, 400}, (method, path, host)
    assert live.facade.calls == []


def test_our_own_two_names_are_let_in(live: Live) -> None:
    for name in ("127.0.0.1", "localhost"):
        assert live.send("GET", "/api/v1/health", host=f"{name}:{live.port}").body == b"ok"


def test_no_route_but_the_named_ones_opens_without_a_token(live: Live) -> None:
    for method, path in requests(live):
        reply = live.send(method, path, token=None)
        if (method, path) in OPEN:
            assert reply.status in {200, 400}, (method, path)
        else:
            assert reply.status == 401, (method, path)
            assert reply.header("www-authenticate") == "Bearer"
    assert live.facade.calls == []


@pytest.mark.parametrize("token", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), CODE, "null", "é"])
def test_a_wrong_token_opens_no_route(live: Live, token: str) -> None:
    for method, path in requests(live):
        if (method, path) not in OPEN:
            assert live.send(method, path, token=token).status == 401, (method, path)
    assert live.facade.calls == []


def test_a_token_elsewhere_than_in_its_header_is_no_token(live: Live) -> None:
    path = "/api/v1/system/doctor"
    assert live.send("POST", f"{path}?token={TOKEN}&access_token={TOKEN}", token=None).status == 401
    assert live.send("POST", path, token=None, headers=[("Cookie", f"token={TOKEN}")]).status == 401
    assert live.send("POST", path, token=None, headers=[("Authorization", f"Basic {TOKEN}")]).status == 401
    assert live.send("POST", path, headers=[("Authorization", "Bearer other")]).status == 401
    assert live.facade.calls == []


FOREIGN = [
    ("Origin", "http://evil.example"),
    ("Origin", "null"),
    ("Origin", ""),
    ("Origin", "http://127.0.0.1"),
    ("Origin", "http://127.0.0.1:1"),
    ("Origin", "file://"),
    ("Sec-Fetch-Site", "cross-site"),
    ("Sec-Fetch-Site", "same-site"),
]


@pytest.mark.parametrize("header", FOREIGN, ids=": ".join)
def test_another_page_reaches_no_handler_even_with_the_token(live: Live, header: tuple[str, str]) -> None:
    for method, path in requests(live):
        assert live.send(method, path, headers=[header]).status == 403, (method, path)
    assert live.facade.calls == []


def test_another_port_over_tls_is_another_origin(live: Live) -> None:
    header = ("Origin", f"https://127.0.0.1:{live.port}")
    assert live.send("GET", "/api/v1/openapi.json", headers=[header]).status == 403


def test_the_own_page_is_let_in(live: Live) -> None:
    own = [("Origin", f"http://127.0.0.1:{live.port}"), ("Sec-Fetch-Site", "same-origin")]
    assert live.send("POST", "/api/v1/system/doctor", headers=own).status == 200


KINDS = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    None,
    "application/jsonx",
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_is_not_json_reaches_no_handler(live: Live, kind: str | None) -> None:
    for method, path in requests(live):
        if method == "POST":
            assert live.send(method, path, content_type=kind).status == 415, path
    assert live.facade.calls == []


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']
)
def test_json_by_any_of_its_names_is_read(live: Live, kind: str) -> None:
    assert live.send("POST", "/api/v1/system/doctor", content_type=kind).status == 200


def test_a_packed_body_is_refused(live: Live) -> None:
    packed = [("Content-Encoding", "gzip")]
    assert live.send("POST", "/api/v1/system/doctor", headers=packed).status == 415


def test_a_preflight_is_refused_and_nothing_is_ever_shared_with_other_origins(live: Live) -> None:
    asks = [("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")]
    for path in sorted({path for _, path in requests(live)}):
        assert live.send("OPTIONS", path, token=None, headers=asks).status == 401
        assert live.send("OPTIONS", path, headers=asks).status == 403
        plain = live.send("OPTIONS", path)
        assert plain.status == 405
        assert plain.code == "method_not_allowed"
    for method, path in requests(live):
        if not path.endswith("/events"):
            names = {name for name, _ in live.send(method, path).headers}
            assert not {name for name in names if name.startswith("access-control")}


def test_every_reply_carries_the_protecting_headers(live: Live) -> None:
    for method, path, token in (
        ("GET", "/api/v1/health", TOKEN),
        ("POST", "/api/v1/system/doctor", TOKEN),
        ("GET", "/api/v1/files/page", TOKEN),
        ("GET", "/api/v1/nowhere", TOKEN),
        ("POST", "/api/v1/system/doctor", None),
    ):
        reply = live.send(method, path, token=token)
        assert "default-src 'none'" in (reply.header("content-security-policy") or "")
        assert "frame-ancestors 'none'" in (reply.header("content-security-policy") or "")
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("cross-origin-resource-policy") == "same-origin"
        assert reply.header("cache-control") == "no-store"
        assert reply.header("server") is None


def test_a_body_over_the_limit_is_refused_whether_announced_or_not(live: Live) -> None:
    big = b'{"query": "' + b"x" * 1_100_000 + b'"}'
    assert live.send("POST", "/api/v1/search/find", body=big).status == 413
    head = f"POST /api/v1/search/find HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", live.port), timeout=20) as connection:
        connection.sendall(head.encode())
        for _ in range(17):
            connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert read_reply(connection).status == 413
    assert live.facade.calls == []


def test_a_websocket_is_refused(live: Live) -> None:
    upgrade = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ]
    assert live.send("GET", "/api/v1/events", token=None, headers=upgrade).status == 401


@pytest.mark.parametrize(
    "path", ["/", "/api/v1", "/docs", "/redoc", "/openapi.json", "/api/v1/search/find/", "//api/v1/health"]
)
def test_there_is_nothing_elsewhere(live: Live, path: str) -> None:
    assert live.send("GET", path, token=None).status == 401
    reply = live.send("GET", path)
    assert reply.status in {404, 405}
    assert reply.header("location") is None


def test_the_code_of_the_printed_address_works_once(live: Live) -> None:
    wrong = live.post("session/open", {"code": "guess"})
    assert (wrong.status, wrong.code) == (401, "unauthorized")
    opened = live.send("POST", "/api/v1/session/open", token=None, body=f'{{"code": "{CODE}"}}'.encode())
    assert opened.status == 200
    assert TOKEN.encode() in opened.body
    cookie = opened.header("set-cookie") or ""
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert live.post("session/open", {"code": CODE}).status == 401


def test_the_cookie_reads_files_and_events_and_nothing_else(live: Live) -> None:
    opened = live.post("session/open", {"code": CODE})
    cookie = [("Cookie", "other=1; " + (opened.header("set-cookie") or "").partition(";")[0])]
    for method, path in requests(live):
        if path.endswith("/events") and method == "GET":
            continue
        reply = live.send(method, path, token=None, headers=cookie)
        if path.startswith(("/api/v1/files/", "/api/v1/sources/", "/api/v1/events")):
            assert reply.status == 200, (method, path)
        elif (method, path) not in OPEN:
            assert reply.status == 401, (method, path)
    evil = [*cookie, ("Sec-Fetch-Site", "same-site")]
    assert live.send("GET", "/api/v1/files/text", token=None, headers=evil).status == 403
    other = [("Cookie", "kebab_session=guess")]
    assert live.send("GET", "/api/v1/files/text", token=None, headers=other).status == 401


def test_secrets_are_256_bits_and_new_each_time() -> None:
    assert len({new_secret() for _ in range(50)}) == 50
    assert len(new_secret()) == 43
    assert Access("a").cookie != Access("a").cookie


def test_without_a_code_nobody_is_let_in_by_one() -> None:
    assert not Access("token", code=None).redeem("")
