"""Connections: which servers the settings name, their keys, and the model that orders again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kb.app.bootstrap.library import LibraryParts
from kb.app.bootstrap.made_once import made_once
from kb.domain.errors import KebabError
from kb.domain.failures import ModelUnavailable
from kb.domain.keys import Key, KeyName, KeyStore
from kb.domain.servers import Address, Exchange, JsonServer, address_of

if TYPE_CHECKING:
    from kb.adapters.models.embedding.known import KnownDimensions
    from kb.retrieval.ports import Reranker

Role = Literal["embedding", "rerank"]
"""Connections whose keys stand in the key store."""

_log = logging.getLogger(__name__)


class ConnectionParts(LibraryParts):
    """Servers that the settings name. Nothing is sent anywhere unless a provider that sends is chosen there."""

    @made_once
    def keys(self) -> KeyStore:
        """Return what keeps keys."""
        from kb.adapters.keys.keyring_store import KeyringKeyStore

        return KeyringKeyStore()

    @made_once
    def known_dimensions(self) -> KnownDimensions:
        """Return what servers said of their models."""
        from kb.adapters.models.embedding.known import KnownDimensions

        return KnownDimensions(self.configuration.data_dir / "connections.json")

    def address(self, role: Role) -> Address:
        """Return whom the settings name.

        Raises:
            InvalidSettings: it is no address that anything may be sent to.
        """
        wanted = self.settings.models.embedding if role == "embedding" else self.settings.models.rerank
        return address_of(wanted.base_url, f"models.{role}", allows_plain_http=wanted.allow_plain_http)

    def key_name(self, role: Role) -> KeyName:
        """Return under which name the key of that server is kept.

        Raises:
            InvalidSettings: there is no such server.
        """
        wanted = self.settings.models.embedding if role == "embedding" else self.settings.models.rerank
        return KeyName(wanted.key_name or role, self.address(role).host)

    def key(self, role: Role) -> Key | None:
        """Return the key of that server, None without one."""
        return self.keys.get(self.key_name(role))

    def server(self, role: Role) -> JsonServer:
        """Return the server of a role.

        Raises:
            InvalidSettings: it is no address that anything may be sent to.
        """
        from kb.adapters.http.server import HttpxJsonServer

        name = self.key_name(role)

        def key() -> str | None:
            found = self.keys.get(name)
            return found.text if found else None

        return HttpxJsonServer(self.address(role), role=role, setting=f"models.{role}", key=key, told=_told)

    @made_once
    def reranker(self) -> Reranker | None:
        """Return the model that orders candidates again; one that cannot be had says why when it is asked."""
        wanted = self.settings.models.rerank
        if wanted.provider == "none":
            return None
        try:
            if wanted.provider == "endpoint":
                from kb.adapters.models.rerank.endpoint import EndpointReranker

                return EndpointReranker(self.server("rerank"), wanted.model, wanted.timeout_seconds)
            from kb.adapters.models.rerank.cross_encoder import CrossEncoder

            return CrossEncoder(self._rerank_folder(wanted.model))
        except KebabError as error:
            return _Missing(wanted.model, error)

    def _rerank_folder(self, name: str) -> Path:
        given = Path(name).expanduser()
        found = [given] if given.is_absolute() else [place / name for place in self.model_places if name]
        folder = next((path for path in found if (path / "model.onnx").is_file()), None)
        if folder is None:
            raise ModelUnavailable(
                f"the rerank model {given.name!r} is not installed",
                hint="set models.rerank.model to a folder with model.onnx, tokenizer.json and config.json",
            )
        return folder

    @property
    def model_places(self) -> Sequence[Path]:
        """Return the folders in which models lie, the first that has one wins."""
        return [self.configuration.locations.bundled_models, self.configuration.data_dir / "models"]


class _Missing:
    """Stands where a model was wanted that cannot be had."""

    def __init__(self, name: str, error: KebabError) -> None:
        self.name = name
        self._error = error

    def scores(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        """Say why there is none."""
        del question, texts, timeout_s
        raise ModelUnavailable(self._error.message, hint=self._error.hint)


def _told(exchange: Exchange) -> None:
    _log.info(
        "sent %d bytes to %s for %s, received %d (status %s)",
        exchange.bytes_sent,
        exchange.host,
        exchange.reason,
        exchange.bytes_received,
        exchange.status,
    )
