"""The mode `fixed`: chunks of one length, cut at the best border near it, each repeating the end of the one before.

Headings are text like any other, but none is the last of a chunk. A paragraph is cut at sentences (the marks of Chinese
and Japanese included) and line ends, a list at its items, code and tables at lines; what has no border is cut anywhere
but inside a letter.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from kb.domain.blocks import BlockKind
from kb.domain.chunks import Chunk, ChunkPolicy
from kb.domain.documents import Block
from kb.ingest.chunk_pieces import Making, Piece
from kb.ingest.chunk_sizes import Measure, Room
from kb.ingest.ports import Tokenizer
from kb.ingest.split import Cutter, Part, tail

_SHARE = 2
"""A chunk may end so much short of the target for the sake of a border: by half."""


def cut_by_length(
    making: Making, blocks: deque[Block], policy: ChunkPolicy, tokenizer: Tokenizer | None
) -> list[Chunk]:
    """Return the chunks of some blocks, which are used up, each at most `policy.target_characters` long."""
    packer = _Packer(making, policy, tokenizer)
    while blocks:
        packer.add(blocks.popleft())
    packer.finish()
    return packer.chunks


@dataclass(slots=True)
class _Run:
    """Characters `start` to `end` of a block."""

    block: Block
    start: int
    end: int
    tokens: int

    @property
    def is_heading(self) -> bool:
        return self.block.parsed.kind is BlockKind.HEADING


class _Packer:
    """Fills one chunk after the other."""

    def __init__(self, making: Making, policy: ChunkPolicy, tokenizer: Tokenizer | None) -> None:
        self._making = making
        self._overlap = policy.overlap_characters
        self._measure = Measure(tokenizer)
        cap = policy.max_tokens if tokenizer is not None else None
        # a cut inside a word may make a token more than the pieces counted
        safe = None if cap is None else max(1, cap - cap // 50)
        self._room = Room(policy.target_characters, safe)
        finest = max(1, (policy.target_characters - policy.overlap_characters - 1) // _SHARE)
        self._finest = Room(finest, None if safe is None else max(1, safe // _SHARE))
        self._runs: list[_Run] = []
        self._size = self._tokens = 0
        self._lead = ""
        self.chunks: list[Chunk] = []

    def add(self, block: Block) -> None:
        """Append a block, whole or in parts."""
        text = block.parsed.text
        if not text:
            self._runs.append(_Run(block, 0, 0, 0))
            return
        start = 0
        for end, tokens in Cutter(text, block.parsed.kind, self._measure).pieces(0, len(text), self._finest, 0):
            self._place(_Run(block, start, end, tokens))
            start = end

    def finish(self) -> None:
        """Make a chunk of what is left."""
        self._emit(self._runs)
        self._runs = []

    def _place(self, run: _Run) -> None:
        size = run.end - run.start
        if self._size and not self._room.holds(self._size + size + 2, self._tokens + run.tokens + 1):
            self._next(size, run.tokens)
        last = self._runs[-1] if self._runs else None
        if last is not None and last.block is run.block and last.end == run.start:
            last.end = run.end
            last.tokens += run.tokens
            self._grow(size, run.tokens)
        else:
            self._runs.append(run)
            self._grow(size + 2, run.tokens + 1)

    def _next(self, size: int, tokens: int) -> None:
        """Make a chunk of what is held; a heading at its end waits for what it heads. The next holds such a text."""
        runs, waiting = self._runs, []
        while len(runs) > 1 and runs[-1].is_heading and runs[-1].start == 0:
            waiting.append(runs.pop())
        waiting.reverse()
        headed = sum(run.end + 2 for run in waiting), sum(run.tokens + 1 for run in waiting)
        if not any(run.end > run.start for run in runs) or not self._room.holds(headed[0] + size, headed[1] + tokens):
            runs, waiting, headed = [*runs, *waiting], [], (0, 0)
        made = self._emit(runs)
        self._runs, self._lead = waiting, ""
        self._size, self._tokens = headed
        if made is not None:
            lead = tail(made.text, 0, len(made.text), self._overlap)
            count = self._measure.count(lead) if lead else 0
            if self._room.holds(self._size + len(lead) + size + 2, self._tokens + count + tokens + 1):
                self._lead = lead
                self._grow(len(lead), count)

    def _grow(self, size: int, tokens: int) -> None:
        self._size += size
        self._tokens += tokens

    def _emit(self, runs: list[_Run]) -> Chunk | None:
        pieces: list[Piece] = []
        lead = self._lead
        for run in runs:
            piece = _piece(run, lead)
            if piece is not None:
                pieces.append(piece)
                lead = lead if piece.part is None else ""
        if not any(piece.size for piece in pieces):
            return None
        chunk = self._making.chunk(pieces, (), sum(run.tokens for run in runs) + len(pieces) - 1, len(self.chunks))
        if chunk is not None:
            self.chunks.append(chunk)
        return chunk


def _piece(run: _Run, lead: str) -> Piece | None:
    """Return a run without white space at its ends, after `lead`; None when nothing is left of it."""
    text = run.block.parsed.text
    start, end = run.start, run.end
    if start == end:
        return Piece(run.block, 0)
    is_whole = start == 0 and end == len(text)
    if is_whole and not lead:
        return Piece(run.block, run.tokens) if text.strip() else None
    while start < end and text[start] == "\n":
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if not text[start:end].strip():
        return None
    return Piece(run.block, run.tokens, Part(start, end, lead, run.tokens), None if is_whole else run.start)
