"""The HTML parser: a page to blocks that stand in numbered heading sections."""

from __future__ import annotations

from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.html import Sections, decode_html, read_html, section_coverage
from kb.adapters.parsers.web.mhtml import page_in
from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.ports import TextDecoder
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "html-v1"


class HtmlParser:
    """Reads saved web pages with lxml's event parser."""

    media_types = frozenset({MediaType.HTML})
    version = VERSION

    def __init__(self, decoder: TextDecoder) -> None:
        self._decoder = decoder

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return the blocks of a page, one section a heading.

        Raises:
            Unreadable: `wrong_type` when the bytes are not text; `too_big`, `too_complex`; of pages saved as one
                file `damaged`, `nested_too_deep`.
        """
        data, declared = page_in(source.data) or (source.data, "")
        try:
            decoded = decode_html(data, self._decoder, declared)
        except Unreadable as error:
            raise Unreadable("this is no page, though its name says so", reason="wrong_type") from error
        builder, sections = BlockBuilder(), Sections()
        facts = read_html(
            decoded.text, builder, sections, limits, tell=lambda done, total: tell(done, total, "character")
        )
        with_text = {span.number for block in builder.blocks if isinstance(span := block.span, PartSpan) and block.text}
        return ParsedDocument(
            blocks=tuple(builder.blocks),
            front_matter=facts.front_matter,
            warnings=(ParseWarning("encoding_fallback", decoded.note),) if decoded.note else (),
            encoding=decoded.encoding,
            coverage=section_coverage(sections.number, with_text, left_out=facts.left_out),
        )
