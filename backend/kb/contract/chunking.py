"""How files are cut into passages: settings, what waits for being made anew, what a rebuild did, a preview."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire
from kb.contract.collection_settings import CollectionChunking, OwnChunking

DocName = Annotated[str, Field(min_length=1, max_length=4_000)]


class ChunkingRequest(Request):
    """A file by path, `item_id` or `doc_id`; null is the workspace."""

    doc: DocName | None = None


class SetChunkingRequest(Request):
    """Settings of one file's own; null gives it back to its collection or the workspace. Nothing is cut by it yet."""

    doc: DocName
    settings: OwnChunking | None


class Chunking(Wire):
    """How a file, or the workspace, is meant to be cut and is cut; they differ until it is made anew."""

    schema_version: Literal["chunking.v1"] = "chunking.v1"
    doc_path: str | None
    wanted: CollectionChunking
    source: Annotated[Literal["item", "collection", "workspace"], Open]
    collection: str | None
    """The name of the collection whose settings count."""
    served: CollectionChunking | None
    """How the shown passages were cut; null when nothing is shown."""
    pending: bool


class ChunkingPendingRequest(Request):
    """Which files are cut otherwise than is wanted of them; at most `limit` are named."""

    limit: int = Field(default=100, ge=1, le=500)


class ChunkingPendingItem(Wire):
    """A file that waits for being made anew."""

    item_id: str
    path: str
    source: Annotated[Literal["item", "collection", "workspace"], Open]
    collection: str | None
    wanted: CollectionChunking
    served: CollectionChunking


class ChunkingPending(Wire):
    """How many files wait, and the first of them by path."""

    schema_version: Literal["chunking_pending.v1"] = "chunking_pending.v1"
    count: int
    items: tuple[ChunkingPendingItem, ...]
