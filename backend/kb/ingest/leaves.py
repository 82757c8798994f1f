"""Pages, slides, sheets and messages: what a chunk leaves only to end a sentence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from kb.domain.blocks import BlockKind
from kb.domain.documents import Block, ParsedBlock
from kb.domain.placed import cut
from kb.domain.spans import PageSpan, PartSpan, SourceSpan
from kb.domain.text import sentences

Leaf: TypeAlias = tuple[str, int] | None
"""The kind of a leaf and its number; None for text without leaves."""

PARTS_A_PIECE = 10_000
"""So many parts may be made of each piece of a block; their numbers are part of chunk ids."""

_SEPARATE = frozenset({"slide", "sheet", "message"})
_LINES = frozenset({BlockKind.CODE, BlockKind.LIST, BlockKind.TABLE})


def leaf_of(parsed: ParsedBlock) -> Leaf:
    """Return the leaf on which a block begins."""
    return _leaf(parsed.segments[0].span if parsed.segments else parsed.span)


def by_leaf(blocks: Sequence[Block]) -> tuple[Sequence[Block], Mapping[int, int]]:
    """Cut blocks that run over leaves where the sentence that crosses the border ends; a line of a table or list.

    Returns all blocks in order, and for each piece of a cut block (by `id()`) the number of its first part.
    """
    if not any(map(_runs_over, blocks)):
        return blocks, {}
    all_blocks: list[Block] = []
    numbers: dict[int, int] = {}
    for block in blocks:
        pieces = list(_pieces(block)) if _runs_over(block) else [block]
        if len(pieces) > 1:
            numbers |= {id(piece): number * PARTS_A_PIECE for number, piece in enumerate(pieces)}
        all_blocks += pieces
    return all_blocks, numbers


def _runs_over(block: Block) -> bool:
    segments = block.parsed.segments
    return len(segments) > 1 and _leaf(segments[0].span) != _leaf(segments[-1].span)


def _pieces(block: Block) -> Iterator[Block]:
    parsed = block.parsed
    start = 0
    for end in (*_cuts(parsed), len(parsed.text)):
        while start < end and parsed.text[start].isspace():
            start += 1
        stop = end
        while stop > start and parsed.text[stop - 1].isspace():
            stop -= 1
        if stop > start:
            first = bisect_right(parsed.segments, start, key=lambda segment: segment.end)
            last = bisect_left(parsed.segments, stop, key=lambda segment: segment.start)
            segments = cut(parsed.segments[first:last], start, stop)
            yield replace(block, parsed=replace(parsed, text=parsed.text[start:stop], segments=segments))
        start = end


def _cuts(parsed: ParsedBlock) -> Iterator[int]:
    """Yield where a block is cut: at each border, or after the sentence over it."""
    borders = [
        after.start
        for before, after in zip(parsed.segments, parsed.segments[1:], strict=False)
        if _leaf(before.span) != _leaf(after.span)
    ]
    # A line end inside a paragraph ends no sentence.
    text = parsed.text if parsed.kind in _LINES else parsed.text.replace("\n", " ")
    ends = list(sentences(text))
    at = 0
    for border in borders:
        while at < len(ends) and ends[at][1] <= border:
            at += 1
        is_crossed = at < len(ends) and ends[at][0] < border
        place = ends[at][1] if is_crossed else border
        if place < len(text):
            yield place


def _leaf(span: SourceSpan) -> Leaf:
    match span:
        case PageSpan(page):
            return "page", page
        case PartSpan(part, number) if part in _SEPARATE:
            return part, number
        case _:
            return None
