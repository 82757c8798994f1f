"""`chunk_inspection.v1`: one chunk with everything known about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Open, Request, Wire, absent_when_none


class SourceSpan(Wire):
    """A place in the original; the fields are those of its `kind`, as in the ids."""

    kind: Annotated[Literal["line", "byte", "page", "region", "time", "part", "caption"], Open]
    start: int | None = absent_when_none
    end: int | None = absent_when_none
    page: int | None = absent_when_none
    char_start: int | None = absent_when_none
    char_end: int | None = absent_when_none
    x: int | None = absent_when_none
    y: int | None = absent_when_none
    w: int | None = absent_when_none
    h: int | None = absent_when_none
    start_ms: int | None = absent_when_none
    end_ms: int | None = absent_when_none
    part: str | None = absent_when_none
    number: int | None = absent_when_none
    name: str | None = absent_when_none
    cells: str | None = absent_when_none
    model: str | None = absent_when_none


class ChunkEmbedding(Wire):
    """A vector of the chunk, by the model that made it."""

    model: str
    dimensions: int
    embedding_id: str
    state: Annotated[Literal["pending", "written", "committed"], Open] | None = None


class ChunkInspection(Wire):
    """One chunk. Fields after `embeddings` are optional."""

    schema_version: Literal["chunk_inspection.v1"] = "chunk_inspection.v1"
    chunk_id: str
    doc_id: str
    doc_path: str
    heading_path: tuple[str, ...]
    text: str
    source_spans: tuple[SourceSpan, ...]
    block_ids: tuple[str, ...]
    token_estimate: int
    chunker_version: str
    embeddings: tuple[ChunkEmbedding, ...]
    ordinal: int | None = None
    title: str | None = None
    char_count: int | None = None
    enabled: bool = True
    role: Annotated[Literal["standalone", "parent", "child"], Open] = "standalone"
    parent_chunk_id: str | None = None
    manually_edited: bool = False
    updated_at: AwareDatetime | None = None
    state: Annotated[Literal["enabled", "disabled", "deleted"], Open] = "enabled"
    text_hash: str | None = None
    original_text: str | None = absent_when_none
    """What the file says there, where a person changed it; the places are those of it."""


class InspectRequest(Request):
    """One chunk by its id."""

    chunk_id: str = Field(min_length=1, max_length=64)


class ChunksRequest(Request):
    """A page of the chunks of a document (path, `doc_id` or `item_id`), in order, with those people took out.

    `query`: letters they hold, whatever case, width and white space.
    """

    doc: str = Field(min_length=1, max_length=4_000)
    cursor: str | None = Field(default=None, max_length=4_000)
    limit: int = Field(default=50, ge=1, le=200)
    query: str | None = Field(default=None, min_length=1, max_length=4_000)


class ChunksPage(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["chunks.v1"] = "chunks.v1"
    chunks: tuple[ChunkInspection, ...]
    next: str | None
