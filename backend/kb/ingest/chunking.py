"""The structure chunker: sections first, blocks whole where they fit, cut at sentences where they do not.

A heading starts a chunk and is the first line of it. Neighbouring sections are put together only
when both are small (together under half the target) and have the same parent, so that a list of
three-line sections does not become a list of three-line chunks; a heading with nothing under it
joins the first section below it. Within a section, blocks are gathered up to the target. A chunk
leaves its page, slide, sheet or message only to end a sentence.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from kb.domain.blocks import BlockKind, Heading
from kb.domain.chunks import Chunk, ChunkPolicy
from kb.domain.documents import Block, CanonicalDocument
from kb.domain.errors import InvalidInput
from kb.domain.line_segments import LineSegments, Places
from kb.domain.placed import narrowed
from kb.domain.recipes import chunk_id
from kb.domain.spans import Segment
from kb.ingest.chunk_sizes import Measure, Room, estimate
from kb.ingest.leaves import Leaf, by_leaf, leaf_of
from kb.ingest.ports import Tokenizer
from kb.ingest.split import Part, split_text

CHUNKER_VERSION = "structure-v1"

# a section a little over the target is better one chunk than one and a scrap
_STRETCH = 1.25
_SMALL = 0.5
_KEEP_HEADING = 0.25


def chunk_document(document: CanonicalDocument, policy: ChunkPolicy, tokenizer: Tokenizer | None) -> list[Chunk]:
    """Return the chunks of a document, in order; none when it has no text.

    Every character of every block is in exactly one chunk, white space at cuts aside; text that is
    repeated (overlap, table headers) has no segment. No chunk has more than `policy.max_tokens`
    tokens when there is a tokenizer.

    Raises:
        InvalidInput: the policy asks for another mode than `structure`.
    """
    return chunks_of(document, deque(document.blocks), policy, tokenizer)


def chunks_of(
    document: CanonicalDocument, blocks: deque[Block], policy: ChunkPolicy, tokenizer: Tokenizer | None
) -> list[Chunk]:
    """As `chunk_document`, of blocks given beside the document and used up: text need not be held twice.

    Raises:
        InvalidInput: the policy asks for another mode than `structure`.
    """
    if policy.mode != "structure":
        raise InvalidInput(f"chunking mode {policy.mode!r} is not available", hint="use chunking.mode = 'structure'")
    chunker = _Chunker(document, policy, tokenizer)
    pieces, chunker.numbers = by_leaf(blocks)
    if pieces is not blocks:
        blocks = deque(pieces)
    del pieces
    for group in _groups(blocks, int(policy.target_characters * _SMALL)):
        chunker.add(group)
    return chunker.chunks


@dataclass(slots=True)
class _Section:
    """A heading (level 0: none) and what stands under it, down to the next heading."""

    path: tuple[str, ...]
    parent: tuple[str, ...]
    level: int
    blocks: list[Block]
    size: int
    has_body: bool
    leaf: Leaf = None

    def takes(self, other: _Section, small: int) -> bool:
        """Return whether `other`, which follows, belongs into the same chunk."""
        if self.leaf != other.leaf:
            return False
        if not self.has_body:
            return other.path[: len(self.path)] == self.path and self.size < small
        alike = self.level == other.level > 0 and self.parent == other.parent
        return alike and self.size + other.size + 2 < small

    def take(self, other: _Section) -> None:
        if self.has_body:
            self.path = _common(self.path, other.path)
        else:
            self.path, self.parent, self.level = other.path, other.parent, other.level
        self.blocks += other.blocks
        self.size += other.size + 2
        self.has_body = self.has_body or other.has_body


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block, or `part` of one, on its way into a chunk."""

    block: Block
    tokens: int
    part: Part | None = None
    number: int | None = None

    @property
    def size(self) -> int:
        if self.part is None:
            return len(self.block.parsed.text)
        return self.part.end - self.part.start + len(self.part.lead)


