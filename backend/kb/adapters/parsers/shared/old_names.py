"""Names in archives of programs that did not say how they write letters: the old encoding most of them are in.

Names are too short for statistics of a language; the ranges in which encodings place their common letters tell them
apart. The two-byte sets overlap, so that all names of an archive are looked at together.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Sequence
from zipfile import ZipInfo

_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_FIELD = struct.Struct("<HH")
_MOST = 0.8
# KS X 1001 Hangul; what lies outside of it in cp949 is rare in words and common in other encodings.
_HANGUL = re.compile(rb"[\xb0-\xc8\xa4][\xa1-\xfe]")
_HAN = re.compile(rb"[\xb0-\xf7][\xa1-\xfe]")
_BIG5 = re.compile(rb"[\xa4-\xc6\xc9-\xf9][\x40-\x7e\xa1-\xfe]")
_KANA = re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]|\x81\x5b")
_KANJI = re.compile(rb"[\x88-\x9f\xe0-\xea][\x40-\x7e\x80-\xfc]|" + _KANA.pattern)
_CYRILLIC = re.compile(rb"[\x80-\x9f]?[\xa0-\xaf\xe0-\xef\xf1]{2,}|[\x80-\x9f]{3,}")
_CYRILLIC_VOWELS = re.compile(rb"[\xa0\xa5\xa8\xae\xe3\xeb\xed-\xef\xf1\x80\x85\x88\x8e]")
_VOWELS = (0.3, 0.65)
_SIGNS = re.compile(rb"[\xa1\xa3][\xa1-\xfe]|\x81[\x40-\x9a]")
_HIGH = re.compile(rb"[\x80-\xff]")
_TWO_HIGH = re.compile(rb"[\x80-\xff]{2}")
# Chinese letters of the same bytes come out as Hangul that nobody writes.
_OFTEN = frozenset(
    "가각간감강개거건검게겨결경계고공과관교구국권규그금급기길김나남내년노녕농누는니다단달담당대도동두드들등디라람량러레려력로록"
    "료류르를리림마막만말매면명모목무문물미민바박반발방배백번법변별병보복본부북분비사산상새색생서석선설성세소속손송수순술스습시"
    "식신실심아악안알암양어언업에여역연열영예오온올와완왕외요용우운울원월위유육으은을음의이인일임입자작장재저적전절점정제조종"
    "주준중증지직진집차찬참창처천철청체초총최추출치친카코크타터텔토통투트특파판팔편평포표품프하학한할함합해행향험현협형호홍화환"
    "황회후훈휴한글쓰쪽째까꼭끝빠때또"
)
_OFTEN_SHARE = 0.5


def zip_names(infos: Sequence[ZipInfo]) -> list[str]:
    """Return the names of a ZIP container's entries: as flagged, as UTF-8, else in the likeliest old encoding."""
    known = [_certain(info) for info in infos]
    raw = [b"" if name is not None else info.filename.encode("cp437") for name, info in zip(known, infos, strict=True)]
    return _filled(known, raw, "cp437")


def tar_names(names: Sequence[str]) -> list[str]:
    """Return names of a tar archive, whose bytes that are no UTF-8 stand as lone surrogates, with letters instead."""
    raw = [name.encode("utf-8", "surrogateescape") for name in names]
    known = [name if _is_utf8(one) else None for name, one in zip(names, raw, strict=True)]
    return _filled(known, raw, "latin-1")


def _filled(known: Sequence[str | None], raw: Sequence[bytes], otherwise: str) -> list[str]:
    encoding = _likeliest([one for name, one in zip(known, raw, strict=True) if name is None]) or otherwise
    return [
        name if name is not None else _decoded(one, encoding, otherwise) for name, one in zip(known, raw, strict=True)
    ]


def _certain(info: ZipInfo) -> str | None:
    if info.flag_bits & _UTF8:
        return info.filename
    raw = info.filename.encode("cp437", "replace")
    stated = _stated(info.extra, raw)
    if stated is not None:
        return stated
    # Without a flag for it many programs write UTF-8 all the same.
    return raw.decode("utf-8") if _is_utf8(raw) else None


def _stated(extra: bytes, raw: bytes) -> str | None:
    """Return the name in the field that some programs add for it, if it is still that of the same entry."""
    position = 0
    while position + _FIELD.size <= len(extra):
        kind, length = _FIELD.unpack_from(extra, position)
        body = extra[position + _FIELD.size : position + _FIELD.size + length]
        position += _FIELD.size + length
        if kind == _UNICODE_PATH and body[:1] == b"\x01" and body[1:5] == struct.pack("<L", zlib.crc32(raw)):
            return body[5:].decode("utf-8") if _is_utf8(body[5:]) else None
    return None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(raw: bytes, encoding: str, otherwise: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return raw.decode(otherwise)


def _likeliest(names: Sequence[bytes]) -> str | None:
    """Return the encoding in which the letters of the names are where its common ones lie, None if there is none."""
    whole = b"\n".join(names)
    if not _TWO_HIGH.search(whole):  # an accent here and there: Latin
        return None
    for encoding, rule in _RULES:
        if rule(whole) and _decodes(names, encoding):
            return encoding
    return None


def _is_korean(text: bytes) -> bool:
    if _share(text, _HANGUL) < _MOST:
        return False
    letters = [letter for pair in _HANGUL.findall(text) for letter in pair.decode("cp949", "replace")]
    return sum(letter in _OFTEN for letter in letters) >= _OFTEN_SHARE * len(letters)


def _is_russian(text: bytes) -> bool:
    words = b"".join(_CYRILLIC.findall(text))
    least, most = _VOWELS
    return (
        len(words) >= _MOST * len(_HIGH.findall(text))
        and least <= len(_CYRILLIC_VOWELS.findall(words)) / max(len(words), 1) <= most
    )


def _in_a_row(letters: re.Pattern[bytes]) -> re.Pattern[bytes]:
    return re.compile(rb"(?:" + letters.pattern + rb"){2}")


_RULES: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("cp949", _is_korean),
    ("cp932", lambda text: len(_KANA.findall(text)) > 1 and _share(text, _KANJI) >= _MOST),
    ("cp866", _is_russian),
    ("gb18030", lambda text: _share(text, _HAN) >= _MOST),
    # Two beside each other: in Latin names one accented letter and what follows look like one of these.
    ("big5", lambda text: _share(text, _BIG5) >= _MOST and bool(_in_a_row(_BIG5).search(text))),
    ("cp932", lambda text: _share(text, _KANJI) >= _MOST and bool(_in_a_row(_KANJI).search(text))),
)


def _decodes(names: Sequence[bytes], encoding: str) -> bool:
    try:
        for name in names:
            name.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _share(text: bytes, letters: re.Pattern[bytes]) -> float:
    """Return which share of the bytes outside ASCII belongs to such letters, signs left out."""
    pairs = letters.findall(text)
    high = sum(len(_HIGH.findall(pair)) for pair in pairs)
    rest = _SIGNS.sub(b"", letters.sub(b"", text))
    return high / max(high + len(_HIGH.findall(rest)), 1)
