"""What parsers, normalising and chunking need, in plain Python, and documents made of a few blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Payload, Prose, Table
from kb.domain.documents import CanonicalDocument, ParsedBlock, ParsedDocument
from kb.domain.lines import line_span
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import AssetId
from kb.domain.spans import Segment
from kb.ingest.normalise import SourceFacts, normalise
from kb.ingest.ports import DecodedText, TextPieces

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_TOKEN = re.compile(r"[A-Za-z0-9]{1,4}|\S")


class Utf8Decoder:
    """UTF-8 and nothing else; half a surrogate pair passes, as it does out of some file names."""

    def decode(self, data: bytes) -> DecodedText:
        return DecodedText(data.decode("utf-8", errors="surrogatepass"))

    def pieces(self, data: bytes) -> TextPieces:
        *lines, last = self.decode(data).text.split("\n")
        return TextPieces(iter([*(f"{line}\n" for line in lines), last]))


@dataclass
class FixedDetector:
    """Always the same language; remembers what it was asked."""

    language: str = "en"
    asked: list[str] = field(default_factory=list)

    def detect(self, text: str) -> str:
        self.asked.append(text)
        return self.language


@dataclass
class PieceTokenizer:
    """A token for up to four ASCII letters or digits and for every other visible character."""

    counted: int = 0

    def count(self, text: str) -> int:
        self.counted += len(text)
        return len(_TOKEN.findall(text))

    def fitting_prefix(self, text: str, max_tokens: int) -> int:
        ends = [found.end() for found in _TOKEN.finditer(text)]
        return len(text) if len(ends) <= max_tokens else max(1, ends[max_tokens - 1])


def ticking(start: datetime = NOON) -> Callable[[], datetime]:
    """A clock that goes on by a second whenever it is asked."""
    times = iter(start + timedelta(seconds=second) for second in range(1_000))
    return lambda: next(times)


_PAYLOADS: dict[BlockKind, Payload] = {
    BlockKind.CODE: Code(),
    BlockKind.TABLE: Table((), ()),
    BlockKind.IMAGE_REF: MediaRef("a.png"),
}


def parsed(*pieces: tuple[str, str]) -> ParsedDocument:
    """A parse of (kind, text) pairs, a blank line between; kinds are `h1`…`h6` or those of blocks."""
    blocks: list[ParsedBlock] = []
    path: list[tuple[int, str]] = []
    line = 1
    for name, text in pieces:
        level = int(name[1]) if re.fullmatch("h[1-6]", name) else 0
        kind = BlockKind.HEADING if level else BlockKind(name)
        if level:
            path = [*((n, title) for n, title in path if n < level), (level, text)]
        segments: list[Segment] = []
        position = 0
        lines = text.split("\n")
        for number, words in enumerate(lines, line):
            if words:
                segments.append(Segment(position, position + len(words), line_span(number, number)))
            position += len(words) + 1
        payload = Heading(level) if level else _PAYLOADS.get(kind, Prose())
        span = line_span(line, line + len(lines) - 1)
        blocks.append(ParsedBlock(kind, text, span, tuple(title for _, title in path), payload, tuple(segments)))
        line += len(lines) + 1
    return ParsedDocument(tuple(blocks), line_count=line - 2)


def facts(path: str = "notes/a.md", version: str = "test-1") -> SourceFacts:
    """What is known of a file beside its content."""
    return SourceFacts(WorkspacePath(path), AssetId("0" * 32), version, modified_at=NOON, discovered_at=NOON)


def document(*pieces: tuple[str, str], path: str = "notes/a.md") -> CanonicalDocument:
    """A document of (kind, text) pairs, see `parsed`."""
    return normalise(parsed(*pieces), facts(path), FixedDetector(), lambda: NOON)


def lines_of(segments: Sequence[Segment], text: str) -> list[tuple[str, int]]:
    """The pieces of a text with the first line each came from."""
    return [(text[s.start : s.end], getattr(s.span, "start", 0)) for s in segments]
