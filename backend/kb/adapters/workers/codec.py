"""Parsed documents as bytes and back, without pickle: what a child sends may have been written by its file.

Layout: length of the body (u64), body in JSON, the numbers of all word boxes (i32, as the machine orders bytes), the
bytes of all members. The body is made of lists rather than objects: a book has a hundred thousand segments.
"""

from __future__ import annotations

import json
import re
import struct
from array import array
from collections.abc import Sequence
from typing import Any

from kb.adapters.workers.codec_blocks import BlockReader, BlockWriter
from kb.adapters.workers.codec_values import (
    Damaged,
    items,
    number,
    number_or_none,
    one_of,
    text,
    text_or_none,
    whole,
)
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedDocument, ParseWarning
from kb.domain.errors import InvalidInput
from kb.domain.metadata import ProvenanceKind
from kb.domain.pages import PageText, WordBoxes
from kb.domain.transcripts import Transcript, TranscriptSegment

_LENGTH = struct.Struct("<Q")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_BYTES_OF_A_WORD = 7 * array("i").itemsize
_UNITS = frozenset({"page", "second", "sheet", "slide", "message", "section", "cell", "image", "line"})
_STATES = frozenset({"text", "ocr", "blank", "failed", "skipped", "waiting"})
_SOURCES = frozenset({"text", "ocr"})
_STEPS = frozenset(kind.value for kind in ProvenanceKind)


def encode_document(parsed: ParsedDocument) -> list[bytes]:
    """Return the bytes of a document in parts, to be joined.

    Raises:
        TypeError: the front matter holds something that JSON does not know.
    """
    writer = BlockWriter()
    body = {
        "blocks": [writer.block(block) for block in parsed.blocks],
        "paths": list(writer.paths),
        "front": parsed.front_matter,
        "warnings": [[warning.kind, warning.note] for warning in parsed.warnings],
        "lines": parsed.line_count,
        "encoding": parsed.encoding,
        "coverage": [[u.kind, u.start, u.end, u.state, u.confidence, u.reason] for u in parsed.coverage],
        "pages": [[p.page, p.width, p.height, p.source, p.text, len(p.words), p.confidence] for p in parsed.pages],
        "transcript": _transcript(parsed.transcript),
        "members": [[member.name, len(member.data), member.modified_ns] for member in parsed.members],
        "waits_for": parsed.waits_for,
        "steps": [[kind.value, note] for kind, note in parsed.steps],
    }
    # Half a surrogate pair, as some files have it, must not end the whole document.
    head = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    boxes = [page.words.numbers.tobytes() for page in parsed.pages]
    return [_LENGTH.pack(len(head)), head, *boxes, *(member.data for member in parsed.members)]


def decode_document(data: bytes) -> ParsedDocument:
    """Read a document back; halves of surrogate pairs, which no store can hold, come back as U+FFFD.

    Raises:
        Damaged: these bytes are no document, in whatever way.
    """
    try:
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length
        if start > len(data):
            raise Damaged("the body is cut short")
        body = json.loads(_HALF_PAIR.sub("\ufffd", data[_LENGTH.size : start].decode("utf-8", "surrogatepass")))
        return _document(body, _Rest(data, start))
    except (struct.error, ValueError, KeyError, TypeError, RecursionError, OverflowError, InvalidInput) as error:
        raise Damaged("not a document") from error


class _Rest:
    """Takes the bytes after the body, piece by piece."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = memoryview(data)
        self._start = start

    def take(self, count: int) -> memoryview:
        end = self._start + count
        if count < 0 or end > len(self._data):
            raise Damaged("cut short")
        piece = self._data[self._start : end]
        self._start = end
        return piece

    @property
    def used_up(self) -> bool:
        return self._start == len(self._data)


def _document(body: dict[str, Any], rest: _Rest) -> ParsedDocument:
    reader = BlockReader(body["paths"])
    front_matter = body["front"]
    if type(front_matter) is not dict:
        raise Damaged("no front matter where it belongs")
    pages = tuple(_page(items(page, 7), rest) for page in items(body["pages"]))
    members = tuple(_member(items(member, 3), rest) for member in items(body["members"]))
    if not rest.used_up:
        raise Damaged("more than a document")
    return ParsedDocument(
        blocks=tuple(reader.block(block) for block in items(body["blocks"])),
        front_matter=front_matter,
        warnings=tuple(ParseWarning(text(kind), text(note)) for kind, note in items(body["warnings"])),
        line_count=whole(body["lines"]),
        encoding=text(body["encoding"]),
        coverage=tuple(_unit(*items(unit, 6)) for unit in items(body["coverage"])),
        pages=pages,
        transcript=_transcript_of(body["transcript"]),
        members=members,
        waits_for=text(body["waits_for"]),
        steps=tuple((ProvenanceKind(one_of(kind, _STEPS)), text(note)) for kind, note in items(body["steps"])),
    )


def _page(fields: Sequence[Any], rest: _Rest) -> PageText:
    page, width, height, source, words, count, confidence = fields
    boxes = array("i")
    boxes.frombytes(rest.take(whole(count) * _BYTES_OF_A_WORD))
    return PageText(
        whole(page),
        number(width),
        number(height),
        one_of(source, _SOURCES),
        text(words),
        WordBoxes.of(boxes),
        number_or_none(confidence),
    )


def _member(fields: Sequence[Any], rest: _Rest) -> Member:
    name, size, modified_ns = fields
    return Member(text(name), bytes(rest.take(whole(size))), None if modified_ns is None else whole(modified_ns))


def _unit(*fields: Any) -> CoverageUnit:  # noqa: ANN401
    kind, start, end, state, confidence, reason = fields
    return CoverageUnit(
        one_of(kind, _UNITS),
        whole(start),
        whole(end),
        one_of(state, _STATES),
        number_or_none(confidence),
        text_or_none(reason),
    )


def _transcript(transcript: Transcript | None) -> list[Any] | None:
    if transcript is None:
        return None
    segments = [[s.start_ms, s.end_ms, s.text, s.confidence, s.speaker] for s in transcript.segments]
    return [segments, transcript.engine, transcript.language, transcript.duration_ms]


def _transcript_of(value: Any) -> Transcript | None:  # noqa: ANN401
    if value is None:
        return None
    segments, engine, language, duration_ms = items(value, 4)
    return Transcript(
        tuple(_said(*items(segment, 5)) for segment in items(segments)),
        text(engine),
        text(language),
        whole(duration_ms),
    )


def _said(*fields: Any) -> TranscriptSegment:  # noqa: ANN401
    start_ms, end_ms, words, confidence, speaker = fields
    return TranscriptSegment(
        whole(start_ms), whole(end_ms), text(words), number_or_none(confidence), text_or_none(speaker)
    )
