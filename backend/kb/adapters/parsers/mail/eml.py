"""The parser of single letters."""

from __future__ import annotations

from kb.adapters.parsers.mail.letters import add_letter, facts_of, members_of
from kb.adapters.parsers.mail.mime import MimeReader
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.domain.documents import ParsedDocument
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.ports import TextDecoder
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "eml-v1"


class EmlParser:
    """Reads MIME messages; `decoder` helps with bodies that name no encoding or a wrong one."""

    media_types = frozenset({MediaType.EML})
    version = VERSION

    def __init__(self, decoder: TextDecoder | None = None) -> None:
        self._decoder = decoder

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return a letter as message 1, what came with it as members.

        Raises:
            Unreadable: `damaged`, `nested_too_deep`, `too_complex`, `too_many_entries`, `too_big`.
        """
        tell(0, 1, "message")
        letter = MimeReader(limits, self._decoder).letter(source.data)
        builder = BlockBuilder()
        unit = add_letter(builder, letter, 1, limits)
        return ParsedDocument(
            blocks=tuple(builder.blocks),
            front_matter=facts_of(letter),
            warnings=letter.warnings,
            coverage=(unit,),
            members=members_of(letter),
        )
