"""Groups of the facade that shape and prove retrieval; as `groups`, part of the method table."""

from __future__ import annotations

from typing import Protocol

from kb.contract.base import Empty
from kb.contract.connections import (
    ConnectionKeyRemoveRequest,
    ConnectionKeyRequest,
    Connections,
    ConnectionTest,
    ConnectionTestRequest,
)


class ConnectionsGroup(Protocol):
    """Which models are used, where they run, and their keys."""

    def list(self, request: Empty) -> Connections:
        """Return every role and where its data goes; asks no server."""

    def test(self, request: ConnectionTestRequest) -> ConnectionTest:
        """Send one harmless sentence to a connection and say how it went."""

    def set_key(self, request: ConnectionKeyRequest) -> Connections:
        """Keep the key of a server in the system's key store."""

    def remove_key(self, request: ConnectionKeyRemoveRequest) -> Connections:
        """Forget the key of a server."""
