"""Documents of every kind put straight into a library, and a viewer over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.sqlite.catalogue import SqliteCatalogue
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.documents import SqliteDocumentWriter
from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.items import SqliteItemStore
from kb.adapters.sqlite.reading import SqliteReading
from kb.app.facade.viewer import Viewer
from kb.app.originals import Originals
from kb.contract.viewer import View, ViewerOpenRequest
from kb.domain.blocks import BlockKind, Heading, Payload, Prose
from kb.domain.chunks import Chunk
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Block, ParsedBlock
from kb.domain.items import Item, MediaType
from kb.domain.pages import SCALE, PageText, Word, WordBoxes
from kb.domain.placed import shift
from kb.domain.recipes import BlockId, chunk_id
from kb.domain.spans import Segment, SourceSpan
from tests.builders import staged
from tests.fakes.artifacts import MemoryArtifacts


@dataclass
class Piece:
    """A block: its text and the places of runs of it, which must cover it in order (gaps of one letter allowed)."""

    text: str
    segments: tuple[Segment, ...]
    kind: BlockKind = BlockKind.PARAGRAPH
    payload: Payload = field(default_factory=Prose)
    heading_path: tuple[str, ...] = ()


def piece(*runs: tuple[str, SourceSpan], between: str = " ", heading: int = 0) -> Piece:
    """A block of runs of text, each with its place."""
    text, segments = "", []
    for run, span in runs:
        text += between if text else ""
        segments.append(Segment(len(text), len(text) + len(run), span))
        text += run
    if heading:
        return Piece(text, tuple(segments), BlockKind.HEADING, Heading(heading), (text,))
    return Piece(text, tuple(segments))


def page_of(number: int, *lines: str, source: str = "text", width: float = 600, height: float = 800) -> PageText:
    """A page whose letters are a fiftieth of it wide, a line every tenth of it, words between spaces."""
    words: list[Word] = []
    text = ""
    for row, line in enumerate(lines):
        text += "\n" if text else ""
        at = 0
        for word in line.split(" "):
            x0, y0 = at * SCALE // 50, row * SCALE // 10
            start = len(text) + at
            words.append(Word(start, start + len(word), x0, y0, x0 + len(word) * SCALE // 50, y0 + SCALE // 20, row))
            at += len(word) + 1
        text += line
    return PageText(number, width, height, "ocr" if source == "ocr" else "text", text, WordBoxes(words))


@dataclass
class Shelf:
    """A library and its viewer."""

    library: Library
    folder: Path
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)

    @property
    def viewer(self) -> Viewer:
        catalogue = SqliteCatalogue(self.library)
        gate = SqliteGatedChunks(self.library)
        return Viewer(
            catalogue,
            SqliteReading(self.library),
            gate,
            self.artifacts,
            decoder=CharsetNormalizerDecoder(),
            originals=Originals(self.folder / "workspace", self.folder, lambda path, _checksum: path),
        )

    def put(
        self,
        path: str,
        media: MediaType,
        *pieces: Piece,
        coverage: Sequence[CoverageUnit] = (),
        pages: Sequence[PageText] = (),
        salt: str = "",
    ) -> str:
        """Store a document of one chunk and show it; return the chunk's id."""
        one = staged(path, *(p.text for p in pieces), salt, media_type=media)
        blocks = tuple(
            Block(
                BlockId(f"{number:032x}"),
                number,
                ParsedBlock(p.kind, p.text, p.segments[0].span, p.heading_path, p.payload, p.segments),
            )
            for number, p in enumerate(pieces)
        )
        document = replace(one.document, blocks=blocks, coverage=tuple(coverage), line_count=0)
        text = ""
        segments: tuple[Segment, ...] = ()
        for p in pieces:
            text += "\n\n" if text else ""
            segments = (*segments, *shift(p.segments, len(text)))
            text += p.text
        name = chunk_id(document.doc_id, chunker_version="c1", block_ids=[b.block_id for b in blocks], policy_hash="p")
        chunk = Chunk(
            name, document.doc_id, 0, text, (), tuple(b.block_id for b in blocks), segments, 9, "c1", "p", lang="en"
        )
        writer = SqliteDocumentWriter(self.library)
        writer.stage(one.item, one.asset, document, (chunk,), None)
        writer.activate([document.doc_id])
        self.artifacts.keep(document.doc_id, pages, None)
        return name

    def save(self, item: Item) -> None:
        """Keep an item without a document."""
        SqliteItemStore(self.library).save_item(item)

    def open(self, citation: str | None = None, quote: str | None = None, chunk: str | None = None) -> View:
        """Ask the viewer."""
        return self.viewer.open(ViewerOpenRequest(citation=citation, quote=quote, chunk_id=chunk))
