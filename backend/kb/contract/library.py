"""`doc_summary.v1`, pages of documents, one document, the library in numbers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Open, Request, Wire, absent_when_none
from kb.contract.ingest import IngestWarning


class DocStates(Wire):
    """How far a document is (PRD section 7.6)."""

    parse: Annotated[Literal["waiting", "running", "done", "failed"], Open]
    fulltext: Annotated[Literal["waiting", "done", "failed"], Open]
    vector: Annotated[Literal["disabled", "waiting", "running", "done", "failed", "incompatible"], Open]
    graph: Annotated[Literal["disabled", "on_demand", "waiting", "running", "done", "failed"], Open]


class DocSummary(Wire):
    """One document in a list. Fields after `chunker_version` are optional."""

    schema_version: Literal["doc_summary.v1"] = "doc_summary.v1"
    doc_id: str
    doc_path: str
    title: str
    lang: str
    tags: tuple[str, ...]
    trust_level: Annotated[Literal["primary", "secondary", "generated"], Open]
    source_type: Annotated[Literal["markdown", "note", "paper", "reference", "inbox"], Open]
    byte_len: int
    chunk_count: int
    created_at: AwareDatetime
    updated_at: AwareDatetime
    parser_version: str
    chunker_version: str
    item_id: str | None = None
    states: DocStates | None = None
    vector_count: int | None = None
    version: int | None = None
    nothing_searchable: bool | None = absent_when_none
    """True when people took out every passage: nothing of it can be found."""


class DocumentsRequest(Request):
    """A page of documents in path order; `cursor` is the `next` of the page before."""

    cursor: str | None = Field(default=None, max_length=4_000)
    limit: int = Field(default=200, ge=1, le=500)


class DocumentsPage(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["documents.v1"] = "documents.v1"
    documents: tuple[DocSummary, ...]
    next: str | None


class ShowRequest(Request):
    """A document by its path, `doc_id` or `item_id`."""

    doc: str = Field(min_length=1, max_length=4_000)


class OutlineEntry(Wire):
    """A heading, its level (1-6), and where it stands as a citation URI."""

    level: int
    text: str
    uri: str | None = None


class DocumentView(Wire):
    """One document: its row, its headings, what its parser had to bend, unknown front matter."""

    schema_version: Literal["document.v1"] = "document.v1"
    document: DocSummary
    outline: tuple[OutlineEntry, ...]
    warnings: tuple[IngestWarning, ...]
    aliases: tuple[str, ...] = ()
    user: dict[str, object] | None = None


class LibrarySummary(Wire):
    """What can be searched now: documents, those wholly with vectors (`vectorised`), chunks, those with `vectors`.

    `model_compatible` is null without an embedding model; `needs_attention` counts files that failed or wait, in whole
    or in part.
    """

    schema_version: Literal["library_summary.v1"] = "library_summary.v1"
    documents: int
    chunks: int
    full_text_ready: int
    vectorised: int
    failed: int
    model_compatible: bool | None
    items: int = 0
    unread_items: int = 0
    workspace: str | None = None
    embedding_model: str | None = None
    vectors: int = 0
    needs_attention: int = 0
