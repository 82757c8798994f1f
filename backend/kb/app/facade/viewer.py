"""`viewer`: opening the place of a citation."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

from kb.app.ports import Catalogue, Reading
from kb.app.wire.citation import citation_to_wire
from kb.contract.files import LocalFile
from kb.contract.viewer import LineRange, View, ViewerContext, ViewerContextRequest, ViewerOpenRequest
from kb.domain.catalogue import ItemRow
from kb.domain.chunks import StoredChunk
from kb.domain.citations import Citation, cite
from kb.domain.errors import NotFound
from kb.domain.ids import content_hash
from kb.domain.items import MediaType
from kb.domain.paths import WorkspacePath
from kb.domain.placed import spans_between
from kb.domain.places import LinePlace
from kb.domain.reading import Original
from kb.domain.recipes import ChunkId
from kb.domain.text import fold_with_origin, nfc
from kb.ingest.ports import TextDecoder
from kb.retrieval.ports import GatedChunks
from kb.retrieval.snippets import own_start

_MIME = {
    MediaType.MARKDOWN: "text/markdown; charset=utf-8",
    MediaType.TEXT: "text/plain; charset=utf-8",
    MediaType.CODE: "text/plain; charset=utf-8",
    MediaType.PDF: "application/pdf",
}
_PAGE = 200


class Viewer:
    """Says what to open and what to mark; gives the bytes of items."""

    def __init__(
        self,
        catalogue: Catalogue,
        reading: Reading,
        chunks: GatedChunks,
        *,
        decoder: TextDecoder,
        workspace: Path,
        data_dir: Path,
    ) -> None:
        self._catalogue = catalogue
        self._reading = reading
        self._chunks = chunks
        self._decoder = decoder
        self._workspace = workspace
        self._data_dir = data_dir

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

    def file(self, item_id: str, doc_id: str | None = None) -> LocalFile:
        """Return the file of an item, or the kept copy of one version.

        Raises:
            NotFound: there is no such item or version, or its original is gone.
        """
        original = self._original(item_id, doc_id)
        path = self._bytes_of(original)
        mime = _MIME.get(original.media or MediaType.OTHER, "application/octet-stream")
        # A file of the workspace may change at any time: its tag must change with it.
        now = path.stat()
        is_copy = path.is_relative_to(self._data_dir.resolve())
        etag = original.checksum if is_copy else f"{now.st_size:x}-{now.st_mtime_ns:x}"
        return LocalFile(path=path, media_type=mime, etag=etag)

    def markdown(self, item_id: str, doc_id: str | None = None) -> str:
        """Return an item's text as Markdown, in the lines that citations count.

        Raises:
            NotFound: there is no such item or version, its original is gone, or it is not a text.
            Unreadable: its bytes are not text any more.
        """
        original = self._original(item_id, doc_id)
        if original.media not in {MediaType.MARKDOWN, MediaType.TEXT, MediaType.CODE}:
            raise NotFound(f"{original.path} is not a text", hint="open its file instead")
        return nfc(self._decoder.decode(self._bytes_of(original).read_bytes()).text)

    def _open_chunk(self, chunk_id: str, quote: str | None) -> View:
        kept = self._reading.kept_chunk(ChunkId(chunk_id))
        if kept is None:
            raise _no_chunk(chunk_id)
        if kept.is_shown:
            return self._view(kept.stored, "exact", quote)
        # The version that was cited is not shown any more: look for its words in the one that is.
        row = self._catalogue.item(kept.stored.item_id)
        moved = self._find(row, quote or kept.stored.chunk.text) if row else None
        if moved is not None:
            return self._view(moved, "moved", quote)
        return self._view(kept.stored, "gone", quote)

    def _open_citation(self, citation: Citation, quote: str | None) -> View:
        row = self._catalogue.item_at(citation.path)
        if row is None:
            return self._open_former(citation, quote)
        place = citation.place
        doc_id = row.item.active_doc_id
        shown = self._catalogue.document(doc_id) if doc_id else None
        details = self._reading.details(shown.doc_id) if shown else None
        inside = details is not None and isinstance(place, LinePlace) and place.end <= details.line_count
        found = self._find(row, quote) if quote else None
        state = "exact" if inside and (found is not None or not quote) else "moved" if found else "gone"
        lines = LineRange(start=place.start, end=place.end) if isinstance(place, LinePlace) and inside else None
        if found is not None:
            view = self._view(found, "exact", quote)
            if view.lines is not None and lines is not None:
                overlaps = view.lines.start <= lines.end and lines.start <= view.lines.end
                state = "exact" if overlaps else "moved"
            return view.model_copy(update={"state": state})
        return View.model_validate(
            {
                "item_id": row.item.item_id,
                "doc_path": row.item.path,
                "media": _media(row.media_type),
                "state": state,
                "quote": None,
                "lines": lines,
                "doc_id": doc_id,
                "citation": citation_to_wire(citation),
            }
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
        return View.model_validate(
            {
                "item_id": item_id,
                "doc_path": citation.path,
                "media": "text",
                "state": "gone",
                "quote": None,
                "citation": citation_to_wire(citation),
            }
        )

    def _find(self, row: ItemRow | None, quote: str) -> StoredChunk | None:
        """Return the shown chunk of an item that holds `quote`, white space and widths aside."""
        if row is None or row.item.active_doc_id is None:
            return None
        after = -1
        while True:
            page = self._catalogue.chunks(row.item.active_doc_id, after, _PAGE)
            for stored in page.entries:
                if _locate(stored.chunk.text, quote) is not None:
                    return stored
            if page.next is None:
                return None
            after = int(page.next)

    def _view(self, stored: StoredChunk, state: str, quote: str | None) -> View:
        text, segments = stored.chunk.text, stored.chunk.segments
        place = _locate(text, quote, own_start(text, segments)) if quote else None
        spans = spans_between(segments, *place) if place else ()
        if not spans:  # what a chunk repeats of another has no place in it
            place = None
        citation = cite(stored.path, spans or stored.chunk.source_spans, stored.chunk.section_label)
        lines = None
        if isinstance(citation.place, LinePlace):
            lines = LineRange(start=citation.place.start, end=citation.place.end)
        return View.model_validate(
            {
                "item_id": stored.item_id,
                "doc_path": stored.path,
                "media": _media(MediaType(stored.media)),
                "state": state,
                "quote": stored.chunk.text[slice(*place)] if place else None,
                "lines": lines,
                "doc_id": stored.chunk.doc_id,
                "title": stored.title,
                "chunk_id": stored.chunk.chunk_id,
                "citation": citation_to_wire(citation),
            }
        )

    def _original(self, item_id: str, doc_id: str | None) -> Original:
        found = self._reading.original(item_id, doc_id)
        if found is None:
            raise NotFound("there is no such item or version", hint="list files with `kb list items`")
        return found

    def _bytes_of(self, original: Original) -> Path:
        """Resolve bytes inside our own data or the workspace, and nowhere else."""
        if original.storage_kind == "copied":
            path = _inside(self._data_dir, original.storage_path)
            if path is not None and path.is_file():
                return path
        path = _inside(self._workspace, original.disk_name)
        # The file there now is an earlier version only while its bytes are still the same.
        is_there = path is not None and path.is_file()
        if path and is_there and (original.is_current or content_hash(path.read_bytes()) == original.checksum):
            return path
        raise NotFound(f"the original of {original.path} is gone", hint="put the file back, or run `kb ingest`")


def _inside(root: Path, relative: str) -> Path | None:
    base = root.resolve()
    path = (base / relative).resolve()
    return path if path.is_relative_to(base) else None


def _media(media: MediaType | None) -> str:
    return "markdown" if media is MediaType.MARKDOWN else "text"


def _whole(stored: StoredChunk) -> Citation:
    return cite(WorkspacePath(stored.path), stored.chunk.source_spans, stored.chunk.section_label)


def _locate(text: str, quote: str, begin: int = 0) -> tuple[int, int] | None:
    """Return where `quote` stands in `text`, from `begin` on if it can be; NFKC and any white space tolerated."""
    words = "".join(_nfkc(quote).split())
    if not words:
        return None
    folded, starts, ends = fold_with_origin(text, _nfkc)
    letters = [index for index, letter in enumerate(folded) if not letter.isspace()]
    packed = "".join(folded[index] for index in letters)
    own = bisect_left(letters, begin, key=lambda index: starts[index])
    at = packed.find(words, own)
    if at < 0:
        at = packed.find(words)
    return (starts[letters[at]], ends[letters[at + len(words) - 1]]) if at >= 0 else None


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _no_chunk(chunk_id: str) -> NotFound:
    return NotFound(
        f"there is no chunk {chunk_id[:64]!r}", hint="its document may have been purged; search again for its words"
    )
