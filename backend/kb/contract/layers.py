"""`chunk_change.v1` and `chunk_layers.v1`: what people change in passages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, model_validator

from kb.contract.base import Open, Request, Wire
from kb.contract.chunks import ChunkInspection

MAX_TEXT = 16_000

_ChunkId = Annotated[str, Field(min_length=1, max_length=64)]


class EditChunkRequest(Request):
    """What a passage is to say; with `expected_text_hash`, its `text_hash` as read, only if it still says that."""

    chunk_id: _ChunkId
    text: str = Field(min_length=1, max_length=MAX_TEXT, pattern=r"\S")
    expected_text_hash: str | None = Field(default=None, pattern=r"^[0-9a-fA-F]{64}$")


class EnableChunkRequest(Request):
    """Whether a passage can be found."""

    chunk_id: _ChunkId
    enabled: bool


class ChunkRequest(Request):
    """One passage by its id."""

    chunk_id: _ChunkId


class RestoreRequest(Request):
    """Either a passage, which is to be what the file says, or one change by its `layer_id`, wherever it lies."""

    chunk_id: _ChunkId | None = None
    layer_id: str | None = Field(default=None, min_length=1, max_length=64)

    @model_validator(mode="after")
    def _one_of_them(self) -> RestoreRequest:
        if (self.chunk_id is None) == (self.layer_id is None):
            raise ValueError("give either chunk_id or layer_id")
        return self


class LayersRequest(Request):
    """Changes of one document (path, `doc_id` or `item_id`) or all; with `lost` those that fit no more, or in part."""

    doc: str | None = Field(default=None, min_length=1, max_length=4_000)
    lost: bool = False
    cursor: str | None = Field(default=None, max_length=20)
    limit: int = Field(default=50, ge=1, le=200)


class ChunkChange(Wire):
    """What became of a change.

    `chunk` is null where a change that lay on no passage was forgotten. `keyword` and `vector` say whether search
    follows already; `vector` is `disabled` without an embedding model. `masked` counts secrets that were taken out of
    the new text. `nothing_searchable`: the document has no passage left that can be found.
    """

    schema_version: Literal["chunk_change.v1"] = "chunk_change.v1"
    chunk: ChunkInspection | None
    keyword: Annotated[Literal["done", "waiting"], Open]
    vector: Annotated[Literal["done", "waiting", "disabled"], Open]
    masked: int = 0
    nothing_searchable: bool = False
    notes: tuple[str, ...] = ()


class ChunkLayer(Wire):
    """One change a person made, kept when the file is read again.

    `source_text` is what the passage said, `new_text` what it is to say, null where it was taken out. `chunk_ids` are
    the passages it lies on now, `lost` says why it does not fit, wholly or in part.
    """

    layer_id: str
    item_id: str
    doc_path: str
    kind: Annotated[Literal["text", "disabled", "deleted"], Open]
    section: str | None
    source_text: str
    new_text: str | None
    chunk_ids: tuple[str, ...]
    lost: str | None
    created_at: AwareDatetime
    updated_at: AwareDatetime


class ChunkLayers(Wire):
    """`next` is null on the last page."""

    schema_version: Literal["chunk_layers.v1"] = "chunk_layers.v1"
    layers: tuple[ChunkLayer, ...]
    next: str | None
