"""Documents survive the way from a child to the program; anything else is recognised as damaged."""

from __future__ import annotations

import contextlib
import itertools
import json
import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kb.adapters.workers.codec import decode_document, encode_document
from kb.adapters.workers.codec_values import Damaged
from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Prose, Table
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedBlock, ParsedDocument, ParseWarning
from kb.domain.ids import Json
from kb.domain.inlines import Link, Styled
from kb.domain.metadata import ProvenanceKind
from kb.domain.pages import PageText, Word, WordBoxes
from kb.domain.spans import (
    ByteSpan,
    CaptionSpan,
    LineSpan,
    PageSpan,
    PartSpan,
    RegionSpan,
    Segment,
    SourceSpan,
    TimeSpan,
)
from kb.domain.transcripts import Transcript, TranscriptSegment
from tests.fakes.reading import PagesParser

_text = st.text(max_size=12)
_count = st.integers(0, 10**9)
_share = st.none() | st.floats(0, 1)


@st.composite
def _pairs(draw: st.DrawFn, least: int = 0) -> tuple[int, int]:
    start = draw(st.integers(least, 10**6))
    return start, start + draw(st.integers(0, 10**6))


_spans: st.SearchStrategy[SourceSpan] = st.one_of(
    _pairs(1).map(lambda pair: LineSpan(*pair)),
    _pairs().map(lambda pair: ByteSpan(*pair)),
    _pairs().map(lambda pair: TimeSpan(*pair)),
    st.builds(PageSpan, st.integers(1, 10**6)),
    st.tuples(st.integers(1, 9), _pairs()).map(lambda page: PageSpan(page[0], *page[1])),
    st.builds(RegionSpan, _count, _count, st.integers(1, 9), st.integers(1, 9)),
    st.builds(
        PartSpan, st.sampled_from(["sheet", "slide", "message", "section", "cell"]), st.integers(1, 99), _text, _text
    ),
    st.builds(CaptionSpan, st.text(min_size=1, max_size=5)),
)
_texts = st.lists(_text, max_size=3).map(tuple)
_inlines = st.one_of(
    st.builds(Link, _text, _text, st.sampled_from(["link", "wiki", "footnote"])),
    st.builds(Styled, _text, st.sampled_from(["code", "strong", "emph"])),
)
_payloads = st.one_of(
    st.builds(Heading, st.integers(1, 6)),
    st.builds(Prose, st.lists(_inlines, max_size=3).map(tuple), st.booleans()),
    st.builds(Code, st.none() | _text),
    st.builds(Table, _texts, st.lists(_texts, max_size=3).map(tuple)),
    st.builds(MediaRef, _text, _text),
)


@st.composite
def _blocks(draw: st.DrawFn) -> ParsedBlock:
    words = draw(_text)
    cuts = sorted(draw(st.lists(st.integers(0, len(words)), max_size=5)))
    segments = tuple(Segment(a, b, draw(_spans)) for a, b in itertools.pairwise(cuts))
    return ParsedBlock(draw(st.sampled_from(BlockKind)), words, draw(_spans), draw(_texts), draw(_payloads), segments)


_json: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_numbers = st.integers(-(2**31), 2**31 - 1)
_pages = st.builds(
    PageText,
    page=st.integers(1, 10**6),
    width=st.floats(1, 1e6),
    height=st.floats(1, 1e6),
    source=st.sampled_from(["text", "ocr"]),
    text=_text,
    words=st.lists(st.builds(Word, *[_numbers] * 7), max_size=4).map(WordBoxes),
    confidence=_share,
)
_units = st.builds(
    CoverageUnit,
    kind=st.sampled_from(["page", "second", "sheet", "slide", "message", "section", "cell", "image", "line"]),
    start=_count,
    end=_count,
    state=st.sampled_from(["text", "ocr", "blank", "failed", "skipped", "waiting"]),
    confidence=_share,
    reason=st.none() | _text,
)
_transcripts = st.builds(
    Transcript,
    segments=st.lists(st.builds(TranscriptSegment, _count, _count, _text, _share, st.none() | _text), max_size=3).map(
        tuple
    ),
    engine=_text,
    language=_text,
    duration_ms=_count,
)
_documents = st.builds(
    ParsedDocument,
    blocks=st.lists(_blocks(), max_size=4).map(tuple),
    front_matter=st.dictionaries(_text, _json, max_size=3),
    warnings=st.lists(st.builds(ParseWarning, _text, _text), max_size=2).map(tuple),
    line_count=_count,
    encoding=_text,
    coverage=st.lists(_units, max_size=4).map(tuple),
    pages=st.lists(_pages, max_size=3).map(tuple),
    transcript=st.none() | _transcripts,
    members=st.lists(st.builds(Member, _text, st.binary(max_size=20), st.none() | _count), max_size=3).map(tuple),
    waits_for=_text,
    steps=st.lists(st.tuples(st.sampled_from(ProvenanceKind), _text), max_size=2).map(tuple),
)


def encoded(parsed: ParsedDocument) -> bytes:
    return b"".join(encode_document(parsed))


