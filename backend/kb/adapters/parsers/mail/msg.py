"""The parser of what Outlook saves: its properties read into the letter that a MIME message would be."""

from __future__ import annotations

import hashlib
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime

from kb.adapters.parsers.mail.compressed_rtf import unpacked_rtf
from kb.adapters.parsers.mail.letters import Attachment, Body, Letter, add_letter, facts_of, members_of
from kb.adapters.parsers.mail.mime import MimeReader
from kb.adapters.parsers.mail.properties import CompoundFile, Path, Properties
from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.adapters.parsers.shared.html import decode_html
from kb.adapters.parsers.shared.names import clean_name
from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.ports import TextDecoder
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "msg-v1"

_SUBJECT, _CLASS, _BODY, _HTML, _RTF = 0x0037, 0x001A, 0x1000, 0x1013, 0x1009
_SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS, _SENT_FOR_NAME = 0x0C1A, 0x5D01, 0x0C1F, 0x0042
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_NAME, _SMTP, _ADDRESS, _RECIPIENT_TYPE = 0x3001, 0x39FE, 0x3003, 0x0C15
_DATA, _METHOD, _LONG_NAME, _SHORT_NAME, _CONTENT_ID, _MIME = 0x3701, 0x3705, 0x3707, 0x3704, 0x3712, 0x370E
_EMBEDDED = 5
_RECIPIENTS = {1: "To", 2: "Cc", 3: "Bcc"}
_DEEPEST = 5


