"""Source code: pieces between blank lines that start at the margin, with the names they define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kb.domain.blocks import BlockKind, Code
from kb.domain.documents import ParsedBlock, ParsedDocument, ParseWarning
from kb.domain.items import MediaType
from kb.domain.line_segments import LineSegments
from kb.domain.lines import SourceLines, line_span
from kb.domain.paths import WorkspacePath
from kb.ingest.ports import TextDecoder

VERSION = "code-v1"
_MAX_PIECE = 6_000
_LANGUAGES = {
    "bash": "sh",
    "cjs": "js",
    "cc": "cpp",
    "cxx": "cpp",
    "h": "c",
    "hh": "cpp",
    "hpp": "cpp",
    "htm": "html",
    "kts": "kt",
    "mjs": "js",
    "mts": "ts",
    "ps1": "powershell",
    "pyi": "py",
    "yml": "yaml",
    "zsh": "sh",
}
_NAMES = {"dockerfile": "dockerfile", "makefile": "make", "gnumakefile": "make"}
_DEFINITION = re.compile(
    r"^(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|abstract\s+"
    r"|final\s+|unsafe\s+|open\s+|data\s+|sealed\s+)*"
    r"(?:def|class|fn|func|function\*?|struct|enum|trait|interface|impl(?:<[^>]*>)?|module|namespace|object|record|type"
    r"|create\s+(?:or\s+replace\s+)?(?:table|view|function|index|trigger))\s+"
    r"(?:if\s+not\s+exists\s+)?(?:\([^)]*\)\s*)?([^\W\d][\w.]*)",
    re.IGNORECASE,
)


class SourceCodeParser:
    """Reads any programming or configuration language by its shape alone."""

    media_types = frozenset({MediaType.CODE})
    version = VERSION

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        """Return the pieces of a source file, every line kept as it is.

        Raises:
            Unreadable: the bytes are not text.
        """
        decoded = self._decoder.pieces(data)
        warnings = (ParseWarning("encoding_fallback", decoded.note),) if decoded.note else ()
        source = SourceLines(decoded.pieces)
        payload = Code(language_of(path))
        blocks = tuple(_block(lines, first, payload) for first, lines in _pieces(source))
        return ParsedDocument(blocks, {}, warnings, source.count, decoded.encoding)


def language_of(path: WorkspacePath) -> str | None:
    """Return the language by the file's name, its suffix mostly."""
    name = path.rpartition("/")[2].lower()
    if name in _NAMES:
        return _NAMES[name]
    suffix = name.rpartition(".")[2] if "." in name[1:] else ""
    return _LANGUAGES.get(suffix, suffix) or None


def _pieces(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, lines), cut at blank lines before a line at the margin, or anywhere once long."""
    held: list[str] = []
    first = 1
    size = 0
    blank = True
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        starts = blank and line and not line[0].isspace() and line[0] not in ")]}"
        if held and (starts or size >= _MAX_PIECE):
            yield first, held
            held, size = [], 0
        blank = not line
        if held or line:
            if not held:
                first = number
            held.append(line)
            size += len(line) + 1
    if held:
        yield first, held


def _block(lines: list[str], first: int, payload: Code) -> ParsedBlock:
    while not lines[-1]:
        lines.pop()
    at_margin = (line for line in lines if line and not line[0].isspace())
    name = next((found[1] for found in map(_DEFINITION.match, at_margin) if found), None)
    span = line_span(first, first + len(lines) - 1)
    path = (name,) if name else ()
    return ParsedBlock(BlockKind.CODE, "\n".join(lines), span, path, payload, LineSegments.of_lines(lines, first))
