"""Looking things up by whichever of their names a person has."""

from __future__ import annotations

from collections.abc import Iterator

from kb.app.requests import request_of
from kb.contract.chunks import ChunkInspection, ChunksRequest, InspectRequest
from kb.contract.facade import Facade
from kb.domain.errors import NotFound

_ID_LENGTH = 32


def chunks_of(facade: Facade, what: str) -> Iterator[ChunkInspection]:
    """Yield the chunk with this id, else the chunks of the document with this path or id, in order.

    Raises:
        NotFound: there is neither.
        InvalidInput: it cannot be the name of either.
    """
    if len(what) == _ID_LENGTH:
        try:
            found = facade.chunks.inspect(InspectRequest(chunk_id=what))
        except NotFound:
            pass
        else:
            yield found
            return
    cursor: str | None = None
    while True:
        page = facade.chunks.list(request_of(ChunksRequest, doc=what, cursor=cursor))
        yield from page.chunks
        cursor = page.next
        if cursor is None:
            return
