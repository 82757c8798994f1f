"""Identifiers: content-addressed ids by one recipe, time-ordered ids for what has no content.

`id = blake3(canonical_json(tuple)).hex()[:32]`, with the tuples of the glossary.
canonical_json is RFC 8785 (JSON Canonicalization Scheme) over strings in Unicode NFC.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from blake3 import blake3

from kb.domain.errors import ErrorCode, InvalidInput

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"

_SAFE_INTEGER = 2**53 - 1
_ID_LENGTH = 32
_HEX = frozenset("0123456789abcdef")
_CONTAINERS = frozenset({dict, list})
_PLAIN = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_json(value: Json) -> bytes:
    """Return `value` as RFC 8785 JSON in UTF-8, every string in NFC first.

    Raises:
        InvalidInput: a number is not finite or not a safe integer, a string holds a lone
            surrogate, or two keys are equal after NFC.
    """
    try:
        return (_encode_plain(value) or _encode(value)).encode("utf-8")
    except UnicodeEncodeError as error:
        message = "a text with half a surrogate pair has no identity"
        raise InvalidInput(message, code=ErrorCode.INVALID_ID) from error


def id_from(value: Mapping[str, Json]) -> str:
    """Return the 32 hex digits that name `value`."""
    return blake3(canonical_json(value)).hexdigest()[:_ID_LENGTH]


def content_hash(data: bytes) -> str:
    """Return the full blake3 of some bytes, 64 hex digits."""
    return blake3(data).hexdigest()


def parse_id(text: str) -> str:
    """Return `text` if it is an id of ours.

    Raises:
        InvalidInput: it is not 32 lower-case hex digits.
    """
    if len(text) != _ID_LENGTH or not _HEX.issuperset(text):
        message = f"not an id: {text[:40]!r}"
        hint = "an id is 32 hexadecimal digits, as printed by `kb list docs --json`"
        raise InvalidInput(message, hint=hint, code=ErrorCode.INVALID_ID)
    return text


def uuid7(timestamp_ms: int, random_bytes: bytes) -> str:
    """Return a UUIDv7 (RFC 9562 section 5.7) as 36 characters.

    Args:
        timestamp_ms: milliseconds since 1970, below 2**48.
        random_bytes: ten random bytes.
    """
    raw = bytearray(timestamp_ms.to_bytes(6, "big") + random_bytes[:10])
    raw[6] = 0x70 | (raw[6] & 0x0F)
    raw[8] = 0x80 | (raw[8] & 0x3F)
    digits = raw.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _encode_plain(value: Json) -> str:
    """Return the same as `_encode` four times as fast, or an empty string where that needs more care.

    Blocks and chunks are named by the ten thousand: words and whole numbers under ASCII keys.
    """
    if not _is_plain(value):
        return ""
    text = _PLAIN.encode(value)
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else ""


def _is_plain(value: Json) -> bool:
    # In one loop: a call for each word would take longer than the encoding.
    if isinstance(value, dict):
        if not all(map(str.isascii, value)):
            return False
        items: Iterable[Json] = value.values()
    elif isinstance(value, list):
        items = value
    else:
        items = (value,)
    for item in items:
        kind = type(item)
        if kind is int:
            if not -_SAFE_INTEGER <= item <= _SAFE_INTEGER:  # type: ignore[operator]
                return False
        elif kind is not str and not (kind in _CONTAINERS and _is_plain(item)):
            return False
    return True


def _encode(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(unicodedata.normalize("NFC", value), ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > _SAFE_INTEGER:
            message = f"{value} is beyond the integers JSON can carry"
            raise InvalidInput(message, code=ErrorCode.INVALID_ID)
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return _object(value)
    return "[" + ",".join(map(_encode, value)) + "]"


def _object(value: Mapping[str, Json]) -> str:
    entries = {unicodedata.normalize("NFC", key): item for key, item in value.items()}
    if len(entries) != len(value):
        message = "two keys are the same text"
        raise InvalidInput(message, code=ErrorCode.INVALID_ID)
    # RFC 8785 orders keys by their UTF-16 code units, which differs from code points.
    keys = sorted(entries, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{_encode(key)}:{_encode(entries[key])}" for key in keys) + "}"


def _number(value: float) -> str:
    """Format a double as ECMAScript's Number::toString does (RFC 8785 section 3.2.2.3)."""
    if not math.isfinite(value):
        message = "a number that is not finite has no identity"
        raise InvalidInput(message, code=ErrorCode.INVALID_ID)
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    return sign + _ecmascript(digits, point)


def _ecmascript(digits: str, point: int) -> str:
    """Place the decimal point: `digits` x 10**(point - len(digits)), shortest digits given."""
    count = len(digits)
    if count <= point <= 21:  # noqa: PLR2004 - ECMAScript's limit for plain integers
        return digits + "0" * (point - count)
    if 0 < point <= 21:  # noqa: PLR2004
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:  # noqa: PLR2004
        return "0." + "0" * -point + digits
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return digits[0] + (f".{digits[1:]}" if count > 1 else "") + exponent
