"""Pages saved by browsers as one file (MHTML, RFC 2557): the page is taken out, with what it shows left in place."""

from __future__ import annotations

import email
import re
from email.message import Message
from email.policy import compat32

from kb.domain.errors import Unreadable

_HEADERS = re.compile(rb"\A\s*(?:[!-9;-~]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*){1,100}\r?\n")
_MULTIPART = re.compile(rb"^content-type:\s*(?:multipart/related|text/html)\b", re.IGNORECASE | re.MULTILINE)
_HEAD = 16_384


def page_in(data: bytes) -> tuple[bytes, str] | None:
    """Return the bytes and the declared encoding of the page in an MHTML file, None when it is none.

    Raises:
        Unreadable: `damaged` when there is no page in it, `nested_too_deep`.
    """
    headers = _HEADERS.match(data[:_HEAD])
    if headers is None or not _MULTIPART.search(headers[0]):
        return None
    try:
        message = email.message_from_bytes(data, policy=compat32)
        part = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
    except RecursionError as error:
        raise Unreadable("its parts are nested beyond reason", reason="nested_too_deep") from error
    content = part.get_payload(decode=True) if isinstance(part, Message) else None
    if part is None or not isinstance(content, bytes):
        raise Unreadable("there is no page in it", reason="damaged")
    return content, part.get_content_charset("") or ""