@dataclass(slots=True)
class _Held:
    """Pieces gathered for the next chunk."""

    pieces: list[_Piece] = field(default_factory=list)
    size: int = 0
    tokens: int = 0

    def add(self, piece: _Piece) -> None:
        self.size += piece.size + (2 if self.pieces else 0)
        self.tokens += piece.tokens + (1 if self.pieces else 0)
        self.pieces.append(piece)

    @property
    def only_headings(self) -> bool:
        return all(piece.block.parsed.kind is BlockKind.HEADING for piece in self.pieces)


class _Chunker:
    """Makes the chunks of one document, group after group."""

    def __init__(self, document: CanonicalDocument, policy: ChunkPolicy, tokenizer: Tokenizer | None) -> None:
        self._document = document
        self._policy = policy
        self._policy_hash = policy.hash()
        self._measure = Measure(tokenizer)
        self._exact = tokenizer is not None and policy.max_tokens is not None
        cap = policy.max_tokens if tokenizer is not None else None
        self._room = Room(policy.target_characters, cap)
        self._stretched = Room(int(policy.target_characters * _STRETCH), cap)
        self._held = _Held()
        self.numbers: Mapping[int, int] = {}
        self.chunks: list[Chunk] = []

    def add(self, group: _Section) -> None:
        """Append the chunks of one group of sections, whose blocks are used up."""
        if group.size <= self._stretched.characters and self._fits_whole(group):
            self._emit([self._piece(block, 0) for block in group.blocks], group.path)
            return
        pieces = [self._piece(block, self._count(block)) for block in group.blocks]
        total = sum(piece.tokens for piece in pieces) + len(pieces)
        if self._stretched.holds(group.size, total):
            self._emit(pieces, group.path, total)
            return
        group.blocks.clear()
        pieces.reverse()
        while pieces:
            self._place(pieces.pop(), group.path)
        self._flush(group.path)

    def _piece(self, block: Block, tokens: int) -> _Piece:
        return _Piece(block, tokens, None, self.numbers.get(id(block)))

    def _fits_whole(self, group: _Section) -> bool:
        if not self._exact:
            return True
        if self._room.tokens is None or group.size > self._room.tokens:
            return False
        return self._measure.surely_fits("\n\n".join(block.parsed.text for block in group.blocks), self._stretched)

    def _count(self, block: Block) -> int:
        text = block.parsed.text
        if not text or len(text) > self._stretched.characters:  # nothing to count, or cut anyway
            return 0
        return self._measure.count(text) if self._exact else estimate(text)

    def _place(self, piece: _Piece, path: tuple[str, ...]) -> None:
        held = self._held
        if not piece.size:
            held.pieces.append(piece)
            return
        if not held.size or self._room.holds(held.size + piece.size + 2, held.tokens + piece.tokens + 1):
            fits = self._stretched.holds(piece.size, piece.tokens)
        elif held.only_headings:  # a heading goes with what it heads, over the target if need be
            fits = self._stretched.holds(held.size + piece.size + 2, held.tokens + piece.tokens + 1)
        else:
            self._flush(path, before_heading=True)
            self._place(piece, path)
            return
        if fits:
            held.add(piece)
        else:
            self._place_parts(piece.block, path)

    def _place_parts(self, block: Block, path: tuple[str, ...]) -> None:
        held = self._held
        first = self._room.less(held.size + 2, held.tokens + 1) if held.size else self._room
        if first.characters < self._room.characters * _KEEP_HEADING or (
            first.tokens is not None and self._room.tokens and first.tokens < self._room.tokens * _KEEP_HEADING
        ):
            self._flush(path)
            first = self._room
        parsed = block.parsed
        overlap = self._policy.overlap_characters
        parts = split_text(parsed.text, parsed.kind, (first, self._room), overlap, self._measure)
        base = self.numbers.get(id(block), 0)
        for number, part in enumerate(parts, base):
            if number > base:
                self._flush(path)
            self._held.add(_Piece(block, part.tokens, part, number))

    def _flush(self, path: tuple[str, ...], *, before_heading: bool = False) -> None:
        """Make a chunk of what is held; headings at its end wait for what they head."""
        held, self._held = self._held, _Held()
        pieces = held.pieces
        if before_heading:
            while pieces and pieces[-1].block.parsed.kind is BlockKind.HEADING:
                self._held.pieces.insert(0, pieces.pop())
            waiting, self._held = self._held.pieces, _Held()
            for piece in waiting:
                self._held.add(piece)
        if pieces:
            self._emit(pieces, path, sum(piece.tokens for piece in pieces) + len(pieces) - 1)

    def _emit(self, pieces: Sequence[_Piece], path: tuple[str, ...], tokens: int = 0) -> None:
        text, segments = _compose(pieces)
        if not text:
            return
        numbers = [piece.number for piece in pieces if piece.number is not None]
        block_ids = tuple(piece.block.block_id for piece in pieces)
        document = self._document
        identity = chunk_id(
            document.doc_id,
            chunker_version=CHUNKER_VERSION,
            block_ids=block_ids,
            policy_hash=self._policy_hash,
            part=numbers[0] if numbers else None,
        )
        self.chunks.append(
            Chunk(
                chunk_id=identity,
                doc_id=document.doc_id,
                ordinal=len(self.chunks),
                text=text,
                heading_path=path or _path_of(pieces),
                block_ids=block_ids,
                segments=segments,
                token_estimate=tokens or estimate(text),
                chunker_version=CHUNKER_VERSION,
                policy_hash=self._policy_hash,
                lang=document.lang,
            )
        )


