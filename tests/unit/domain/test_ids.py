"""Canonical JSON and the ids made from it."""

from __future__ import annotations

import json
import struct
import unicodedata
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain import ids
from kb.domain.errors import InvalidInput
from kb.domain.ids import Json, canonical_json, content_hash, id_from, parse_id, uuid7

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abcdefgh_", min_size=1), inner),
    max_leaves=20,
)

# RFC 8785 appendix B: IEEE 754 bit patterns and their ECMAScript form.
RFC_8785_NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


@pytest.mark.parametrize(("bits", "expected"), RFC_8785_NUMBERS)
def test_numbers_are_written_as_rfc_8785_says(bits: str, expected: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value).decode() == expected


def test_keys_are_ordered_by_utf_16_code_units() -> None:
    value = {"\u20ac": 1, "\r": 2, "\uff5e": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\u00f6": 7}
    keys = list(json.loads(canonical_json(value)))
    assert keys == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\uff5e"]


@given(JSON)
def test_canonical_json_reads_back_as_the_same_value_in_nfc(value: object) -> None:
    def nfc(part: object) -> object:
        if isinstance(part, str):
            return unicodedata.normalize("NFC", part)
        if isinstance(part, list):
            return [nfc(p) for p in part]
        if isinstance(part, dict):
            return {k: nfc(v) for k, v in part.items()}
        return part

    assert json.loads(canonical_json(value)) == nfc(value)  # type: ignore[arg-type]


@given(st.dictionaries(st.text("abcdefgh_", min_size=1), JSON))
def test_the_order_of_keys_does_not_change_an_id(value: dict[str, object]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert id_from(cast("dict[str, Json]", value)) == id_from(cast("dict[str, Json]", backwards))


def test_the_same_tuple_gives_the_same_id_a_thousand_times() -> None:
    value: dict[str, Json] = {"kind": "doc", "workspace_path": "notes/회의.md", "n": 3}
    assert len({id_from(value) for _ in range(1000)}) == 1


def test_nfd_and_nfc_give_the_same_id() -> None:
    nfc, nfd = unicodedata.normalize("NFC", "한국어"), unicodedata.normalize("NFD", "한국어")
    assert nfc != nfd
    assert id_from({"path": nfc}) == id_from({"path": nfd})


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, "\ud800", {"\u1e9b\u0323": 1, "\u1e9b\u0323"[:1] + "\u0323": 2}]
)
def test_what_has_no_canonical_form_is_refused_or_merged_by_python(value: object) -> None:
    if isinstance(value, dict):
        assert len(value) == 1
        return
    with pytest.raises(InvalidInput):
        canonical_json(value)  # type: ignore[arg-type]


def test_two_keys_that_are_equal_in_nfc_are_refused() -> None:
    with pytest.raises(InvalidInput, match="same text"):
        canonical_json({"\u00e9": 1, "e\u0301": 2})


@pytest.mark.parametrize("text", ["", "abc", "G" * 32, "A" * 32, "0" * 31, "0" * 33])
def test_what_is_not_an_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_id(text)


def test_an_id_of_ours_parses() -> None:
    assert parse_id(id_from({"a": 1})) == id_from({"a": 1})


def test_the_hash_of_content_is_blake3() -> None:
    # https://github.com/BLAKE3-team/BLAKE3/blob/master/test_vectors/test_vectors.json, input_len 0
    assert content_hash(b"") == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_a_uuid7_carries_time_version_and_variant(timestamp_ms: int, random_bytes: bytes) -> None:
    text = uuid7(timestamp_ms, random_bytes)
    digits = text.replace("-", "")
    assert [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]
    assert int(digits[:12], 16) == timestamp_ms
    assert digits[12] == "7"
    assert digits[16] in "89ab"


def test_later_uuid7s_sort_later() -> None:
    assert uuid7(1, b"\xff" * 10) < uuid7(2, b"\x00" * 10)


_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_KEYS = st.sampled_from(["kind", "a", "Z", "_", "doc_id", "é", "e\u0301", "\ufb33", "\U0001f600"])


@given(
    st.recursive(
        _WORDS | st.integers(-(2**54), 2**54) | st.booleans() | st.none() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
        max_leaves=12,
    )
)
def test_the_fast_way_to_canonical_json_gives_what_the_careful_one_gives(value: Any) -> None:
    fast = ids._encode_plain(value)
    assert fast in {"", ids._encode(value) if fast else ""}
