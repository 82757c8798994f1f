"""Who may come in: the bearer token, the one-time code of a printed address, the cookie it gives."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from threading import Lock


def new_secret() -> str:
    """Return 256 random bits as text that fits into a URL."""
    return secrets.token_urlsafe(32)


@dataclass
class Access:
    """The secrets of one start of the server.

    Attributes:
        token: what programs send as `Authorization: Bearer`.
        code: lets one browser in, once; None when nobody was given one.
        cookie: lets that browser read files and events, where it cannot set a header.
    """

    token: str
    code: str | None = None
    cookie: str = field(default_factory=new_secret)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def has_token(self, authorization: bytes) -> bool:
        """Return whether an `Authorization` header carries the token."""
        return hmac.compare_digest(authorization, f"Bearer {self.token}".encode())

    def has_cookie(self, cookie: bytes) -> bool:
        """Return whether a `Cookie` header carries ours."""
        ours = f"{COOKIE}={self.cookie}".encode()
        # no early end: every pair is compared
        return any([hmac.compare_digest(pair.strip(), ours) for pair in cookie.split(b";")])  # noqa: C419

    def redeem(self, code: str) -> bool:
        """Return whether `code` is the one-time code, which it then is no longer."""
        with self._lock:
            if self.code is None or not hmac.compare_digest(code.encode(), self.code.encode()):
                return False
            self.code = None
            return True


COOKIE = "kebab_session"
