"""`connections`: which models are used, where they run, their keys."""

from __future__ import annotations

from typing import Protocol

from kb.contract.base import Empty
from kb.contract.connections import (
    ConnectionKeyRemoveRequest,
    ConnectionKeyRequest,
    Connections,
    ConnectionTest,
    ConnectionTestRequest,
    Role,
)


class Board(Protocol):
    """The connections of the library."""

    def all(self) -> Connections:
        """Return every role; asks no server."""

    def test(self, role: Role) -> ConnectionTest:
        """Send one harmless sentence."""

    def set_key(self, role: Role, key: str) -> None:
        """Keep the key of a server."""

    def remove_key(self, role: Role) -> None:
        """Forget the key of a server."""


class ConnectionsGroup:
    """Shows connections, tries them, keeps their keys."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def list(self, request: Empty) -> Connections:
        """Return every role and where its data goes; asks no server."""
        del request
        return self._board.all()

    def test(self, request: ConnectionTestRequest) -> ConnectionTest:
        """Send one harmless sentence to a connection and say how it went."""
        return self._board.test(request.role)

    def set_key(self, request: ConnectionKeyRequest) -> Connections:
        """Keep the key of a server in the system's key store."""
        self._board.set_key(request.role, request.key)
        return self._board.all()

    def remove_key(self, request: ConnectionKeyRemoveRequest) -> Connections:
        """Forget the key of a server."""
        self._board.remove_key(request.role)
        return self._board.all()
