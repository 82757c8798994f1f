"""MIME messages (RFC 5322, 2045-2049) read into letters with the standard library's parser."""

from __future__ import annotations

import email
import mimetypes
import re
from collections.abc import Iterator
from email.message import Message

from kb.adapters.parsers.mail.headers import RawHeaders, file_name, header, sent_at
from kb.adapters.parsers.mail.letters import Attachment, Body, Letter
from kb.adapters.parsers.shared.building import BlockBuilder
from kb.adapters.parsers.shared.html import OnePlace, decode_html, read_html
from kb.domain.documents import ParseWarning
from kb.domain.errors import Unreadable
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.ports import TextDecoder

_DEEPEST = 60
_LONGEST_HEADERS = 1 << 20
_MOST_HEADERS = 10_000
_WORD = re.compile(r"\w+")
_PGP = "-----BEGIN PGP MESSAGE-----"
_PGP_END = "-----END PGP MESSAGE-----"
_SIGNATURES = frozenset(("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"))
_SEALED = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_HEADER = re.compile(rb"^[!-9;-~]{1,76}[ \t]*:", re.MULTILINE)


class MimeReader:
    """Reads messages out of bytes; one reader for all messages of a file."""

    def __init__(self, limits: ReadingLimits, decoder: TextDecoder | None) -> None:
        self._limits, self._decoder = limits, decoder

    def letter(self, data: bytes) -> Letter:
        """Return the letter that `data` is.

        Raises:
            Unreadable: `damaged` (no headers), `nested_too_deep`, `too_complex`, `too_many_entries`.
        """
        _refuse_odd_headers(data)
        try:
            message = email.message_from_bytes(data, policy=RawHeaders())
            collected = _Parts(self._limits, self._decoder)
            collected.take(message)
        except RecursionError as error:
            raise Unreadable("its parts are nested beyond reason", reason="nested_too_deep") from error
        # What the standard library makes of broken parameters is not in its documentation.
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Unreadable("the letter is damaged", reason="damaged") from error
        charset = next((part.get_content_charset("") for part in _texts(message)), "")
        recipients = ((name, header(message, name, charset)) for name in ("To", "Cc", "Bcc"))
        return Letter(
            subject=header(message, "subject", charset),
            sender=header(message, "from", charset) or header(message, "sender", charset),
            recipients=tuple((name, value) for name, value in recipients if value),
            moment=sent_at(message),
            bodies=() if collected.locked else tuple(collected.bodies),
            attachments=tuple(collected.attachments),
            locked=collected.locked,
            warnings=tuple(collected.warnings),
        )


