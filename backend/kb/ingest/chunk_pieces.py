"""Blocks and parts of blocks on their way into a chunk, and the chunk made of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kb.domain.blocks import BlockKind
from kb.domain.chunks import Chunk, ChunkRole
from kb.domain.documents import Block, CanonicalDocument
from kb.domain.line_segments import LineSegments, Places
from kb.domain.placed import narrowed
from kb.domain.recipes import ChunkId, chunk_id
from kb.domain.spans import Segment
from kb.ingest.chunk_sizes import estimate
from kb.ingest.split import Part


@dataclass(frozen=True, slots=True)
class Piece:
    """A block, or `part` of one; `number` tells parts of one block apart and is part of the chunk's id."""

    block: Block
    tokens: int
    part: Part | None = None
    number: int | None = None

    @property
    def size(self) -> int:
        """Return the characters it puts into a chunk."""
        if self.part is None:
            return len(self.block.parsed.text)
        return self.part.end - self.part.start + len(self.part.lead)


@dataclass(frozen=True, slots=True)
class Making:
    """What all chunks of one document share."""

    document: CanonicalDocument
    version: str
    policy_hash: str

    def chunk(
        self,
        pieces: Sequence[Piece],
        path: tuple[str, ...],
        tokens: int,
        ordinal: int,
        *,
        role: ChunkRole = ChunkRole.STANDALONE,
        parent: ChunkId | None = None,
    ) -> Chunk | None:
        """Return the chunk of some pieces; None when they hold no text."""
        text, segments = _composed(pieces)
        if not text:
            return None
        document = self.document
        return Chunk(
            chunk_id=self._identity(pieces, role),
            doc_id=document.doc_id,
            ordinal=ordinal,
            text=text,
            heading_path=path or path_of(pieces),
            block_ids=tuple(piece.block.block_id for piece in pieces),
            segments=segments,
            token_estimate=tokens or estimate(text),
            chunker_version=self.version,
            policy_hash=self.policy_hash,
            role=role,
            parent_chunk_id=parent,
            lang=document.lang,
        )

    def _identity(self, pieces: Sequence[Piece], role: ChunkRole) -> ChunkId:
        # A parent with one child is of the same blocks as that child.
        version = f"{self.version}/parent" if role is ChunkRole.PARENT else self.version
        return chunk_id(
            self.document.doc_id,
            chunker_version=version,
            block_ids=tuple(piece.block.block_id for piece in pieces),
            policy_hash=self.policy_hash,
            part=next((piece.number for piece in pieces if piece.number is not None), None),
        )


def segments_of(segments: Sequence[Segment], start: int, end: int) -> Sequence[Segment]:
    """Return the segments of a part, found by bisection, since a block may have thousands."""
    if isinstance(segments, LineSegments):
        return segments.within(start, end)
    found: list[Segment] = []
    index = max(0, bisect_right(segments, start, key=lambda segment: segment.start) - 1)
    for position in range(index, len(segments)):
        segment = segments[position]
        if segment.start >= end:
            break
        if segment.end > start:
            found.append(Segment(max(segment.start, start), min(segment.end, end), narrowed(segment, start, end)))
    return found


def path_of(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the path all pieces share: in source code, the one definition they are about."""
    path = pieces[0].block.parsed.heading_path
    for piece in pieces[1:]:
        path = common(path, piece.block.parsed.heading_path)
    return path


def common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the beginning that two paths share."""
    return tuple(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _composed(pieces: Sequence[Piece]) -> tuple[str, Sequence[Segment]]:
    """Join pieces: a line end after a heading, a blank line between others."""
    texts: list[str] = []
    places = Places()
    position = 0
    gap = ""
    for piece in pieces:
        parsed = piece.block.parsed
        text, part = parsed.text, piece.part
        if not text:
            continue
        if gap:
            texts.append(gap)
            position += len(gap)
        if part is None:
            texts.append(text)
            places.add(parsed.segments, position)
            position += len(text)
        else:
            texts += (part.lead, text[part.start : part.end])
            found = segments_of(parsed.segments, part.start, part.end)
            places.add(found, position + len(part.lead) - part.start)
            position += len(part.lead) + part.end - part.start
        gap = "\n" if parsed.kind is BlockKind.HEADING else "\n\n"
    return "".join(texts), places.finish()
