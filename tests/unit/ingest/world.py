"""One ingest in memory: a workspace, a library, indexes, an embedder, and runs over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kb.domain.blocks import BlockKind, Prose
from kb.domain.chunks import ChunkPolicy
from kb.domain.documents import ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.files import Scope
from kb.domain.items import MediaType
from kb.domain.jobs import Progress
from kb.domain.paths import WorkspacePath
from kb.domain.spans import LineSpan, Segment
from kb.ingest.making import ParsedAndChunked
from kb.ingest.pipeline import IngestRun
from kb.ingest.ports import Captioner
from kb.ingest.report import IngestReport
from kb.ingest.run_ports import IngestOptions, IngestPorts
from tests.fakes.artifacts import MemoryArtifacts
from tests.fakes.files import MemoryAssets, MemoryFiles
from tests.fakes.indexes import CountingEmbedder, MemoryTextIndex, MemoryVectorIndex
from tests.fakes.ingest_library import MemoryLibrary
from tests.fakes.reading import FakeFormatReader


@dataclass
class LineParser:
    """One paragraph a line; `!binary` cannot be read, `!bug` is a fault of the parser."""

    version: str = "lines-1"
    media_types: frozenset[MediaType] = frozenset({MediaType.MARKDOWN, MediaType.TEXT})

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        text = data.decode()
        if "!binary" in text:
            raise Unreadable(f"{path} is not text", reason="binary")
        if "!bug" in text:
            raise ZeroDivisionError
        blocks = tuple(
            ParsedBlock(
                BlockKind.PARAGRAPH,
                line,
                LineSpan(number, number),
                (),
                Prose(),
                (Segment(0, len(line), LineSpan(number, number)),),
            )
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip()
        )
        return ParsedDocument(blocks, line_count=len(text.splitlines()))


class EnglishOnly:
    def detect(self, text: str) -> str:
        return "en"


@dataclass
class World:
    files: MemoryFiles = field(default_factory=MemoryFiles)
    assets: MemoryAssets = field(default_factory=MemoryAssets)
    library: MemoryLibrary = field(default_factory=MemoryLibrary)
    text_index: MemoryTextIndex = field(default_factory=MemoryTextIndex)
    scan_index: MemoryVectorIndex = field(default_factory=MemoryVectorIndex)
    chroma: MemoryVectorIndex = field(default_factory=lambda: MemoryVectorIndex("chroma"))
    embedder: CountingEmbedder | None = field(default_factory=CountingEmbedder)
    parser: LineParser = field(default_factory=LineParser)
    reader: FakeFormatReader | None = None
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    captioner: Captioner | None = None
    given_back: list[int] = field(default_factory=list)
    ground: Any = None

    def ports(self) -> IngestPorts:
        policy = ChunkPolicy(target_characters=40, overlap_characters=0)
        return IngestPorts(
            files=self.files,
            assets=self.assets,
            items=self.library,
            documents=self.library,
            maker=ParsedAndChunked(
                [self.parser], EnglishOnly(), policy, None, reader=self.reader, captioner=self.captioner
            ),
            artifacts=self.artifacts,
            vectors=self.library,
            log=self.library,
            text_index=self.text_index,
            vector_indexes=(self.scan_index, self.chroma),
            embedder=self.embedder,
            ground_store=self.ground,
            ground_reader=self.ground,
            give_back=lambda: self.given_back.append(self.text_index.commits),
        )

    def ingest(
        self,
        *paths: str,
        report: Callable[[Progress], object] = lambda _progress: None,
        should_stop: Callable[[], bool] = lambda: False,
        retry: bool = False,
        summary_only: bool = False,
        keep_versions: int = 3,
        workers: int = 1,
        password: str | None = None,
        asks: bool = False,
        confirm: bool = False,
        urgent: bool = False,
    ) -> IngestReport:
        options = IngestOptions(
            workers=workers,
            keep_versions=keep_versions,
            retry=retry,
            summary_only=summary_only,
            password=password,
            asks=asks,
            confirm_removals=confirm,
            urgent=urgent,
        )
        return IngestRun(self.ports(), self.scope(*paths), options, report=report, should_stop=should_stop).run()

    def scope(self, *paths: str) -> Scope:
        return Scope(paths=tuple(map(WorkspacePath, paths)))

    def embedded(self) -> int:
        return len(self.embedder.texts) if self.embedder else 0

    def state(self) -> dict[str, object]:
        """Everything that must be the same whatever happened on the way."""
        return {
            "visible": self.library.visible(),
            "text": self.text_index.texts(),
            "vectors": sorted(self.scan_index.rows.values()),
            "chroma": sorted(self.chroma.rows.values()),
            "items": sorted((item.path, item.state, item.reason) for item in self.library.live_items().values()),
        }


def counts(report: IngestReport) -> dict[str, int]:
    """The numbers of a report that are not zero."""
    names = ("scanned", "new", "updated", "skipped", "errors", "deleted", "renamed", "unsupported", "embedded")
    return {name: getattr(report, name) for name in names if getattr(report, name)}
