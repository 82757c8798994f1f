"""The parser of mailboxes: messages one by one, a broken one costs only itself."""

from __future__ import annotations

import re
from datetime import datetime

from kb.adapters.parsers.mail.letters import add_letter, members_of, merged
from kb.adapters.parsers.mail.mime import MimeReader
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.ports import TextDecoder
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "mbox-v1"

# `From `, an address, a date with a time: a sentence that begins with `From here` is none.
_SEPARATOR = re.compile(rb"^From [^\r\n]{0,200}?\d\d:\d\d[^\r\n]{0,200}\r?$", re.MULTILINE)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


class MboxParser:
    """Reads mailboxes in the mbox formats; `decoder` as in single letters."""

    media_types = frozenset({MediaType.MBOX})
    version = VERSION

    def __init__(self, decoder: TextDecoder | None = None) -> None:
        self._decoder = decoder

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return every message with its number; what came with message n is a member `n/name`.

        Raises:
            Unreadable: `wrong_type` when it is no mailbox, `too_many_entries`, `too_big`.
        """
        places = _messages(source.data, limits.entries)
        builder, reader = BlockBuilder(), MimeReader(limits, self._decoder)
        units: list[CoverageUnit] = []
        members: list[Member] = []
        warnings: list[ParseWarning] = []
        moments: list[datetime] = []
        for number, (start, end) in enumerate(places, 1):
            tell(number - 1, len(places), "message")
            whole = len(builder.blocks)
            try:
                letter = reader.letter(_ESCAPED.sub(rb"\1", source.data[start:end]))
                units.append(add_letter(builder, letter, number, limits))
            except Unreadable as error:
                del builder.blocks[whole:]
                units.append(CoverageUnit("message", number, number, "failed", reason=error.reason))
                continue
            members += members_of(letter, f"{number}/")
            warnings += letter.warnings
            if letter.moment is not None:
                moments.append(letter.moment)
            if len(members) > limits.entries:
                raise Unreadable("more came with its messages than the limit allows", reason="too_many_entries")
        return ParsedDocument(
            blocks=tuple(builder.blocks),
            front_matter=_facts(source, moments),
            warnings=tuple(warnings),
            coverage=merged(units),
            members=tuple(members),
        )


def _messages(data: bytes, most: int) -> list[tuple[int, int]]:
    """Return where each message begins, after its `From ` line, and ends."""
    found: list[tuple[int, int]] = []
    for line in _SEPARATOR.finditer(data):
        if line.start() and not data.endswith((b"\n\n", b"\n\r\n"), max(0, line.start() - 3), line.start()):
            continue
        found.append(line.span())
        if len(found) > most:
            raise Unreadable(
                f"the mailbox holds more than {most} messages",
                hint="split it, or raise limits.entries",
                reason="too_many_entries",
            )
    if not found or data[: found[0][0]].strip():
        raise Unreadable("this is no mailbox: it does not begin with a message", reason="wrong_type")
    ends = [start for start, _ in found[1:]] + [len(data)]
    return [(start + 1, end) for (_, start), end in zip(found, ends, strict=True)]


def _facts(source: SourceFile, moments: list[datetime]) -> dict[str, Json]:
    # The name of the mailbox is its title; else the first message's subject would be.
    name = source.path.rpartition("/")[2]
    facts: dict[str, Json] = {"title": name.rpartition(".")[0] or name}
    stamps = sorted(moments)
    if stamps:
        facts |= {"created": stamps[0].isoformat(), "modified": stamps[-1].isoformat()}
    return facts
