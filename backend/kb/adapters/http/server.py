"""`HttpxJsonServer`: one server through httpx. Only the address that was set is spoken to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kb.domain.failures import ModelUnavailable
from kb.domain.servers import Address, Exchange, RequestRefused, ServerUnreachable

if TYPE_CHECKING:
    import httpx

_MOST_REPLY = 64 << 20
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 20.0
_BUSY = frozenset({429, 502, 503, 504})
_KEY = frozenset({401, 403})
_UNSUITABLE = frozenset({400, 413, 422})
_REDIRECTS = range(300, 400)
_OK = 200


class HttpxJsonServer:
    """`JsonServer` over httpx. May be used from several threads.

    No proxy of the surroundings, no redirect, no reply beyond `most_bytes`. Nothing of a reply that is an error is
    ever repeated: a server may send back what it was sent, the key as well.

    Args:
        address: whom everything goes to.
        role: what the server is for, in messages.
        setting: where it stands in the settings, for hints.
        key: gives the key when a request is sent; None or empty sends none. It is kept nowhere.
        told: called after every request.
        most_bytes: of one reply.
    """

    def __init__(
        self,
        address: Address,
        *,
        role: str,
        setting: str,
        key: Callable[[], str | None] = lambda: None,
        told: Callable[[Exchange], object] = lambda _exchange: None,
        most_bytes: int = _MOST_REPLY,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._address = address
        self._role = role
        self._setting = setting
        self._key = key
        self._told = told
        self._most = most_bytes
        self._sleep = sleep

    @property
    def host(self) -> str:
        """Whom every request goes to, as people read it."""
        return self._address.host

    def post(self, path: str, body: dict[str, Any], *, reason: str, timeout_s: float, attempts: int = 1) -> Any:  # noqa: ANN401 - JSON
        """Send `body` and return the reply's JSON.

        Raises:
            ServerUnreachable: no answer, or none in time.
            RequestRefused: it will not take this request.
            ModelUnavailable: it refuses, or answers something else than JSON.
        """
        ends = time.monotonic() + timeout_s
        for attempt in range(1, attempts + 1):
            try:
                return self._once(path, json.dumps(body).encode(), reason, ends)
            except _TryAgain as again:
                wait = again.after if again.after is not None else _FIRST_WAIT_S * 2 ** (attempt - 1)
                is_last = attempt == attempts or wait > _LONGEST_WAIT_S or time.monotonic() + wait >= ends
                if is_last:
                    raise again.error from again
            self._sleep(wait)
        raise self._gone()

    def _once(self, path: str, content: bytes, reason: str, ends: float) -> Any:  # noqa: ANN401 - JSON
        import httpx

        headers = self._headers()
        left = ends - time.monotonic()
        if left <= 0:
            raise self._late()
        status, received = None, 0
        try:
            with (
                httpx.Client(timeout=left, trust_env=False, follow_redirects=False) as client,
                client.stream("POST", self._address.base_url + path, content=content, headers=headers) as reply,
            ):
                status = reply.status_code
                if status != _OK:
                    raise self._refusal(reply)
                whole = bytearray()
                for piece in reply.iter_bytes():
                    whole += piece
                    received = len(whole)
                    if received > self._most:
                        raise self._nonsense(f"its reply is longer than {self._most >> 20} MB")
                    if time.monotonic() > ends:
                        raise self._late()
            return self._json(bytes(whole))
        except httpx.TimeoutException as error:
            raise self._late() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _TryAgain(self._gone()) from error
        finally:
            self._told(Exchange(self.host, reason, len(content), received, status))

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := self._key():
            if not (key.isascii() and key.isprintable() and " " not in key):
                raise ModelUnavailable(
                    f"the key of the {self._role} server cannot be sent: it has spaces or letters no key has",
                    hint=f"set it again with `kb connections key set {self._role}`",
                )
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _json(self, content: bytes) -> Any:  # noqa: ANN401 - JSON
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise self._nonsense("its reply is no JSON") from None

    def _refusal(self, reply: httpx.Response) -> Exception:
        status, who = reply.status_code, f"the {self._role} server {self.host}"
        if status in _BUSY:
            busy = ServerUnreachable(f"{who} is busy (status {status})", hint="try again later")
            return _TryAgain(busy, _seconds(reply.headers.get("retry-after", "")))
        if status in _KEY:
            hint = f"set its key with `kb connections key set {self._role}`"
            return ModelUnavailable(f"{who} refuses the key, or wants one (status {status})", hint=hint)
        if status in _UNSUITABLE:
            return RequestRefused(f"{who} does not take the request (status {status})", hint=self._check)
        if status in _REDIRECTS:
            return ModelUnavailable(f"{who} points to another address, which is not followed", hint=self._check)
        return ModelUnavailable(f"{who} refused (status {status})", hint=self._check)

    @property
    def _check(self) -> str:
        return f"check base_url and model under `{self._setting}` in the settings"

    def _nonsense(self, why: str) -> ModelUnavailable:
        return ModelUnavailable(f"the {self._role} server {self.host} answers wrongly: {why}", hint=self._check)

    def _late(self) -> ServerUnreachable:
        hint = f"try again, or raise `{self._setting}.timeout_seconds` in the settings"
        return ServerUnreachable(f"the {self._role} server {self.host} took too long", hint=hint)

    def _gone(self) -> ServerUnreachable:
        hint = f"start it, or check `{self._setting}.base_url` in the settings"
        return ServerUnreachable(f"the {self._role} server {self.host} does not answer", hint=hint)


class _TryAgain(Exception):
    """The server may take the same request a little later."""

    def __init__(self, error: ServerUnreachable, after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def _seconds(retry_after: str) -> float | None:
    """Return the seconds of a Retry-After; None for a date, which says as much about the clock as about the server."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
