"""`chunks`: chunks as they are stored, and what people change in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kb.app.channels import FollowedBy
from kb.app.facade.library import find_document, find_item
from kb.app.ports import Catalogue
from kb.app.secrets_in_text import without_secrets
from kb.app.wire.chunks import inspection_to_wire, layer_to_wire
from kb.contract.chunks import ChunkInspection, ChunksPage, ChunksRequest, InspectRequest
from kb.contract.layers import (
    ChunkChange,
    ChunkLayers,
    ChunkRequest,
    EditChunkRequest,
    EnableChunkRequest,
    LayersRequest,
    RestoreRequest,
)
from kb.domain.catalogue import ChunkInspection as Inspected
from kb.domain.catalogue import LayerRow, Page
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.recipes import ChunkId, DocumentId


class PassageChanges(Protocol):
    """Changes of one passage, each one transaction."""

    def say(self, chunk_id: ChunkId, text: str, expected: str | None = None) -> None:
        """Let it say something else."""

    def enable(self, chunk_id: ChunkId, *, enabled: bool) -> None:
        """Take it out of search, or put it back."""

    def delete(self, chunk_id: ChunkId) -> None:
        """Take it out for good."""

    def undo(self, chunk_id: ChunkId) -> None:
        """Undo its last change."""


class LayerShelf(Protocol):
    """What was changed."""

    def restore(self, chunk_id: ChunkId) -> None:
        """Let a passage be again what the file says."""

    def take_off(self, layer_id: str) -> None:
        """Take one layer off wherever it lies."""

    def layers(
        self, item_id: str | None = None, after: int = 0, limit: int = 100, *, lost: bool = False
    ) -> Page[LayerRow]:
        """Return the layers of an item or of all; with `lost` those that do not fit."""


@dataclass(frozen=True, slots=True)
class Mending:
    """What changing passages works with.

    Attributes:
        follow: lets the indexes follow what changed in a document.
        changed: told that something changed.
    """

    passages: PassageChanges
    shelf: LayerShelf
    follow: Callable[[DocumentId], FollowedBy]
    changed: Callable[[], object]


class Chunks:
    """Looks at chunks, and changes what they say."""

    def __init__(self, catalogue: Catalogue, mending: Mending) -> None:
        self._catalogue = catalogue
        self._mending = mending

    def inspect(self, request: InspectRequest) -> ChunkInspection:
        """Return one chunk."""
        return inspection_to_wire(self._inspected(request.chunk_id))

    def list(self, request: ChunksRequest) -> ChunksPage:
        """Return a page of the chunks of a document, also of those that hold some letters."""
        doc_id = find_document(self._catalogue, self._catalogue, request.doc)
        page = self._catalogue.every_chunk(doc_id, _number(request.cursor, -1), request.limit, request.query or "")
        return ChunksPage(chunks=tuple(map(inspection_to_wire, page.entries)), next=page.next)

    def edit(self, request: EditChunkRequest) -> ChunkChange:
        """Let a chunk say something else; secrets in it are masked as in files."""
        text, masked = without_secrets(request.text)
        self._mending.passages.say(ChunkId(request.chunk_id), text, request.expected_text_hash)
        return self._change(request.chunk_id, masked)

    def enable(self, request: EnableChunkRequest) -> ChunkChange:
        """Take a chunk out of search, or put it back."""
        self._mending.passages.enable(ChunkId(request.chunk_id), enabled=request.enabled)
        return self._change(request.chunk_id)

    def delete(self, request: ChunkRequest) -> ChunkChange:
        """Take a chunk out for good."""
        self._mending.passages.delete(ChunkId(request.chunk_id))
        return self._change(request.chunk_id)

    def undo(self, request: ChunkRequest) -> ChunkChange:
        """Undo the last change of a chunk."""
        self._mending.passages.undo(ChunkId(request.chunk_id))
        return self._change(request.chunk_id)

    def restore(self, request: RestoreRequest) -> ChunkChange:
        """Let a chunk be what the file says, or take one change off."""
        if request.chunk_id is not None:
            self._mending.shelf.restore(ChunkId(request.chunk_id))
            return self._change(request.chunk_id)
        layer_id = request.layer_id or ""
        lay_on = self._lies_on(layer_id)
        self._mending.shelf.take_off(layer_id)
        if lay_on is None:
            self._mending.changed()
            return ChunkChange(chunk=None, keyword="done", vector="done")
        return self._change(lay_on)

    def layers(self, request: LayersRequest) -> ChunkLayers:
        """Return what people changed in chunks, and what of it fits no more."""
        item_id = self._item(request.doc) if request.doc is not None else None
        after = _number(request.cursor, 0)
        page = self._mending.shelf.layers(item_id, after, request.limit, lost=request.lost)
        return ChunkLayers(layers=tuple(map(layer_to_wire, page.entries)), next=page.next)

    def _inspected(self, chunk_id: str) -> Inspected:
        found = self._catalogue.chunk(ChunkId(chunk_id))
        if found is None:
            raise NotFound(
                f"there is no chunk {chunk_id[:64]!r}",
                hint="`kb search --explain` and `kb inspect <document>` print chunk ids",
            )
        return found

    def _change(self, chunk_id: str, masked: int = 0) -> ChunkChange:
        followed = self._mending.follow(self._inspected(chunk_id).stored.chunk.doc_id)
        self._mending.changed()
        found = self._inspected(chunk_id)
        document = self._catalogue.document(found.stored.chunk.doc_id)
        return ChunkChange(
            chunk=inspection_to_wire(found),
            keyword=followed.keyword,
            vector=followed.vector,
            masked=masked,
            nothing_searchable=document is not None and document.searchable == 0,
            notes=tuple(filter(None, (followed.note, _beyond(found, followed.window)))),
        )

    def _lies_on(self, layer_id: str) -> str | None:
        after: int | None = 0
        while after is not None:
            page = self._mending.shelf.layers(None, after, 200)
            for layer in page.entries:
                if layer.layer_id == layer_id:
                    return layer.chunk_ids[0] if layer.chunk_ids else None
            after = int(page.next) if page.next else None
        return None

    def _item(self, what: str) -> str:
        row = find_item(self._catalogue, what)
        document = self._catalogue.document(DocumentId(what)) if row is None else None
        if row is None and document is None:
            raise NotFound(f"there is no document {what[:200]!r}", hint="list them with `kb list docs`")
        return row.item.item_id if row else (document.item_id if document else "")


def _beyond(found: Inspected, window: int | None) -> str:
    """Say when a vector cannot hold all that a passage was made to say."""
    if window is None or not found.manually_edited or found.stored.chunk.token_estimate <= window:
        return ""
    return f"its vector is made of the first {window} tokens or so; keywords find all of it"


def _number(cursor: str | None, first: int) -> int:
    if cursor is None:
        return first
    if not cursor.isdecimal():
        raise InvalidInput("not a cursor of this list", hint="use the `next` of the page before")
    return int(cursor)
