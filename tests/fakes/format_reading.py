"""Short words for tests of format parsers: read these bytes, show these blocks."""

from __future__ import annotations

from kb.domain.documents import ParsedDocument
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import FormatParser, SourceFile

LIMITS = ReadingLimits()


def parse(
    parser: FormatParser,
    data: bytes | str,
    *,
    name: str = "file",
    limits: ReadingLimits = LIMITS,
    password: str | None = None,
) -> ParsedDocument:
    """What the parser makes of these bytes."""
    raw = data.encode() if isinstance(data, str) else data
    media_type: MediaType = next(iter(parser.media_types))
    source = SourceFile(WorkspacePath(name), media_type, raw, password=password)
    return parser.read(source, limits, lambda done, total, unit: None)


def shown(document: ParsedDocument) -> list[tuple[str, int, str]]:
    """Each block as (kind, number of its part, text)."""
    return [
        (block.kind.value, block.span.number, block.text)
        for block in document.blocks
        if isinstance(block.span, PartSpan)
    ]


def ledger(document: ParsedDocument) -> list[tuple[int, int, str, str | None]]:
    """The coverage as (start, end, state, reason)."""
    return [(unit.start, unit.end, unit.state, unit.reason) for unit in document.coverage]


def short_id(value: object) -> str:
    """A name of a test's parameter that is the same in every process, which compressed bytes with a time are not."""
    return value if isinstance(value, str) and len(value) <= 20 else "input"