def _groups(blocks: deque[Block], small: int) -> Iterator[_Section]:
    """Yield sections, small neighbours put together."""
    group: _Section | None = None
    for section in _sections(blocks):
        if group is None:
            group = section
        elif group.takes(section, small):
            group.take(section)
        else:
            yield group
            group = section
    if group is not None:
        yield group


def _sections(blocks: deque[Block]) -> Iterator[_Section]:
    section: _Section | None = None
    while blocks:
        block = blocks.popleft()
        parsed = block.parsed
        size = len(parsed.text)
        leaf = leaf_of(parsed) or (section.leaf if section else None)
        if parsed.kind is BlockKind.HEADING or section is None:
            if section is not None:
                yield section
            heading = parsed.payload if isinstance(parsed.payload, Heading) else None
            path = parsed.heading_path if heading else ()
            section = _Section(path, path[:-1], heading.level if heading else 0, [block], size, heading is None, leaf)
        elif leaf != section.leaf:
            yield section
            section = _Section(section.path, section.parent, section.level, [block], size, has_body=True, leaf=leaf)
        else:
            section.blocks.append(block)
            section.size += size + 2
            section.has_body = section.has_body or size > 0
    if section is not None:
        yield section


def _compose(pieces: Sequence[_Piece]) -> tuple[str, Sequence[Segment]]:
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
            places.add(_cut(parsed.segments, part), position + len(part.lead) - part.start)
            position += len(part.lead) + part.end - part.start
        gap = "\n" if parsed.kind is BlockKind.HEADING else "\n\n"
    return "".join(texts), places.finish()


def _cut(segments: Sequence[Segment], part: Part) -> Sequence[Segment]:
    """Return the segments of a part, found by bisection, since a block may have thousands."""
    if isinstance(segments, LineSegments):
        return segments.within(part.start, part.end)
    found: list[Segment] = []
    index = max(0, bisect_right(segments, part.start, key=lambda segment: segment.start) - 1)
    for position in range(index, len(segments)):
        segment = segments[position]
        if segment.start >= part.end:
            break
        if segment.end > part.start:
            place = narrowed(segment, part.start, part.end)
            found.append(Segment(max(segment.start, part.start), min(segment.end, part.end), place))
    return found


def _path_of(pieces: Sequence[_Piece]) -> tuple[str, ...]:
    """Return the path all pieces share: in source code, the one definition they are about."""
    path = pieces[0].block.parsed.heading_path
    for piece in pieces[1:]:
        path = _common(path, piece.block.parsed.heading_path)
    return path


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
