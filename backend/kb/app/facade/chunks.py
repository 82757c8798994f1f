"""`chunks`: chunks as they are stored."""

from __future__ import annotations

from kb.app.facade.library import find_document
from kb.app.ports import Catalogue
from kb.app.wire.chunks import chunk_to_wire
from kb.contract.chunks import ChunkEmbedding, ChunkInspection, ChunksPage, ChunksRequest, InspectRequest
from kb.domain.catalogue import ChunkInspection as Inspected
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.recipes import ChunkId


class Chunks:
    """Looks at chunks."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def inspect(self, request: InspectRequest) -> ChunkInspection:
        """Return one chunk."""
        found = self._catalogue.chunk(ChunkId(request.chunk_id))
        if found is None:
            raise NotFound(
                f"there is no chunk {request.chunk_id[:64]!r}",
                hint="`kb search --explain` and `kb inspect <document>` print chunk ids",
            )
        return _to_wire(found)

    def list(self, request: ChunksRequest) -> ChunksPage:
        """Return a page of the chunks of a document."""
        doc_id = find_document(self._catalogue, self._catalogue, request.doc)
        page = self._catalogue.chunks(doc_id, _ordinal(request.cursor), request.limit)
        found = (self._catalogue.chunk(stored.chunk.chunk_id) for stored in page.entries)
        return ChunksPage(chunks=tuple(_to_wire(one) for one in found if one is not None), next=page.next)


def _to_wire(found: Inspected) -> ChunkInspection:
    embeddings = [
        ChunkEmbedding.model_validate(
            {
                "model": info.model_id,
                "dimensions": info.dimensions,
                "embedding_id": info.embedding_id,
                "state": info.state,
            }
        )
        for info in found.embeddings
    ]
    wire = chunk_to_wire(found.stored, embeddings, enabled=found.enabled)
    return wire.model_copy(update={"manually_edited": found.manually_edited, "updated_at": found.updated_at})


def _ordinal(cursor: str | None) -> int:
    if cursor is None:
        return -1
    if not cursor.isdecimal():
        raise InvalidInput("not a cursor of this list", hint="use the `next` of the page before")
    return int(cursor)
