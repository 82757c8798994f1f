"""Looking things up by whichever of their names a person has."""

from __future__ import annotations

from collections.abc import Iterator

from kb.app.requests import request_of
from kb.contract.answers import Answer
from kb.contract.chunks import ChunkInspection, ChunksRequest, InspectRequest
from kb.contract.facade import Facade
from kb.contract.viewer import ViewerOpenRequest
from kb.domain.errors import KebabError, NotFound

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


def changed_sources(facade: Facade, answer: Answer) -> Iterator[tuple[str, str | None]]:
    """Yield the marker of each source of an old answer that is not where it was, with the URI of its place now.

    None instead of a URI: the file or the quoted words are gone.
    """
    for source in answer.citations:
        if not source.marker or not source.chunk_id:
            continue
        try:
            view = facade.viewer.open(ViewerOpenRequest(chunk_id=source.chunk_id, quote=source.quote))
        except KebabError:
            yield source.marker, None
            continue
        if view.state == "gone":
            yield source.marker, None
        elif view.state == "moved" and view.citation and view.citation.uri != source.citation.uri:
            yield source.marker, view.citation.uri
