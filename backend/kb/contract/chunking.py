"""How files are cut into passages: settings, what waits for being made anew, what a rebuild did, a preview."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire
from kb.contract.collection_settings import CollectionChunking, OwnChunking

_Doc = Annotated[str, Field(min_length=1, max_length=4_000)]


class ChunkingRequest(Request):
    """A file by path, `item_id` or `doc_id`; null is the workspace."""

    doc: _Doc | None = None


class SetChunkingRequest(Request):
    """Settings of one file's own; null gives it back to its collection or the workspace. Nothing is cut by it yet."""

    doc: _Doc
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


class ReprocessRequest(Request):
    """Make files anew as is wanted of them: some, those of a collection, all, or (nothing given) those that wait.

    Of a collection those that wait, with `all` every one.
    """

    docs: tuple[_Doc, ...] = Field(default=(), max_length=1_000)
    collection: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    all: bool = False


class ReprocessFailure(Wire):
    """A file that stays as it was, and why."""

    item_id: str
    path: str
    reason: str
    message: str


class ReprocessReport(Wire):
    """What a rebuild did; the first 100 failures are named, `left` were not reached, `pending` wait after it."""

    schema_version: Literal["chunking_report.v1"] = "chunking_report.v1"
    asked: int
    replaced: int
    failed: int
    failures: tuple[ReprocessFailure, ...]
    left: int
    pending: int
    passages: int
    embedded: int
    lagging: tuple[str, ...]
    canceled: bool
    duration_ms: int


class PreviewChunkingRequest(Request):
    """Cut one file with some settings and keep nothing; null is what is wanted of it. `limit` passages are shown."""

    doc: _Doc
    settings: OwnChunking | None = None
    limit: int = Field(default=20, ge=1, le=200)


class PreviewedChunk(Wire):
    """A passage as it would be; `parent` is the ordinal of the one that holds it."""

    ordinal: int
    role: Annotated[Literal["standalone", "parent", "child"], Open]
    parent: int | None
    heading_path: tuple[str, ...]
    text: str
    char_count: int
    token_estimate: int


class ChunkingPreview(Wire):
    """What a file would be cut into: `passages` that are found, `parents` around them; lengths in characters."""

    schema_version: Literal["chunking_preview.v1"] = "chunking_preview.v1"
    doc_path: str
    settings: CollectionChunking
    passages: int
    parents: int
    shortest: int
    longest: int
    chunks: tuple[PreviewedChunk, ...]
