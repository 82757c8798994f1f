"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.items import MediaType
from kb.domain.lines import SourceLines, paragraphs_of
from kb.domain.paths import WorkspacePath
from kb.ingest.ports import TextDecoder

VERSION = "text-v1"


class PlainTextParser:
    """Reads text without markup that matters: notes, logs, reStructuredText, Org, TeX."""

    media_types = frozenset({MediaType.TEXT})
    version = VERSION

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder

    def parse(self, data: bytes, path: WorkspacePath) -> ParsedDocument:
        """Return one block a paragraph.

        Raises:
            Unreadable: the bytes are not text.
        """
        del path
        decoded = self._decoder.pieces(data)
        warnings = (ParseWarning("encoding_fallback", decoded.note),) if decoded.note else ()
        lines = SourceLines(decoded.pieces)
        blocks = tuple(paragraphs_of(lines))
        return ParsedDocument(blocks, {}, warnings, lines.count, decoded.encoding)
