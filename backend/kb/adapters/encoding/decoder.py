"""Text out of bytes: UTF-8 first, then marks and patterns of UTF-16 and UTF-32, then old encodings."""

from __future__ import annotations

import codecs
import re

from kb.adapters.encoding.legacy import legacy_encoding
from kb.domain.errors import Unreadable
from kb.ingest.ports import DecodedText

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 64 * 1024
_CONTROL = bytes([*range(1, 9), *range(14, 27), 28, 29, 30, 31, 127])
_MAX_CONTROL = 0.05
_MAX_NUL = 0.10
_COMMON = re.compile(
    "[\t\n\r -~\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0e00-\u0e7f\u2010-\u2026"
    "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff5e]"
)


class CharsetNormalizerDecoder:
    """Decodes text files; charset-normalizer helps where nothing but statistics can tell."""

    def decode(self, data: bytes) -> DecodedText:
        """Return the text, every character kept, line ends as they are.

        Raises:
            Unreadable: the bytes are not text (reason `binary`).
        """
        if data.startswith(codecs.BOM_UTF8):
            return _unicode(data[3:], "utf-8", marked=True)
        for mark, encoding in _MARKS:
            if data.startswith(mark) and (len(data) - len(mark)) % (4 if "32" in encoding else 2) in {0, 1}:
                return _unicode(data[len(mark) :], encoding, marked=True)
        sample = data[:_SAMPLE]
        wide = _unmarked_utf16(sample)
        if wide:
            return _unicode(data, wide, marked=False)
        _refuse_binary(sample)
        try:
            return DecodedText(data.decode("utf-8"))
        except UnicodeDecodeError:
            pass
        if _mostly_utf8(data):
            text = data.decode("utf-8", errors="replace")
            return DecodedText(text, "utf-8", "read as utf-8; some bytes are damaged and stand as \ufffd")
        encoding = legacy_encoding(data)
        text = data.decode(encoding, errors="replace")
        return DecodedText(text, encoding, f"not UTF-8; read as {encoding}")


def _unicode(data: bytes, encoding: str, *, marked: bool) -> DecodedText:
    note = "" if encoding == "utf-8" else f"not UTF-8; read as {encoding}"
    try:
        return DecodedText(data.decode(encoding), encoding, note)
    except UnicodeDecodeError as error:
        if not marked:
            raise Unreadable("this file is not text", reason="binary") from error
        text = data.decode(encoding, errors="replace")
        return DecodedText(text, encoding, f"read as {encoding}; some bytes are damaged and stand as \ufffd")


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
    text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    whole = len(text) - damaged - sum(map(str.isascii, text)) if len(text) < _SAMPLE else _wide(text) - damaged
    return whole > 20 * damaged


def _wide(text: str) -> int:
    return len(text) - len(text.encode("ascii", errors="ignore"))
