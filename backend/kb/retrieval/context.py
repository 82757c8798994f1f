"""Context: the text around hits that a model may read, best first, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.text import sentences
from kb.retrieval.results import Context, ContextGroup
from kb.retrieval.snippets import own_start
from kb.retrieval.values import Hit

Neighbours = Callable[[ChunkKey, int], Sequence[StoredChunk]]

_BETWEEN = "\n\n"


@dataclass(slots=True)
class _Member:
    """A passage in the context: what of it is shown, and the ranks of the hits it stands for."""

    stored: StoredChunk
    text: str
    numbers: list[int] = field(default_factory=list)
    is_cut: bool = False


class _Gathered:
    """Passages chosen so far, each once, and the room that is left."""

    def __init__(self, budget: int) -> None:
        self.members: dict[ChunkKey, _Member] = {}
        self._at: set[tuple[str, int]] = set()
        self.room = budget

    def takes(self, stored: StoredChunk) -> bool:
        """Take a whole passage; False when it does not fit."""
        cost = len(stored.chunk.text) + self._joints(stored)
        if cost > self.room:
            return False
        self._add(stored, stored.chunk.text, cost, is_cut=False)
        return True

    def takes_part(self, stored: StoredChunk) -> bool:
        """Take the beginning of a passage, up to a sentence end where there is one; False when there is no room."""
        joints = self._joints(stored)
        text = _cut(stored.chunk.text, self.room - joints) if self.room > joints else ""
        if text:
            self._add(stored, text, len(text) + joints, is_cut=True)
        return bool(text)

    def touches(self, stored: StoredChunk) -> bool:
        """Return whether a passage that was taken stands right before or after this one."""
        doc_id, ordinal = stored.chunk.doc_id, stored.chunk.ordinal
        return any((doc_id, ordinal + step) in self._at for step in (-1, 1))

    def _add(self, stored: StoredChunk, text: str, cost: int, *, is_cut: bool) -> None:
        self.members[stored.key] = _Member(stored, text, is_cut=is_cut)
        self._at.add((stored.chunk.doc_id, stored.chunk.ordinal))
        self.room -= cost

    def _joints(self, stored: StoredChunk) -> int:
        """Return what the breaks take between this passage and those before and after it."""
        doc_id, ordinal = stored.chunk.doc_id, stored.chunk.ordinal
        return len(_BETWEEN) * sum((doc_id, ordinal + step) in self._at for step in (-1, 1))


def gather_context(
    hits: Sequence[Hit],
    *,
    budget: int,
    adjacent: int,
    neighbours: Neighbours,
    parents: Mapping[ChunkKey, StoredChunk] | None = None,
) -> Context:
    """Join hits with their parents or neighbours, no passage twice, best first, at most `budget` characters.

    Hits come first, in their order: a passage found never makes room for the surroundings of another. A small passage
    that was cut out of a large one is shown as that one, where it fits. What does not fit is cut at a sentence and
    marked, and ends the context; surroundings are taken whole or not at all, and only
    next to what is there. Passages of one document that follow
    each other become one group.

    Args:
        hits: best first.
        budget: characters.
        adjacent: passages on each side of a hit that has no parent.
        neighbours: gives them.
        parents: the large passage of each small one, by the key of the small one.
    """
    parents = parents or {}
    gathered = _Gathered(budget)
    shown = _take_hits(hits, parents, gathered)
    if adjacent:
        for hit in hits:
            if gathered.members.get(hit.stored.key) is None or hit.stored.key in parents:
                continue
            for stored in _nearest_first(hit.stored, neighbours(hit.stored.key, adjacent)):
                if stored.key not in gathered.members and gathered.touches(stored):
                    gathered.takes(stored)
    groups = _groups(gathered.members.values())
    count = sum(len(group.text) for group in groups)
    return Context(count, not shown, groups)


def _take_hits(hits: Sequence[Hit], parents: Mapping[ChunkKey, StoredChunk], gathered: _Gathered) -> bool:
    """Return whether every hit is in the context, and whole."""
    whole = True
    for hit in hits:
        parent = parents.get(hit.stored.key)
        if parent is not None and (parent.key in gathered.members or gathered.takes(parent)):
            gathered.members[parent.key].numbers.append(hit.rank)
        elif hit.stored.key in gathered.members or gathered.takes(hit.stored):
            gathered.members[hit.stored.key].numbers.append(hit.rank)
            if parent is not None:
                gathered.members[hit.stored.key].is_cut = True
                whole = False
        else:
            if gathered.takes_part(hit.stored):
                gathered.members[hit.stored.key].numbers.append(hit.rank)
            return False
    return whole


def _nearest_first(hit: StoredChunk, around: Iterable[StoredChunk]) -> list[StoredChunk]:
    return sorted(around, key=lambda s: (abs(s.chunk.ordinal - hit.chunk.ordinal), s.chunk.ordinal))


def _groups(members: Iterable[_Member]) -> tuple[ContextGroup, ...]:
    """Return passages that follow each other as one group, groups by their best hit."""
    ordered = sorted(members, key=lambda m: (m.stored.chunk.doc_id, m.stored.chunk.ordinal, m.stored.key))
    runs: list[list[_Member]] = []
    for member in ordered:
        before = runs[-1][-1].stored.chunk if runs else None
        here = member.stored.chunk
        if before is not None and before.doc_id == here.doc_id and before.ordinal + 1 == here.ordinal:
            runs[-1].append(member)
        else:
            runs.append([member])
    groups = [
        ContextGroup(
            run[0].stored.chunk.doc_id,
            tuple(sorted(number for member in run for number in member.numbers)),
            _BETWEEN.join(_texts(run)),
            any(member.is_cut for member in run),
        )
        for run in runs
    ]
    return tuple(sorted(groups, key=lambda group: group.numbers))


def _texts(run: Sequence[_Member]) -> list[str]:
    """Return the texts of passages that follow each other, without what each repeats of the one before."""
    texts = [run[0].text]
    for before, member in pairwise(run):
        begin = 0 if before.is_cut else own_start(member.text, member.stored.chunk.segments)
        texts.append(member.text[begin:])
    return texts


def _cut(text: str, room: int) -> str:
    ends = [end for _, end in sentences(text) if end <= room]
    return text[: ends[-1]] if ends else text[:room]
