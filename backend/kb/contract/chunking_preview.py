"""`chunking_preview.v1`: a document cut otherwise, to look at; nothing is stored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire
from kb.contract.chunking import DocName
from kb.contract.collection_settings import CollectionChunking, OwnChunking


class PreviewChunkingRequest(Request):
    """Cut one file with some settings and keep nothing; null is what is wanted of it. `limit` passages are shown."""

    doc: DocName
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