def with_body(change: dict[str, Any], tail: bytes = b"") -> bytes:
    """The bytes of a small document with parts of its body replaced."""
    data = encoded(ParsedDocument(()))
    (length,) = struct.unpack_from("<Q", data)
    body = json.dumps({**json.loads(data[8 : 8 + length]), **change}).encode()
    return struct.pack("<Q", len(body)) + body + tail


@given(_documents)
def test_a_document_comes_back_as_it_was(parsed: ParsedDocument) -> None:
    assert decode_document(encoded(parsed)) == parsed


def test_half_a_surrogate_pair_comes_back_as_one_character_that_can_be_stored() -> None:
    block = ParsedBlock(BlockKind.CODE, "\ud83d\ude00 \ud800", LineSpan(1, 1), ("\udfff",), Code("py\udc00"), ())
    (read,) = decode_document(encoded(ParsedDocument((block,)))).blocks
    assert read == replace(block, text="\ufffd\ufffd \ufffd", heading_path=("\ufffd",), payload=Code("py\ufffd"))


@given(_documents, st.data())
def test_a_document_cut_anywhere_is_damaged(parsed: ParsedDocument, data: st.DataObject) -> None:
    whole = encoded(parsed)
    with pytest.raises(Damaged):
        decode_document(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(st.binary(max_size=200))
@example(b"")
@example(struct.pack("<Q", 2) + b"[]")
@example(struct.pack("<Q", 2**63) + b"{}")
@example(struct.pack("<Q", 100_000) + b"[" * 100_000)
def test_other_bytes_are_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        decode_document(data)


@given(_documents, st.data())
def test_a_flipped_byte_gives_a_document_or_is_damaged_and_nothing_else(
    parsed: ParsedDocument, data: st.DataObject
) -> None:
    whole = bytearray(encoded(parsed))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(Damaged):
        assert isinstance(decode_document(bytes(whole)), ParsedDocument)


_BLOCK = ["paragraph", "words", ["l", 1, 1], 0, ["p", [], False], [[0, 5, "l", 1, 1]]]


@pytest.mark.parametrize(
    "change",
    [
        {"blocks": [["sermon", *_BLOCK[1:]]]},
        {"blocks": [[*_BLOCK[:1], 7, *_BLOCK[2:]]]},
        {"blocks": [[*_BLOCK[:2], ["l", 0, 1], *_BLOCK[3:]]]},
        {"blocks": [[*_BLOCK[:2], ["l", True, 1], *_BLOCK[3:]]]},
        {"blocks": [[*_BLOCK[:2], ["l", 1], *_BLOCK[3:]]]},
        {"blocks": [[*_BLOCK[:2], ["x", 1, 1], *_BLOCK[3:]]]},
        {"blocks": [[*_BLOCK[:2], ["n", "shelf", 1, "", ""], *_BLOCK[3:]]]},
        {"blocks": [[*_BLOCK[:3], 1, *_BLOCK[4:]]]},
        {"blocks": [[*_BLOCK[:3], -1, *_BLOCK[4:]]]},
        {"blocks": [[*_BLOCK[:4], ["p", [], 1], _BLOCK[5]]]},
        {"blocks": [[*_BLOCK[:4], [], _BLOCK[5]]]},
        {"blocks": [[*_BLOCK[:5], [[0, 6, "l", 1, 1]]]]},
        {"blocks": [[*_BLOCK[:5], [[3, 5, "l", 1, 1], [0, 2, "l", 1, 1]]]]},
        {"blocks": [_BLOCK[:5]]},
        {"paths": [["a", None]]},
        {"front": ["title"]},
        {"lines": "many"},
        {"coverage": [["page", 1, 1, "eaten", None, None]]},
        {"coverage": [["page", 1, 1, "text", "sure", None]]},
        {"pages": [[1, 1.0, 1.0, "text", "a", 1, None]]},
        {"pages": [[1, 1.0, 1.0, "text", "a", -1, None]]},
        {"members": [["a", 3, None]]},
        {"members": [["a", -1, None]]},
        {"transcript": [[[0, 1, "a"]], "e", "en", 1]},
        {"steps": [["eaten", ""]]},
        {"waits_for": None},
    ],
)
def test_a_body_of_wrong_types_or_shapes_is_damaged(change: dict[str, Any]) -> None:
    good = {"blocks": [_BLOCK], "paths": [[]]}
    assert len(decode_document(with_body(good)).blocks) == 1
    with pytest.raises(Damaged):
        decode_document(with_body({**good, **change}))


def test_bytes_behind_the_document_are_damage() -> None:
    with pytest.raises(Damaged):
        decode_document(with_body({}, b"\0"))


def test_front_matter_that_json_does_not_know_is_refused_when_written() -> None:
    with pytest.raises(TypeError):
        encode_document(ParsedDocument((), front_matter={"when": object()}))  # type: ignore[dict-item]


def test_the_fake_parser_gives_what_survives() -> None:
    from kb.domain.items import MediaType
    from kb.domain.limits import ReadingLimits
    from kb.domain.paths import WorkspacePath
    from kb.ingest.reading_ports import SourceFile

    source = SourceFile(WorkspacePath("a.pdf"), MediaType.PDF, b"title: A\none two\n@b.txt inside\f\fthree")
    parsed = PagesParser().read(source, ReadingLimits(), lambda *_: None)
    assert decode_document(encoded(parsed)) == parsed
