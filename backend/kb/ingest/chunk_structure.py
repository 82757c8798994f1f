"""The structure chunker: sections first, blocks whole where they fit, cut at sentences where they do not.

A heading starts a chunk and is the first line of it. Neighbouring sections are put together only
when both are small (together under half the target) and have the same parent, so that a list of
three-line sections does not become a list of three-line chunks; a heading with nothing under it
joins the first section below it. Within a section, blocks are gathered up to the target. A chunk
leaves its page, slide, sheet or message only to end a sentence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kb.domain.blocks import BlockKind, Heading
from kb.domain.documents import Block
from kb.ingest.chunk_pieces import Piece, common
from kb.ingest.chunk_sizes import Measure, Room, estimate
from kb.ingest.leaves import Leaf, by_leaf, leaf_of
from kb.ingest.ports import Tokenizer
from kb.ingest.split import split_text

Take = Callable[[Sequence[Piece], tuple[str, ...], int], object]
"""Takes the pieces of one chunk, their heading path, and their tokens (0: not counted)."""

# a section a little over the target is better one chunk than one and a scrap
STRETCH = 1.25
"""How far over the target a chunk may be that is whole so."""
_SMALL = 0.5
_KEEP_HEADING = 0.25


def cut_by_structure(
    blocks: deque[Block],
    sizes: Sizes,
    tokenizer: Tokenizer | None,
    take: Take,
    numbers: Mapping[int, int] | None = None,
) -> None:
    """Hand the pieces of each chunk to `take`, in order; the blocks are used up.

    Args:
        blocks: of a document, or of a part of one.
        sizes: how long chunks may be.
        tokenizer: the embedder's; without it sizes are estimated.
        take: makes chunks of them.
        numbers: by `id()` of a block that is a part of another, the number of its first part; None to cut them at
            pages, slides, sheets and messages here.
    """
    chunker = _Chunker(sizes, tokenizer, take)
    if numbers is None:
        pieces, chunker.numbers = by_leaf(blocks)
        if pieces is not blocks:
            blocks = deque(pieces)
        del pieces
    else:
        chunker.numbers = numbers
    for group in _groups(blocks, int(sizes.target * _SMALL)):
        chunker.add(group)


@dataclass(frozen=True, slots=True)
class Sizes:
    """In characters; `most_tokens` is a hard cap, `target` a wish that one whole section may pass by a quarter."""

    target: int
    overlap: int
    most_tokens: int | None


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
            self.path = common(self.path, other.path)
        else:
            self.path, self.parent, self.level = other.path, other.parent, other.level
        self.blocks += other.blocks
        self.size += other.size + 2
        self.has_body = self.has_body or other.has_body


@dataclass(slots=True)
class _Held:
    """Pieces gathered for the next chunk."""

    pieces: list[Piece] = field(default_factory=list)
    size: int = 0
    tokens: int = 0

    def add(self, piece: Piece) -> None:
        self.size += piece.size + (2 if self.pieces else 0)
        self.tokens += piece.tokens + (1 if self.pieces else 0)
        self.pieces.append(piece)

    @property
    def only_headings(self) -> bool:
        return all(piece.block.parsed.kind is BlockKind.HEADING for piece in self.pieces)


class _Chunker:
    """Makes the chunks of one document, group after group."""

    def __init__(self, sizes: Sizes, tokenizer: Tokenizer | None, take: Take) -> None:
        self._overlap = sizes.overlap
        self._take = take
        self._measure = Measure(tokenizer)
        self._exact = tokenizer is not None and sizes.most_tokens is not None
        cap = sizes.most_tokens if tokenizer is not None else None
        self._room = Room(sizes.target, cap)
        self._stretched = Room(int(sizes.target * STRETCH), cap)
        self._held = _Held()
        self.numbers: Mapping[int, int] = {}

    def add(self, group: _Section) -> None:
        """Append the chunks of one group of sections, whose blocks are used up."""
        if group.size <= self._stretched.characters and self._fits_whole(group):
            self._take([self._piece(block, 0) for block in group.blocks], group.path, 0)
            return
        pieces = [self._piece(block, self._count(block)) for block in group.blocks]
        total = sum(piece.tokens for piece in pieces) + len(pieces)
        if self._stretched.holds(group.size, total):
            self._take(pieces, group.path, total)
            return
        group.blocks.clear()
        pieces.reverse()
        while pieces:
            self._place(pieces.pop(), group.path)
        self._flush(group.path)

    def _piece(self, block: Block, tokens: int) -> Piece:
        return Piece(block, tokens, None, self.numbers.get(id(block)))

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

    def _place(self, piece: Piece, path: tuple[str, ...]) -> None:
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
        overlap = self._overlap
        parts = split_text(parsed.text, parsed.kind, (first, self._room), overlap, self._measure)
        base = self.numbers.get(id(block), 0)
        for number, part in enumerate(parts, base):
            if number > base:
                self._flush(path)
            self._held.add(Piece(block, part.tokens, part, number))

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
            self._take(pieces, path, sum(piece.tokens for piece in pieces) + len(pieces) - 1)


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
