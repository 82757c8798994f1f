"""A vision model behind an OpenAI-compatible server (Ollama, vLLM, a cloud): off unless a person sets one."""

from __future__ import annotations

import base64
import json
import os
import time
from typing import TYPE_CHECKING, Any

from kb.domain.errors import CannotRun, InvalidSettings
from kb.domain.failures import ModelUnavailable, Unreachable
from kb.domain.items import MediaType
from kb.domain.text import nfc

if TYPE_CHECKING:
    import httpx

_PROMPT = (
    "Describe this picture in two or three plain sentences for someone who searches for it later: what it shows, and "
    "the gist of any text on it. Say only what can be seen."
)
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_MOST_BYTES = 20 << 20
_MOST_REPLY = 1 << 20
_LONGEST = 2_000
_TOKENS = 300
_CHECK = "check base URL and model under `models.caption` in the settings"


class OpenAiCompatibleCaptioner:
    """Sends a picture to a server and takes its description.

    Args:
        base_url: such as `http://127.0.0.1:11434/v1`.
        model: as the server calls it.
        key_variable: the environment variable that holds the key; empty when none is needed. The key itself is read
            when it is sent and kept nowhere.
        timeout: seconds for one picture in all.
    """

    def __init__(self, base_url: str, model: str, key_variable: str = "", timeout: float = 120.0) -> None:
        if not base_url.startswith(("http://", "https://")) or not model:
            raise InvalidSettings("captions need a server's address and a model's name", hint=_CHECK)
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._model = model
        self._key_variable = key_variable
        self._timeout = timeout

    @property
    def model(self) -> str:
        """The model's name, shown with every caption."""
        return self._model

    def caption(self, data: bytes, media_type: MediaType) -> str:
        """Return a description in one line.

        Raises:
            Unreachable: the server does not answer in time.
            ModelUnavailable: it refuses or answers nonsense, or the picture is of a kind servers do not take.
        """
        kind = _kind(data, media_type)
        link = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
        parts = [{"type": "text", "text": _PROMPT}, {"type": "image_url", "image_url": {"url": link}}]
        request = {
            "model": self._model,
            "messages": [{"role": "user", "content": parts}],
            "max_tokens": _TOKENS,
            "temperature": 0,
            "stream": False,
        }
        return _text(self._reply(request))

    def _reply(self, request: dict[str, Any]) -> bytes:
        import httpx

        ends = time.monotonic() + self._timeout
        try:
            # Only the address that was set is spoken to: no proxy of the environment, no redirect.
            with (
                httpx.Client(timeout=self._timeout, trust_env=False, follow_redirects=False) as client,
                client.stream("POST", self._url, json=request, headers=self._headers()) as reply,
            ):
                if reply.status_code != httpx.codes.OK:
                    raise _refusal(reply.status_code)
                return _body(reply, ends)
        except httpx.TimeoutException as error:
            raise _too_slow() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable("the caption server does not answer", hint=f"start it, or {_CHECK}") from error

    def _headers(self) -> dict[str, str]:
        if not self._key_variable:
            return {}
        key = os.environ.get(self._key_variable, "").strip()
        if not key:
            raise ModelUnavailable(
                f"the caption server needs a key, and the variable {self._key_variable} is not set",
                hint=f"set {self._key_variable} before starting Kebab",
            )
        return {"Authorization": f"Bearer {key}"}


def _body(reply: httpx.Response, ends: float) -> bytes:
    whole = bytearray()
    for piece in reply.iter_bytes():
        whole += piece
        if len(whole) > _MOST_REPLY:
            raise _nonsense()
        if time.monotonic() > ends:
            raise _too_slow()
    return bytes(whole)


def _text(reply: bytes) -> str:
    try:
        content = json.loads(reply)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError) as error:
        raise _nonsense() from error
    if isinstance(content, list):
        content = " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise _nonsense()
    text = " ".join("".join(c if c.isprintable() else " " for c in nfc(content)).split())
    if not text:
        raise _nonsense()
    return text[:_LONGEST]


def _kind(data: bytes, media_type: MediaType) -> str:
    kind = next((kind for head, kind in _KINDS if data.startswith(head)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    if media_type is not MediaType.IMAGE or not kind:
        raise ModelUnavailable("caption servers take PNG, JPEG, WebP and GIF only", hint="save the picture as one")
    if len(data) > _MOST_BYTES:
        raise ModelUnavailable(f"the picture is larger than {_MOST_BYTES >> 20} MB", hint="make it smaller")
    return kind


def _refusal(status: int) -> CannotRun:
    return ModelUnavailable(f"the caption server refused the picture (status {status})", hint=_CHECK)


def _nonsense() -> CannotRun:
    return ModelUnavailable("the caption server's reply has no description in it", hint=_CHECK)


def _too_slow() -> CannotRun:
    return Unreachable(
        "the caption server took too long", hint="raise `models.caption.timeout_seconds` in the settings"
    )
