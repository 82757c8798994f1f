"""The mode `parent-child`: large chunks for context, cut into small ones that are found. Both keep to the structure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from kb.domain.blocks import BlockKind
from kb.domain.chunks import Chunk, ChunkPolicy, ChunkRole
from kb.domain.documents import Block
from kb.domain.line_segments import Places
from kb.ingest.chunk_pieces import Making, Piece, segments_of
from kb.ingest.chunk_structure import STRETCH, Sizes, cut_by_structure
from kb.ingest.leaves import PARTS_A_PIECE
from kb.ingest.ports import Tokenizer


def cut_in_two_sizes(
    making: Making, blocks: deque[Block], policy: ChunkPolicy, tokenizer: Tokenizer | None
) -> list[Chunk]:
    """Return parents of at most `policy.parent_characters`, whatever their tokens, each followed by its children."""
    chunks: list[Chunk] = []
    large = Sizes(int(policy.parent_characters / STRETCH), 0, None)
    overlap = min(policy.overlap_characters, policy.child_characters * 2 // 5)
    small = Sizes(policy.child_characters, overlap, policy.max_tokens)

    def take(pieces: Sequence[Piece], path: tuple[str, ...], tokens: int) -> None:
        parent = making.chunk(pieces, path, tokens, len(chunks), role=ChunkRole.PARENT)
        if parent is None:
            return
        chunks.append(parent)

        def take_child(pieces: Sequence[Piece], path: tuple[str, ...], tokens: int) -> None:
            child = making.chunk(pieces, path, tokens, len(chunks), role=ChunkRole.CHILD, parent=parent.chunk_id)
            if child is not None:
                chunks.append(child)

        # The list keeps them alive: their numbers are told apart by `id()`.
        inner = [_block(piece) for piece in pieces]
        numbers = {
            id(block): piece.number * PARTS_A_PIECE
            for block, piece in zip(inner, pieces, strict=True)
            if piece.number is not None
        }
        cut_by_structure(deque(inner), small, tokenizer, take_child, numbers)

    cut_by_structure(blocks, large, None, take)
    return chunks


def _block(piece: Piece) -> Block:
    """Return a part of a block as a block; what it repeats stands in it, without a place."""
    part, parsed = piece.part, piece.block.parsed
    if part is None:
        return piece.block
    places = Places()
    places.add(segments_of(parsed.segments, part.start, part.end), len(part.lead) - part.start)
    # The first line of a later part of a table is no header.
    is_headless = parsed.kind is BlockKind.TABLE and part.start > 0 and not part.lead
    kind = BlockKind.LIST if is_headless else parsed.kind
    text = part.lead + parsed.text[part.start : part.end]
    return replace(piece.block, parsed=replace(parsed, kind=kind, text=text, segments=places.finish()))
