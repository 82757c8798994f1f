"""Format parsers and their reader in plain Python, in this process: a small format with pages, members and failures.

`PagesParser` reads bytes of UTF-8:

- `\f` between pages; each line is a block, its words have boxes; an empty page is `blank`
- a line `@name content` is a member (an attachment) of that name, no block
- a line `title: words` is front matter, no block
- a file that begins with `!reason` fails with that reason; one that begins with `!raise` breaks the parser
- a file that begins with `?password` needs that password
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from blake3 import blake3

from kb.domain.blocks import BlockKind, Prose
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedBlock, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled
from kb.domain.files import FileBytes, FileIdentity
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.pages import PageText, Word, WordBoxes
from kb.domain.paths import WorkspacePath
from kb.domain.spans import PageSpan, Segment
from kb.ingest.reading_ports import FormatParser, SourceFile, Tell

_LINE_HEIGHT, _LETTER_WIDTH = 1_000, 100


def content(data: bytes, checksum: str = "") -> FileBytes:
    """A file's content as a workspace gives it."""
    return FileBytes(data, checksum or blake3(data).hexdigest(), FileIdentity(len(data), 0, "1"))


@dataclass
class PagesParser:
    """Reads the format described above, for the media types it is given."""

    media_types: frozenset[MediaType] = frozenset({MediaType.PDF})
    version: str = "pages-v1"

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        text = source.data.decode("utf-8")
        first = text.partition("\n")[0]
        if first.startswith("!raise"):
            raise RuntimeError("the parser breaks, with words of the file: " + text)
        if first.startswith("!"):
            raise Unreadable("the file cannot be read", hint="mend it", reason=first[1:])
        if first.startswith("?"):
            if source.password != first[1:]:
                raise Unreadable("the file is locked", hint="give its password", reason="locked")
            text = text.partition("\n")[2]
        texts = text.split("\f")
        if len(texts) > limits.pages:
            raise Unreadable(f"the file has {len(texts)} pages", reason="too_many_pages")
        found = _Found()
        for number, page in enumerate(texts, 1):
            found.page(number, page)
            tell(number, len(texts), "page")
        return ParsedDocument(
            tuple(found.blocks),
            front_matter=found.front_matter,
            coverage=tuple(found.coverage),
            pages=tuple(found.pages),
            members=tuple(found.members),
        )


@dataclass
class _Found:
    blocks: list[ParsedBlock] = field(default_factory=list)
    coverage: list[CoverageUnit] = field(default_factory=list)
    pages: list[PageText] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    front_matter: dict[str, str] = field(default_factory=dict)

    def page(self, number: int, text: str) -> None:
        lines: list[str] = []
        words: list[Word] = []
        position = 0
        for line in filter(None, text.split("\n")):
            if line.startswith("@"):
                name, _, inside = line[1:].partition(" ")
                self.members.append(Member(name, inside.encode()))
            elif line.startswith("title: "):
                self.front_matter["title"] = line[7:]
            else:
                span = PageSpan(number, position, position + len(line))
                segment = Segment(0, len(line), span)
                self.blocks.append(ParsedBlock(BlockKind.PARAGRAPH, line, span, (), Prose(), (segment,)))
                words += _boxes(line, position, len(lines))
                lines.append(line)
                position += len(line) + 1
        self.coverage.append(CoverageUnit("page", number, number, "text" if lines else "blank"))
        if lines:
            self.pages.append(PageText(number, 595.0, 842.0, "text", "\n".join(lines), WordBoxes(words)))


def _boxes(line: str, position: int, number: int) -> Iterable[Word]:
    start = 0
    for word in line.split(" "):
        end = start + len(word)
        if word:
            top = number * _LINE_HEIGHT
            yield Word(
                position + start,
                position + end,
                start * _LETTER_WIDTH,
                top,
                end * _LETTER_WIDTH,
                top + _LINE_HEIGHT,
                number,
            )
        start = end + 1


@dataclass
class ScriptedParser:
    """Does what a test says: `does` gets all that a parser gets."""

    does: Callable[[SourceFile, ReadingLimits, Tell], ParsedDocument]
    media_types: frozenset[MediaType] = frozenset({MediaType.PDF})
    version: str = "scripted-v1"

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        return self.does(source, limits, tell)


class FakeReading:
    """A file that is read when somebody waits for it, on the thread that waits."""

    def __init__(self, read: Callable[[Tell], ParsedDocument]) -> None:
        self._read = read
        self._progress = (0, 0, "")
        self._lock = threading.Lock()
        self._end: ParsedDocument | Unreadable | Cancelled | None = None

    def wait(self, seconds: float) -> bool:
        with self._lock:
            if self._end is None:
                self._end = self._ended()
        return True

    def progress(self) -> tuple[int, int, str]:
        return self._progress

    def result(self) -> ParsedDocument:
        self.wait(0)
        if isinstance(self._end, ParsedDocument):
            return self._end
        assert self._end is not None
        raise self._end

    def cancel(self) -> None:
        with self._lock:
            self._end = self._end or Cancelled("the reading was stopped")

    @property
    def cancelled(self) -> bool:
        return isinstance(self._end, Cancelled)

    def _ended(self) -> ParsedDocument | Unreadable:
        try:
            return self._read(self._tell)
        except Unreadable as error:
            return error
        except Exception:  # noqa: BLE001 - as a child does: whatever a parser raises costs its file only
            return Unreadable("the program that reads files failed on this one", reason="crashed")

    def _tell(self, done: int, total: int, unit: str) -> None:
        self._progress = (done, total, unit)


class FakeFormatReader:
    """Reads with the parsers it is given; `begun` lists the paths in the order in which they came.

    Attributes:
        readings: the readings, in the same order.
        fails: paths that fail with this reason, as a child that dies (`crashed`), hangs (`too_slow`) or eats memory
            (`too_much_memory`) makes them fail.
    """

    def __init__(self, *parsers: FormatParser, width: int = 2, limits: ReadingLimits | None = None) -> None:
        self._parsers: Sequence[FormatParser] = parsers or (PagesParser(),)
        self._width = width
        self._limits = limits or ReadingLimits()
        self.begun: list[str] = []
        self.readings: list[FakeReading] = []
        self.fails: dict[str, str] = {}
        self.closed = False

    @property
    def media_types(self) -> frozenset[MediaType]:
        return frozenset(self._by_type())

    def version(self, media_type: MediaType) -> str:
        return self._by_type()[media_type].version

    @property
    def width(self) -> int:
        return self._width

    def begin(
        self, content: FileBytes, path: WorkspacePath, media_type: MediaType, password: str | None = None
    ) -> FakeReading:
        parser = self._by_type()[media_type]
        source = SourceFile(path, media_type, content.data, content.checksum, content.disk_path, password)

        def read(tell: Tell) -> ParsedDocument:
            if reason := self.fails.get(path):
                raise Unreadable(f"reading it ended badly: {reason}", hint="nothing else is affected", reason=reason)
            return parser.read(source, self._limits, tell)

        self.begun.append(path)
        self.readings.append(FakeReading(read))
        return self.readings[-1]

    def close(self) -> None:
        self.closed = True

    def _by_type(self) -> Mapping[MediaType, FormatParser]:
        return {media_type: parser for parser in self._parsers for media_type in parser.media_types}