class _Parts:
    """Sorts the parts of a message into what it says and what came with it."""

    def __init__(self, limits: ReadingLimits, decoder: TextDecoder | None) -> None:
        self.bodies: list[Body] = []
        self.attachments: list[Attachment] = []
        self.warnings: list[ParseWarning] = []
        self.locked = False
        self._limits, self._decoder = limits, decoder
        self._count = 0

    def take(self, part: Message, depth: int = 0) -> None:
        self._count += 1
        if self._count > self._limits.entries:
            raise Unreadable("it has more parts than the limit allows", reason="too_many_entries")
        if depth > _DEEPEST:
            raise Unreadable("its parts are nested beyond reason", reason="nested_too_deep")
        kind = part.get_content_type()
        if kind == "multipart/encrypted" or (kind in _SEALED and part.get_param("smime-type") != "signed-data"):
            self.locked = True
        elif kind.startswith("multipart/") and part.is_multipart():
            self._take_all(kind, _children(part), depth + 1)
        elif kind == "message/rfc822" and part.is_multipart():
            self._take_message(part)
        elif kind not in _SIGNATURES:
            self._take_leaf(part, kind)

    def _take_all(self, kind: str, children: list[Message], depth: int) -> None:
        if kind == "multipart/alternative":
            self._take_best(children, depth)
            return
        for child in children:
            self.take(child, depth)

    def _take_best(self, children: list[Message], depth: int) -> None:
        """Take the plain one of alternatives, unless another says much more; keep what is no text of either."""
        said: list[list[Body]] = []
        for child in children:
            before, self.bodies = self.bodies, []
            self.take(child, depth)
            said.append(self.bodies)
            self.bodies = before
        versions = [bodies for bodies in said if bodies]
        if not versions:
            return
        plain = next((bodies for bodies in versions if not any(body.is_html for body in bodies)), versions[0])
        rich = next((bodies for bodies in reversed(versions) if any(body.is_html for body in bodies)), plain)
        self.bodies += rich if self._poorer(plain, rich) else plain

    def _poorer(self, plain: list[Body], rich: list[Body]) -> bool:
        if plain is rich:
            return False
        words = sum(len(_WORD.findall(body.text)) for body in plain)
        shown = sum(len(_WORD.findall(_shown(body, self._limits))) for body in rich)
        # Some programs leave a line such as `your program cannot show this message` in the plain one.
        return words < shown * 0.6

    def _take_leaf(self, part: Message, kind: str) -> None:
        name = file_name(part)
        disposition = (part.get_content_disposition() or "").lower()
        data = _content(part)
        if kind in {"text/plain", "text/html", "text/enriched"} and disposition != "attachment" and not name:
            self._take_text(part, kind, data)
            return
        if kind.startswith(("message/", "text/rfc822")) and not name and not data:
            return
        shown = kind.startswith("image/") and disposition != "attachment" and "content-id" in part
        name = name or f"part-{len(self.attachments) + 1}{_suffix(kind)}"
        if data:
            self.attachments.append(Attachment(name, data, shown=shown))

    def _take_text(self, part: Message, kind: str, data: bytes) -> None:
        try:
            text = decode_html(data, self._decoder, part.get_content_charset("") or "").text
        except Unreadable:  # it calls itself text, but is none
            self.attachments.append(Attachment(f"part-{len(self.attachments) + 1}.bin", data))
            return
        if kind == "text/plain" and _PGP in text and _PGP_END in text:
            self.locked = True
            return
        flowed = str(part.get_param("format") or "").lower() == "flowed"
        if text.strip():
            self.bodies.append(Body(text, is_html=kind != "text/plain", flowed=flowed))

    def _take_message(self, part: Message) -> None:
        inner = _children(part)[0]
        name = file_name(part) or header(inner, "subject")[:100] or "message"
        try:
            data = inner.as_bytes()
        # The standard library writes what it has read, but not everything: the letter around it must not suffer.
        except (ValueError, TypeError, LookupError, RecursionError):
            self.warnings.append(ParseWarning("extract_failed", "a message within it could not be taken out"))
            return
        self.attachments.append(Attachment(name if name.lower().endswith(".eml") else f"{name}.eml", data))


def _refuse_odd_headers(data: bytes) -> None:
    end = _END_OF_HEADERS.search(data)
    head = data[: end.start() if end else len(data)]
    if len(head) > _LONGEST_HEADERS or head.count(b"\n") > _MOST_HEADERS:
        raise Unreadable("its headers are longer than those of any letter", reason="too_complex")
    if not _HEADER.search(head[:_LONGEST_HEADERS]):
        raise Unreadable("it does not begin with the headers of a letter", reason="damaged")


def _children(part: Message) -> list[Message]:
    # Of a part without children it would decode the text, and stumble over odd names of encodings.
    payload = part.get_payload() if part.is_multipart() else None
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _texts(message: Message) -> Iterator[Message]:
    waiting = [message]
    while waiting:
        part = waiting.pop(0)
        if part.get_content_charset():
            yield part
        waiting = _children(part) + waiting


def _content(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, TypeError, LookupError, AssertionError):
        return b""
    return payload if isinstance(payload, bytes) else b""


def _shown(body: Body, limits: ReadingLimits) -> str:
    if not body.is_html:
        return body.text
    builder = BlockBuilder()
    read_html(body.text, builder, OnePlace(PartSpan("message", 1)), limits)
    return "\n".join(block.text for block in builder.blocks)


def _suffix(kind: str) -> str:
    # Without the system's own lists, which differ from one computer to the next.
    return mimetypes.MimeTypes().guess_extension(kind, strict=False) or ".bin"
