"""Cutting documents into chunks, in the mode that a policy names."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from kb.domain.chunks import Chunk, ChunkPolicy
from kb.domain.documents import Block, CanonicalDocument
from kb.domain.errors import InvalidInput
from kb.ingest.chunk_fixed import cut_by_length
from kb.ingest.chunk_parents import cut_in_two_sizes
from kb.ingest.chunk_pieces import Making, Piece
from kb.ingest.chunk_structure import Sizes, cut_by_structure
from kb.ingest.ports import Tokenizer

CHUNKER_VERSION = "structure-v1"
"""Of the mode `structure`; part of every chunk id."""

_VERSIONS = {"structure": CHUNKER_VERSION, "fixed": "fixed-v1", "parent-child": "parent-child-v1"}


def chunker_version(policy: ChunkPolicy) -> str:
    """Return the version of what cuts by a policy.

    Raises:
        InvalidInput: there is no such mode.
    """
    version = _VERSIONS.get(policy.mode)
    if version is None:
        modes = ", ".join(_VERSIONS)
        raise InvalidInput(f"chunking mode {policy.mode!r} is not available", hint=f"use one of {modes}")
    return version


def chunk_document(document: CanonicalDocument, policy: ChunkPolicy, tokenizer: Tokenizer | None) -> list[Chunk]:
    """Return the chunks of a document, in order; none when it has no text.

    Every character of every block is in exactly one chunk that is no parent, white space at cuts aside; text that is
    repeated (overlap, table headers) has no segment. No chunk but a parent has more than `policy.max_tokens` tokens
    when there is a tokenizer. A parent stands right before its children, which follow in order.

    Raises:
        InvalidInput: the policy asks for a mode that does not exist.
    """
    return chunks_of(document, deque(document.blocks), policy, tokenizer)


def chunks_of(
    document: CanonicalDocument, blocks: deque[Block], policy: ChunkPolicy, tokenizer: Tokenizer | None
) -> list[Chunk]:
    """As `chunk_document`, of blocks given beside the document and used up: text need not be held twice.

    Raises:
        InvalidInput: the policy asks for a mode that does not exist.
    """
    making = Making(document, chunker_version(policy), policy.hash())
    return _MODES[policy.mode](making, blocks, policy, tokenizer)


def _structure(making: Making, blocks: deque[Block], policy: ChunkPolicy, tokenizer: Tokenizer | None) -> list[Chunk]:
    chunks: list[Chunk] = []

    def take(pieces: Sequence[Piece], path: tuple[str, ...], tokens: int) -> None:
        chunk = making.chunk(pieces, path, tokens, len(chunks))
        if chunk is not None:
            chunks.append(chunk)

    sizes = Sizes(policy.target_characters, policy.overlap_characters, policy.max_tokens)
    cut_by_structure(blocks, sizes, tokenizer, take)
    return chunks


_MODES: Mapping[str, Callable[[Making, deque[Block], ChunkPolicy, Tokenizer | None], list[Chunk]]] = {
    "structure": _structure,
    "fixed": cut_by_length,
    "parent-child": cut_in_two_sizes,
}
