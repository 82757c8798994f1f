"""What the library says about itself: pages of items and documents, counts, runs, checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from kb.domain.chunks import StoredChunk
from kb.domain.coverage import CoverageUnit
from kb.domain.ids import Json
from kb.domain.items import Item, MediaType
from kb.domain.recipes import EmbeddingId

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some entries of a list in its stable order; `next` asks for what follows, None at the end."""

    entries: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item with what was read of it, and the chunks people can find.

    Attributes:
        kinds: what its ledger counts (pages, seconds, ...), in order; several for mixed files.
        totals: units by state (text, ocr, blank, failed, skipped, waiting); their sum is the whole.
        unread: the failed and waiting ones.
        is_of_document: whether the ledger is the shown document's; else it is that of a file no document came of.
    """

    item: Item
    media_type: MediaType | None
    included: bool
    archived: bool
    kinds: tuple[str, ...]
    totals: Mapping[str, int]
    unread: tuple[CoverageUnit, ...]
    is_of_document: bool
    chunk_count: int
    searchable: int | None = None
    """Of the chunks those that are not taken out by a person; None when nobody counted."""


@dataclass(frozen=True, slots=True)
class EmbeddingInfo:
    """The vector of a chunk under one model; `state` is pending, written or committed."""

    embedding_id: EmbeddingId
    model_id: str
    model_version: str
    dimensions: int
    state: str


@dataclass(frozen=True, slots=True)
class ChunkInspection:
    """Everything about one chunk; `visible` is what the final gate says of it.

    Attributes:
        text_hash: of what it says now, full blake3.
        original: what the file says there, None where that is the same.
        is_deleted: a person deleted it; it is not enabled then.
    """

    stored: StoredChunk
    visible: bool
    enabled: bool
    manually_edited: bool
    created_at: datetime
    updated_at: datetime | None
    embeddings: tuple[EmbeddingInfo, ...]
    text_hash: str = ""
    original: str | None = None
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer that a person put on passages of an item.

    Attributes:
        kind: `text`, `disabled` or `deleted`.
        section: the heading it stood under.
        source_text: what the passage said before any layer.
        new_text: what it was made to say; empty unless the kind is `text`.
        chunk_ids: the shown passages it lies on.
        lost: why it does not fit, wholly or partly, what is shown now; None while it does.
    """

    layer_id: str
    item_id: str
    path: str
    kind: str
    section: str | None
    source_text: str
    new_text: str
    chunk_ids: tuple[str, ...]
    lost: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LibrarySummary:
    """Counts of the library: items by state; what can be searched by text and by vector.

    `vectors` and `vectors_pending` count chunks, `vectorised` documents of which every chunk has a vector;
    `vectors_damaged` counts all that were ever found damaged; `attention` items that failed or wait, wholly or partly.
    """

    items: Mapping[str, int]
    documents: int
    vectorised: int
    chunks: int
    vectors: int
    vectors_pending: int
    vectors_damaged: int
    unread_items: int
    answers: int
    attention: int = 0


@dataclass(frozen=True, slots=True)
class IngestRun:
    """The numbers of one run of ingest; `finished_at` is None while it runs or when it died."""

    run_id: str
    scope: Mapping[str, Json]
    started_at: datetime
    finished_at: datetime | None = None
    scanned: int = 0
    new: int = 0
    updated: int = 0
    skipped: int = 0
    deleted: int = 0
    renamed: int = 0
    errors: int = 0
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """What a check of the library found; `problems` are sentences, empty when all is well."""

    problems: tuple[str, ...]
    schema_version: int
    vectors_checked: int
    counts: Mapping[str, int] = field(default_factory=dict)