class MsgParser:
    """Reads Outlook's messages with olefile; `decoder` helps with bodies that name no encoding."""

    media_types = frozenset({MediaType.MSG})
    version = VERSION

    def __init__(self, decoder: TextDecoder | None = None) -> None:
        self._decoder = decoder

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return a letter as message 1, what came with it as members, messages among them as `.eml`.

        Raises:
            Unreadable: `damaged`, `wrong_type`, `too_many_entries`, `expands_too_much`, `too_big`, `too_complex`.
        """
        tell(0, 1, "message")
        file = CompoundFile(source.data, limits)
        if ("__properties_version1.0",) not in file.paths:
            raise Unreadable("this is no message, though its name says so", reason="wrong_type")
        letter = _Messages(file, limits, self._decoder).letter((), 32, 0)
        builder = BlockBuilder()
        unit = add_letter(builder, letter, 1, limits)
        return ParsedDocument(
            blocks=tuple(builder.blocks),
            front_matter=facts_of(letter),
            warnings=letter.warnings,
            coverage=(unit,),
            members=members_of(letter),
        )


class _Messages:
    """Reads a message and those within it."""

    def __init__(self, file: CompoundFile, limits: ReadingLimits, decoder: TextDecoder | None) -> None:
        self._file, self._limits, self._decoder = file, limits, decoder
        self._count = 0

    def letter(self, folder: Path, header: int, depth: int) -> Letter:
        message = Properties(self._file, folder, header)
        kind = message.text(_CLASS).lower()
        sealed = kind.startswith("ipm.note.smime")
        attachments, warnings = self._attachments(folder, message, depth)
        bodies = self._bodies(message)
        if kind.endswith(".multipartsigned") and len(attachments) == 1:
            # The letter itself lies in its only attachment, with the signature.
            inner = MimeReader(self._limits, self._decoder).letter(attachments[0].data)
            bodies, attachments, sealed = inner.bodies, list(inner.attachments), inner.locked
        return Letter(
            subject=_line(message.text(_SUBJECT)),
            sender=_person(
                message.text(_SENDER_NAME) or message.text(_SENT_FOR_NAME),
                message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS),
            ),
            recipients=self._recipients(folder, message),
            moment=message.moment(_SUBMITTED) or message.moment(_DELIVERED),
            bodies=() if sealed else bodies,
            attachments=tuple(attachments),
            locked=sealed,
            warnings=tuple(warnings),
        )

    def _recipients(self, folder: Path, message: Properties) -> tuple[tuple[str, str], ...]:
        found: dict[str, list[str]] = {}
        for path in self._file.children(folder, "__recip_version1.0_"):
            one = Properties(self._file, path, 8, message)
            field = _RECIPIENTS.get(one.number(_RECIPIENT_TYPE) or 1, "To")
            found.setdefault(field, []).append(_person(one.text(_NAME), one.text(_SMTP) or one.text(_ADDRESS)))
        fields = ((name, ", ".join(filter(None, found.get(name, ())))) for name in _RECIPIENTS.values())
        return tuple((name, value) for name, value in fields if value)

    def _bodies(self, message: Properties) -> tuple[Body, ...]:
        plain = message.text(_BODY, is_body=True)
        if plain.strip():
            return (Body(plain),)
        page = message.binary(_HTML)
        text = message.text(_HTML, is_body=True) if page is None else ""
        if page is not None:
            text = decode_html(page, self._decoder, message.body_encoding).text
        if text.strip():
            return (Body(text, is_html=True),)
        rtf = unpacked_rtf(message.binary(_RTF) or b"", self._file.budget.spend)
        return (Body(_words_of_rtf(rtf)),) if rtf else ()

    def _attachments(
        self, folder: Path, message: Properties, depth: int
    ) -> tuple[list[Attachment], list[ParseWarning]]:
        attachments: list[Attachment] = []
        warnings: list[ParseWarning] = []
        for path in self._file.children(folder, "__attach_version1.0_"):
            self._count += 1
            if self._count > self._limits.entries:
                raise Unreadable("more came with it than the limit allows", reason="too_many_entries")
            one = Properties(self._file, path, 8, message)
            name = _line(one.text(_LONG_NAME) or one.text(_SHORT_NAME) or one.text(_NAME))
            data = one.binary(_DATA)
            if data is None and one.number(_METHOD) == _EMBEDDED and depth < _DEEPEST:
                inner = self.letter((*path, f"__substg1.0_{_DATA:04X}000D"), 24, depth + 1)
                attachments.append(Attachment(f"{name or inner.subject or 'message'}.eml", _written(inner)))
            elif data is None:
                warnings.append(ParseWarning("extract_failed", "an attachment could not be taken out"))
            else:
                shown = bool(one.text(_CONTENT_ID)) and one.text(_MIME).startswith("image/")
                attachments.append(Attachment(name or f"part-{len(attachments) + 1}", data, shown=shown))
        return attachments, warnings


def _written(letter: Letter) -> bytes:
    """Return a letter as a MIME message, the same bytes for the same letter."""
    told = hashlib.sha256(repr((letter.subject, [len(one.data) for one in letter.attachments])).encode())
    message = MIMEMultipart(boundary=f"=_{told.hexdigest()[:32]}")
    for name, value in (("Subject", letter.subject), ("From", letter.sender), *letter.recipients):
        if value:
            message[name] = Header(_line(value), "utf-8").encode()
    if letter.moment is not None:
        message["Date"] = format_datetime(letter.moment)
    for body in letter.bodies:
        message.attach(MIMEText(clean(body.text), "html" if body.is_html else "plain", "utf-8"))
    for one in letter.attachments:
        part = MIMEApplication(one.data)
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", clean_name(one.name)))
        message.attach(part)
    return message.as_bytes()


def _words_of_rtf(rtf: bytes) -> str:
    from striprtf.striprtf import rtf_to_text

    try:
        return str(rtf_to_text(rtf.decode("latin-1"), errors="replace"))
    # It stumbles over odd fonts and code pages in several ways; the letter has no better body then.
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def _person(name: str, address: str) -> str:
    name, address = _line(name), _line(address)
    # Exchange keeps addresses such as `/o=firm/ou=...`, which say nothing to anybody.
    if "@" not in address:
        return name
    return f"{name} <{address}>" if name and name != address else address


def _line(text: str) -> str:
    return " ".join(clean(text).split())
