"""Text out of bytes: UTF-8 first, then marks and patterns of UTF-16 and UTF-32, then old encodings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from kb.adapters.encoding.legacy import legacy_encoding
from kb.domain.errors import Unreadable
from kb.ingest.ports import DecodedText, TextPieces

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 64 * 1024
_PIECE = 4 << 20
_LOOK = 1 << 16  # a piece that is only looked at; one letter outside the basic plane makes all of it wide
_CONTROL = bytes([*range(1, 9), *range(14, 27), 28, 29, 30, 31, 127])
_MAX_CONTROL = 0.05
_MAX_NUL = 0.10
_COMMON = re.compile(
    "[\t\n\r -~\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0e00-\u0e7f\u2010-\u2026"
    "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff5e]"
)


class CharsetNormalizerDecoder:
    """Decodes text files; charset-normalizer helps where nothing but statistics can tell.

    Args:
        piece_bytes: of what `pieces` decodes at once.
    """

    def __init__(self, piece_bytes: int = _PIECE) -> None:
        self._piece_bytes = piece_bytes

    def decode(self, data: bytes) -> DecodedText:
        """Return the text, every character kept, line ends as they are.

        Raises:
            Unreadable: the bytes are not text (reason `binary`).
        """
        form = _form_of(data)
        return DecodedText(data[form.start :].decode(form.encoding, form.errors), form.encoding, form.note)

    def pieces(self, data: bytes) -> TextPieces:
        """Return the same text in pieces, short ones where it has line feeds.

        Raises:
            Unreadable: the bytes are not text (reason `binary`).
        """
        form = _form_of(data)
        return TextPieces(_pieces(data, form, self._piece_bytes), form.encoding, form.note)


class _Form(NamedTuple):
    """How bytes are to be decoded, from `start` on."""

    encoding: str
    start: int = 0
    errors: str = "strict"
    note: str = ""


def _form_of(data: bytes) -> _Form:
    if data.startswith(codecs.BOM_UTF8):
        return _unicode(data, len(codecs.BOM_UTF8), "utf-8")
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (len(data) - len(mark)) % (4 if "32" in encoding else 2) in {0, 1}:
            return _unicode(data, len(mark), encoding)
    sample = data[:_SAMPLE]
    wide = _unmarked_utf16(sample)
    if wide:
        return _unicode(data, 0, wide)
    _refuse_binary(sample)
    if _decodes(data, "utf-8"):
        return _Form("utf-8")
    if _mostly_utf8(data):
        return _Form("utf-8", 0, "replace", "read as utf-8; some bytes are damaged and stand as \ufffd")
    encoding = legacy_encoding(data)
    return _Form(encoding, 0, "replace", f"not UTF-8; read as {encoding}")


def _unicode(data: bytes, start: int, encoding: str) -> _Form:
    if _decodes(data, encoding, start):
        return _Form(encoding, start, note="" if encoding == "utf-8" else f"not UTF-8; read as {encoding}")
    if not start:
        raise Unreadable("this file is not text", reason="binary")
    return _Form(encoding, start, "replace", f"read as {encoding}; some bytes are damaged and stand as \ufffd")


def _decodes(data: bytes, encoding: str, start: int = 0) -> bool:
    """Return whether the bytes are wholly of that encoding, without keeping all of the text."""
    try:
        for _ in _decoded(data, _Form(encoding, start), _LOOK):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes, form: _Form, size: int = _PIECE) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(form.encoding)(form.errors)
    view = memoryview(data)
    for start in range(form.start, len(data), size):
        end = start + size
        yield decoder.decode(view[start:end], final=end >= len(data))


def _pieces(data: bytes, form: _Form, size: int) -> Iterator[str]:
    """Yield the text up to the last line feed of each piece; what follows it waits for the next."""
    held: list[str] = []
    for text in _decoded(data, form, size):
        cut = text.rfind("\n") + 1
        if cut:
            yield "".join((*held, text[:cut]))
            held = []
        held.append(text[cut:])
    last = "".join(held)
    held.clear()
    yield last


def _unmarked_utf16(sample: bytes) -> str:
    """Return the byte order of UTF-16 without a mark where it is obvious, else an empty string."""
    if len(sample) < 4:  # noqa: PLR2004 - two characters tell nothing
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.4 * half and even < 0.02 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.02 * half:
        return "utf-16-be"
    if not (even or odd) or len(sample) % 2:
        return ""
    # Chinese, Japanese or Korean: only spaces, digits and line ends hold a zero byte
    best, encoding = 0.0, ""
    for name in ("utf-16-le", "utf-16-be"):
        text = sample.decode(name, errors="replace")
        share = len(_COMMON.findall(text)) / len(text)
        if share > best:
            best, encoding = share, name
    return encoding if best > 0.95 and _spaces(sample, encoding) else ""  # noqa: PLR2004 - nearly all


def _spaces(sample: bytes, encoding: str) -> bool:
    """Return whether line ends and spaces of that byte order are there, which chance does not give."""
    text = sample.decode(encoding, errors="replace")
    return sum(text.count(mark) for mark in ("\n", " ", "\u3002", "\u3001", "\uff0c")) >= len(text) / 100


def _refuse_binary(sample: bytes) -> None:
    if not sample:
        return
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if sample.count(0) > _MAX_NUL * len(sample) or controls > _MAX_CONTROL * len(sample):
        raise Unreadable("this file is not text", hint="its content is binary", reason="binary")


def _mostly_utf8(data: bytes) -> bool:
    """Return whether damage to UTF-8 explains the bytes better than an old encoding does."""
    damaged = wide = 0
    for text in _decoded(data, _Form("utf-8", 0, "replace"), _LOOK):
        damaged += text.count("\ufffd")
        wide += _wide(text)
    return wide - damaged > 20 * damaged


def _wide(text: str) -> int:
    return len(text) - len(text.encode("ascii", errors="ignore"))
