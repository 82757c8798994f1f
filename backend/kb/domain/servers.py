"""Servers that a person chose to send something to: what is asked of them, and what each exchange was."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from kb.domain.errors import InvalidSettings
from kb.domain.failures import ModelUnavailable, Unreachable

_DEFAULT_PORTS = {"http": 80, "https": 443}


class ServerUnreachable(ModelUnavailable, Unreachable):
    """A model's server did not answer, or not in time; the model may be there again later."""

    code = Unreachable.code


class RequestRefused(ModelUnavailable):
    """A model's server will not take this request as it is (status 400, 413 or 422); another may pass."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that left the program; it holds no content.

    Attributes:
        host: with the port where it is not the usual one.
        reason: what for, such as `embedding`.
        bytes_sent: of the body.
        bytes_received: of the reply's body, as far as it was read.
        status: of the reply; None when there was none.
    """

    host: str
    reason: str
    bytes_sent: int
    bytes_received: int
    status: int | None


class JsonServer(Protocol):
    """One server with an API in JSON."""

    @property
    def host(self) -> str:
        """Whom every request goes to, as people read it."""

    def post(self, path: str, body: dict[str, Any], *, reason: str, timeout_s: float, attempts: int = 1) -> Any:  # noqa: ANN401 - JSON
        """Send `body` and return the reply's JSON.

        Args:
            path: after the base URL, such as `/embeddings`.
            body: what is sent.
            reason: what for, as kept with the exchange.
            timeout_s: seconds for everything, further attempts included.
            attempts: how often at most it is sent, where the server was busy or went away.

        Raises:
            ServerUnreachable: no answer, or none in time.
            RequestRefused: it will not take this request.
            ModelUnavailable: it refuses, or answers something else than JSON.
        """


@dataclass(frozen=True, slots=True)
class Address:
    """A server's base URL, looked at before anything is sent."""

    base_url: str
    host: str
    is_loopback: bool


def address_of(base_url: str, setting: str, *, allows_plain_http: bool = False) -> Address:
    """Return the address in a setting.

    Args:
        base_url: such as `https://api.jina.ai/v1`.
        setting: the key, for the message.
        allows_plain_http: unencrypted to other computers, too.

    Raises:
        InvalidSettings: it is no address of a server, holds a key, or is unencrypted to another computer.
    """
    parts = urlsplit(base_url)
    try:
        name, port = parts.hostname or "", parts.port
    except ValueError:
        name, port = "", None
    if parts.scheme not in _DEFAULT_PORTS or not name:
        raise InvalidSettings(
            f"{setting}.base_url is no address of a server", hint="it looks like http://127.0.0.1:11434/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidSettings(
            f"{setting}.base_url may hold a server and a path only",
            hint="a key belongs into the key store: `kb connections key set`",
        )
    is_loopback = _is_loopback(name)
    if parts.scheme == "http" and not is_loopback and not allows_plain_http:
        raise InvalidSettings(
            f"{setting}.base_url would send passages unencrypted to another computer",
            hint=f"use https, or set {setting}.allow_plain_http to true if you trust every network in between",
        )
    host = f"[{name}]" if ":" in name else name
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        host = f"{host}:{port}"
    return Address(base_url.rstrip("/"), host, is_loopback)


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
