"""The door: every request passes these checks, in this order, before any handler sees it.

Host, token, Origin, content type, size (against DNS rebinding, other pages, forms, floods). One place
for all routes, so that a new route is guarded without anybody thinking of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from kb.bridge.access import Access
from kb.contract.problems import problem
from kb.contract.system import Problem

MAX_BODY = 1_048_576
BODY_SECONDS = 30.0
API = "/api/v1"
HEALTH = f"{API}/health"
SESSION = f"{API}/session/open"

Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[Message]]
_Send = Callable[[Message], Awaitable[None]]
_App = Callable[[Message, _Receive, _Send], Awaitable[None]]

_MAX_DRAINED = 16 * MAX_BODY
_DRAIN_SECONDS = 3.0
_WITHOUT_TOKEN = frozenset({("GET", HEALTH), ("HEAD", HEALTH), ("POST", SESSION)})
_BY_COOKIE = (f"{API}/files/", f"{API}/sources/", f"{API}/events")
_OWN_FETCHES = frozenset({b"same-origin", b"none"})
_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; sandbox"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class Door:
    """Pure ASGI middleware; `port` is the one the server is bound to."""

    def __init__(self, app: _App, *, access: Access, port: int) -> None:
        self._app = app
        self._access = access
        self._hosts = frozenset({f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()})

    async def __call__(self, scope: Message, receive: _Receive, send: _Send) -> None:
        """Refuse, or pass on with the headers every reply has."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is None and scope["method"] == "POST":
            body = await _body(scope, receive)
            if isinstance(body, bytes):
                receive = _replay(body, receive)
            else:
                refusal = body
        if refusal is None:
            await self._app(scope, receive, guarded)
        else:
            await _drain(receive)
            await _refuse(refusal, guarded)

    def _refusal(self, scope: Message) -> Problem | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return problem(421, "foreign_host", "this server answers to its own address only")
        if not self._may_enter(scope):
            return problem(401, "unauthorized", "a valid token is needed", hint="send `Authorization: Bearer <token>`")
        if not _is_own_origin(scope, hosts[0]):
            return problem(403, "foreign_origin", "requests from other pages are refused")
        if scope["method"] == "POST" and not _is_json(scope):
            return problem(415, "unsupported_media_type", "only `Content-Type: application/json` is read")
        return None

    def _may_enter(self, scope: Message) -> bool:
        method, path = scope["method"], scope["path"]
        if (method, path) in _WITHOUT_TOKEN:
            return True
        authorizations = _values(scope, b"authorization")
        if authorizations:
            return len(authorizations) == 1 and self._access.has_token(authorizations[0])
        by_cookie = method in {"GET", "HEAD"} and path.startswith(_BY_COOKIE)
        return by_cookie and any(map(self._access.has_cookie, _values(scope, b"cookie")))


def _is_own_origin(scope: Message, host: bytes) -> bool:
    origins, sites = _values(scope, b"origin"), _values(scope, b"sec-fetch-site")
    return all(origin == b"http://" + host for origin in origins) and all(site in _OWN_FETCHES for site in sites)


def _is_json(scope: Message) -> bool:
    kinds = _values(scope, b"content-type")
    if len(kinds) != 1 or _values(scope, b"content-encoding"):
        return False
    kind, _, parameter = kinds[0].lower().replace(b" ", b"").replace(b'"', b"").partition(b";")
    return kind == b"application/json" and parameter in {b"", b"charset=utf-8"}


def _values(scope: Message, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


async def _body(scope: Message, receive: _Receive) -> bytes | Problem:
    """Read a whole body, or say why not: too long or too slow."""
    too_large = problem(413, "too_large", f"a request may have {MAX_BODY} bytes")
    if any(int(length) > MAX_BODY for length in _values(scope, b"content-length") if length.isdigit()):
        return too_large
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return problem(400, "bad_request", "the request ended early")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                more = message.get("more_body", False)
                if size > MAX_BODY:
                    return too_large
    except TimeoutError:
        return problem(408, "too_slow", "the request took too long to arrive")
    return b"".join(parts)


async def _drain(receive: _Receive) -> None:
    """Read some of what is still coming: closing on it would reset the connection before the reply is read."""
    size, more = 0, True
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while more and size < _MAX_DRAINED:
                message = await receive()
                size += len(message.get("body", b""))
                more = message["type"] == "http.request" and message.get("more_body", False)
    except TimeoutError:
        return


def _replay(body: bytes, receive: _Receive) -> _Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _with_headers(send: _Send) -> _Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await send(message)

    return guarded


async def _refuse(refusal: Problem, send: _Send) -> None:
    body = refusal.model_dump_json().encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:  # noqa: PLR2004 - RFC 9110 section 15.5.2
        headers.append((b"www-authenticate", b"Bearer"))
    # what is left of a body that was not read must not be taken for the next request
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
