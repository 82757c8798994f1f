"""Context: the text around hits that a model may read, best first, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.text import sentences
from kb.retrieval.results import Context, ContextGroup
from kb.retrieval.values import Hit

Neighbours = Callable[[ChunkKey, int], Sequence[StoredChunk]]


def gather_context(hits: Sequence[Hit], *, budget: int, adjacent: int, neighbours: Neighbours) -> Context:
    """Join hits with their neighbours, no passage twice, best first, at most `budget` characters.

    What does not fit is cut at a sentence and marked; a later hit never pushes out an earlier one.
    """
    groups: list[ContextGroup] = []
    used: set[ChunkKey] = set()
    room = budget
    truncated = False
    for hit in hits:
        if hit.stored.key in used:
            groups = _also_number(groups, hit)
            continue
        around = [s for s in neighbours(hit.stored.key, adjacent) if s.key not in used] if adjacent else []
        members = sorted([hit.stored, *around], key=lambda s: s.chunk.ordinal)
        text = "\n\n".join(member.chunk.text for member in members)
        was_cut = len(text) > room
        if was_cut:
            text = _cut(text, room)
            truncated = True
        if not text:
            break
        used.update(member.key for member in members)
        room -= len(text)
        groups.append(ContextGroup(hit.stored.chunk.doc_id, (hit.rank,), text, was_cut))
    return Context(budget - room, truncated, tuple(groups))


def _also_number(groups: Sequence[ContextGroup], hit: Hit) -> list[ContextGroup]:
    """Note a hit that an earlier group already holds as a neighbour."""
    return [
        ContextGroup(g.doc_id, (*g.numbers, hit.rank), g.text, g.truncated)
        if g.doc_id == hit.stored.chunk.doc_id and hit.stored.chunk.text in g.text
        else g
        for g in groups
    ]


def _cut(text: str, room: int) -> str:
    ends = [end for _, end in sentences(text) if end <= room]
    return text[: ends[-1]] if ends else text[:room]
