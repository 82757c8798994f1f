"""`viewer`: opening the place of a citation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kb.app.extents import Extent, meet
from kb.app.finding import Found, PassageFinder, within, within_or_across
from kb.app.marking import Marks, Pages, marks_at, marks_of
from kb.app.originals import Originals, kind_by_name
from kb.app.ports import Catalogue, Reading
from kb.app.quotes import Quote
from kb.app.rendering import markdown_of
from kb.app.wire.citation import citation_to_wire
from kb.contract.files import LocalFile
from kb.contract.viewer import View, ViewerContext, ViewerContextRequest, ViewerOpenRequest
from kb.domain.accounting import ledger_of
from kb.domain.catalogue import ItemRow
from kb.domain.chunks import StoredChunk
from kb.domain.citations import Citation, cite
from kb.domain.errors import NotFound
from kb.domain.items import MediaType
from kb.domain.layers import changes_between, original_range
from kb.domain.paths import WorkspacePath
from kb.domain.reading import KeptChunk, Original
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.text import nfc
from kb.ingest.ports import TextDecoder
from kb.retrieval.ports import GatedChunks
from kb.retrieval.snippets import own_start

_TEXTS = frozenset({MediaType.MARKDOWN, MediaType.TEXT, MediaType.CODE})
# What was recognised from a picture or from sound reads a little differently by the next model.
_RECOGNISED = frozenset({MediaType.IMAGE, MediaType.AUDIO, MediaType.VIDEO})
_VIEWERS: Mapping[MediaType, str] = {
    MediaType.MARKDOWN: "markdown",
    MediaType.PDF: "pdf",
    MediaType.IMAGE: "image",
    MediaType.AUDIO: "audio",
    MediaType.VIDEO: "audio",
    MediaType.CSV: "table",
    MediaType.XLSX: "table",
    MediaType.XLS: "table",
    MediaType.ODS: "table",
    MediaType.EML: "message",
    MediaType.MBOX: "message",
    MediaType.MSG: "message",
    MediaType.EPUB: "book",
}


class Viewer:
    """Says what to open and what to mark; gives the bytes of items."""

    def __init__(
        self,
        catalogue: Catalogue,
        reading: Reading,
        chunks: GatedChunks,
        pages: Pages,
        *,
        decoder: TextDecoder,
        originals: Originals,
    ) -> None:
        self._catalogue = catalogue
        self._reading = reading
        self._chunks = chunks
        self._pages = pages
        self._decoder = decoder
        self._originals = originals
        self._finder = PassageFinder(catalogue)

    def open(self, request: ViewerOpenRequest) -> View:
        """Say what to open and what to mark."""
        if request.chunk_id is not None:
            return self._open_chunk(request.chunk_id, request.quote)
        return self._open_citation(Citation.parse(request.citation or ""), request.quote)

    def context(self, request: ViewerContextRequest) -> ViewerContext:
        """Return what stands around a chunk."""
        found = self._catalogue.chunk(ChunkId(request.chunk_id))
        if found is None or not found.visible:
            raise _no_chunk(request.chunk_id)
        stored = found.stored
        around = self._chunks.neighbours(stored.key, 1)
        before = tuple(s.chunk.text for s in around if s.chunk.ordinal < stored.chunk.ordinal)
        after = tuple(s.chunk.text for s in around if s.chunk.ordinal > stored.chunk.ordinal)
        return ViewerContext(
            chunk_id=stored.chunk.chunk_id,
            text=stored.chunk.text,
            before=before,
            after=after,
            parent=None,
            collections=(),
            item_id=stored.item_id,
            doc_id=stored.chunk.doc_id,
            doc_path=stored.path,
            title=stored.title,
            citation=citation_to_wire(_whole(stored)),
        )

    def file(self, item_id: str, doc_id: str | None = None, rendition: str | None = None) -> LocalFile:
        """Return the file of an item, or the kept copy of one version, or its rendition: `opus`, of sound and video.

        Raises:
            NotFound: there is no such item or version, or its original is gone.
            InvalidInput: there is no such rendition of it.
        """
        return self._originals.file(self._original(item_id, doc_id), rendition)

    def markdown(self, item_id: str, doc_id: str | None = None) -> str:
        """Return an item's text as Markdown: a text in the lines that citations count, others as they were read.

        Raises:
            NotFound: there is no such item or version, nothing was read of it, or its original is gone.
            Unreadable: its bytes are not text any more.
        """
        original = self._original(item_id, doc_id)
        if original.media in _TEXTS:
            return nfc(self._decoder.decode(self._originals.path(original).read_bytes()).text)
        passages = self._reading.passages(original.doc_id) if original.doc_id else ()
        if original.doc_id is None or not passages:
            raise NotFound(f"no text was read of {original.path}", hint="open its file instead")
        return markdown_of(self._reading.blocks(original.doc_id), [stored.chunk for stored in passages])

    def _open_chunk(self, chunk_id: str, quote: str | None) -> View:
        kept = self._reading.kept_chunk(ChunkId(chunk_id))
        if kept is None:
            raise _no_chunk(chunk_id)
        if not kept.is_shown:
            # The version that was cited is not shown any more: look for its words in the one that is.
            row = self._catalogue.item(kept.stored.item_id)
            moved = self._moved(row, kept.stored, quote) if row else None
            if moved is not None:
                return self._view(moved.stored, "moved", moved if quote else None)
        found = self._within(kept, quote) if quote else None
        if found is None and quote and kept.original is not None:
            # An answer of before the edit quotes what the file says.
            found = within(kept.original, Quote.of(quote))
        view = self._view(kept.stored, "exact" if kept.is_shown else "gone", found)
        if kept.original is None:
            return view
        return view.model_copy(update={"edited": True, "original": _original_words(kept, found)})

    def _within(self, kept: KeptChunk, quote: str) -> Found | None:
        """Return where a quote stands in a passage; one that runs over its edge is marked on both sides."""
        stored = kept.stored
        if kept.is_shown:
            return within_or_across(stored, Quote.of(quote), self._finder.around(stored))
        ordinal = stored.chunk.ordinal
        all_of_it = self._reading.passages(stored.chunk.doc_id)
        near = [passage for passage in all_of_it if abs(passage.chunk.ordinal - ordinal) <= 1]
        return within_or_across(stored, Quote.of(quote), near)

    def _moved(self, row: ItemRow, stored: StoredChunk, quote: str | None) -> Found | None:
        doc_id = row.item.active_doc_id
        if doc_id is None:
            return None
        tolerant = _is_recognised(row)
        if quote:
            return self._finder.find(doc_id, quote, tolerant=tolerant)
        return self._finder.again(doc_id, stored.chunk, tolerant=tolerant)

    def _open_citation(self, citation: Citation, quote: str | None) -> View:
        row = self._catalogue.item_at(citation.path)
        if row is None:
            return self._open_former(citation, quote)
        doc_id, place = row.item.active_doc_id, citation.place
        extent = self._extent(row)
        is_inside = extent.holds(place)
        near = place if is_inside else None
        found = self._finder.find(doc_id, quote, near, tolerant=_is_recognised(row)) if doc_id and quote else None
        if found is not None:
            is_there = near is not None and meet(found.citation.place, near)
            return self._view(found.stored, "exact" if is_there else "moved", found)
        return _view(
            row.item.item_id,
            citation,
            row.media_type or kind_by_name(row.item.path),
            state="exact" if is_inside and not quote else "gone",
            marks=marks_at(place, doc_id, self._pages, extent.parts) if is_inside else Marks(),
            doc_id=doc_id,
        )

    def _open_former(self, citation: Citation, quote: str | None) -> View:
        """Follow a citation to a file that was renamed since, or say that it is gone."""
        item_id = self._reading.former_item(citation.path)
        row = self._catalogue.item(item_id) if item_id else None
        if row is not None:
            renamed = self._open_citation(replace(citation, path=row.item.path), quote)
            return renamed.model_copy(update={"state": "moved" if renamed.state == "exact" else renamed.state})
        if item_id is None:
            raise NotFound(f"{citation.path} is not in the library", hint="check the path, or run `kb ingest` first")
        return _view(item_id, citation, None, state="gone", marks=Marks())

    def _extent(self, row: ItemRow) -> Extent:
        """Return how far the present version of an item reaches; of one without a document what its ledger says."""
        doc_id = row.item.active_doc_id
        details = self._reading.details(doc_id) if doc_id and self._catalogue.document(doc_id) else None
        if doc_id is None or details is None:
            return Extent(ledger=ledger_of(row.item) if row.included and not row.archived else ())
        return Extent(
            lines=details.line_count,
            ledger=self._catalogue.coverage(doc_id),
            parts=self._reading.parts(doc_id),
            picture=self._pages.page(doc_id, 1) if row.media_type is MediaType.IMAGE else None,
        )

    def _view(self, stored: StoredChunk, state: str, found: Found | None) -> View:
        """Mark what was found in a chunk, or the whole chunk."""
        chunk = found.stored.chunk if found else stored.chunk
        start, end = (found.start, found.end) if found else (own_start(chunk.text, chunk.segments), len(chunk.text))
        view = _view(
            stored.item_id,
            found.citation if found else _whole(stored),
            MediaType(stored.media),
            state=state,
            marks=marks_of(chunk, start, end, self._pages),
            doc_id=chunk.doc_id,
        )
        said = {
            "quote": chunk.text[start:end] if found else None,
            "title": stored.title,
            "chunk_id": stored.chunk.chunk_id,
        }
        return view.model_copy(update=said)

    def _original(self, item_id: str, doc_id: str | None) -> Original:
        found = self._reading.original(item_id, doc_id)
        if found is None:
            raise NotFound("there is no such item or version", hint="list files with `kb list items`")
        return found


def _view(
    item_id: str,
    citation: Citation,
    media: MediaType | None,
    *,
    state: str,
    marks: Marks,
    doc_id: DocumentId | None = None,
) -> View:
    return View.model_validate(
        {
            "item_id": item_id,
            "doc_path": citation.path,
            "media": _VIEWERS.get(media or MediaType.OTHER, "text"),
            "state": state,
            "quote": None,
            "lines": marks.lines,
            "rects": marks.rects,
            "time": marks.time,
            "part": marks.part,
            "doc_id": doc_id,
            "citation": citation_to_wire(citation),
        }
    )


def _original_words(kept: KeptChunk, found: Found | None) -> str:
    """Return what the file says where something was found in a passage that a person changed, else all of it."""
    original = (kept.original or kept.stored).chunk
    chunk = found.stored.chunk if found else original
    if (
        found is None
        or chunk.chunk_id != original.chunk_id
        or chunk.text not in {kept.stored.chunk.text, original.text}
    ):
        return original.text[own_start(original.text, original.segments) :]
    if chunk.text == original.text:
        return original.text[found.start : found.end]
    changes = changes_between(original.text, chunk.text)
    return original.text[slice(*original_range(changes, found.start, found.end))]


def _is_recognised(row: ItemRow) -> bool:
    return row.totals["ocr"] > 0 or row.media_type in _RECOGNISED


def _whole(stored: StoredChunk) -> Citation:
    return cite(WorkspacePath(stored.path), stored.chunk.source_spans, stored.chunk.section_label)


def _no_chunk(chunk_id: str) -> NotFound:
    return NotFound(
        f"there is no chunk {chunk_id[:64]!r}", hint="its document may have been purged; search again for its words"
    )
