"""Headers of letters as people read them: encoded words, names of files, addresses, dates.

The standard library's parsed headers (`policy.default`) are not used: some made-up headers take it seconds, or beyond
the limit of recursion.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import collapse_rfc2231_value, parsedate_to_datetime

from kb.adapters.parsers.shared.html import meant

_LONGEST = 20_000
_FOLDED = re.compile(r"\r?\n[ \t]*")
_ENCODED = "=?"


class RawHeaders(Compat32):
    """Headers as they are; bytes beyond ASCII pass as lone surrogates, to be read when their charset is known."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value untouched."""
        del name
        return value


def header(message: Message, name: str, charset: str = "") -> str:
    """Return a header's text on one line, encoded words read; empty when it is missing.

    `charset` is what raw bytes in it are in, if they are not UTF-8.
    """
    value = message.get(name)
    return "" if value is None else decoded(str(value), charset)


def decoded(value: str, charset: str = "") -> str:
    """Return a header value with its encoded words (RFC 2047) read; what cannot be read stays as it is."""
    value = _FOLDED.sub(" ", _bytes_in(value[:_LONGEST], charset))
    if _ENCODED not in value:
        return " ".join(value.split())
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError):
        return " ".join(value.split())
    return " ".join("".join(_piece(piece, named) for piece, named in pieces).split())


def file_name(message: Message) -> str:
    """Return the name of a part as its sender called it (RFC 2231, 2047), empty when it has none."""
    for name, source in (("filename", "content-disposition"), ("name", "content-type")):
        try:
            value = message.get_param(name, None, source)
            if value:
                return decoded(collapse_rfc2231_value(value, errors="replace"))
        # Broken parameters fail in the standard library in several ways; the part is still there.
        except (ValueError, TypeError, LookupError, IndexError, AttributeError):
            continue
    return ""


def sent_at(message: Message) -> datetime | None:
    """Return when a letter was sent, in its time zone, UTC where it names none."""
    try:
        moment = parsedate_to_datetime(header(message, "date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if not 1 < moment.year < 9999:  # noqa: PLR2004 - a day of zone shift must stay in range
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _piece(piece: bytes | str, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    # Without a charset these are the plain parts between encoded words, written so by the standard library.
    for name in (charset or "raw-unicode-escape", "utf-8"):
        try:
            return piece.decode(meant(name))
        except (LookupError, ValueError):
            continue
    try:
        return piece.decode(meant(charset or "utf-8"), errors="replace")
    except (LookupError, ValueError):
        return piece.decode("utf-8", errors="replace")


def _bytes_in(value: str, charset: str) -> str:
    if value.isascii():
        return value
    raw = value.encode("utf-8", errors="surrogateescape") if _only_escapes(value) else value.encode("utf-8", "replace")
    for name in ("utf-8", charset):
        try:
            return raw.decode(meant(name))
        except (LookupError, ValueError):
            continue
    return raw.decode("utf-8", errors="replace")


def _only_escapes(value: str) -> bool:
    return not any("\ud800" <= letter < "\udc80" or "\udcff" < letter <= "\udfff" for letter in value)
