"""`connections.v1` and `connection_test.v1`: which models are used, where they run, and what is sent to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire

Role = Literal["embedding", "rerank", "caption", "answers"]


class Connection(Wire):
    """One role and the model that has it.

    `data_path` says in words where text or pictures go. `fits_index` is null where it has no meaning, else whether the
    model is the one whose vectors serve. Keys themselves are never shown.
    """

    role: Annotated[Role, Open]
    provider: str
    model: str
    host: str | None
    leaves_computer: bool
    data_path: str
    key: Annotated[Literal["none", "key_store", "environment"], Open]
    key_variable: str | None
    dimensions: int | None
    fits_index: bool | None
    problem: str | None
    hint: str | None


class Connections(Wire):
    """All roles. Without a key store keys can only come from the environment, in the variables named."""

    schema_version: Literal["connections.v1"] = "connections.v1"
    key_store: bool
    connections: tuple[Connection, ...]


class ConnectionRequest(Request):
    """One connection."""

    role: Role


class ConnectionTestRequest(ConnectionRequest):
    """Send one harmless sentence to a connection; nothing of the library."""


class ConnectionKeyRequest(ConnectionRequest):
    """Keep the key of a connection's server in the system's key store, for the host it has now."""

    key: str = Field(min_length=1, max_length=4096, repr=False)


class ConnectionKeyRemoveRequest(ConnectionRequest):
    """Forget the key of a connection's server."""


class ConnectionTest(Wire):
    """How one round trip went."""

    schema_version: Literal["connection_test.v1"] = "connection_test.v1"
    role: Annotated[Role, Open]
    ok: bool
    host: str | None
    milliseconds: float
    dimensions: int | None
    fits_index: bool | None
    detail: str
    hint: str | None
