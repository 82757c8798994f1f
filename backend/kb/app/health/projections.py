"""The projections compared with the library: by log position, or entry by entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kb.app.bootstrap import Parts
from kb.contract.index import IndexCheck
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.health import HeldKeys
from kb.retrieval.ports import VectorSearch

REBUILD = "run `kb doctor --fix` or `kb index rebuild`: nothing is parsed or embedded again"
_TRIES = 3
_SELF_QUERIES = 16
_SAME = 0.99


class _Listing(VectorSearch, Protocol):
    """A vector index that lists what it holds."""

    def position(self, model: EmbeddingModel) -> int | None:
        """Return the log position held."""

    def keys(self, model: EmbeddingModel) -> Sequence[ChunkKey]:
        """Return the key of every vector."""


def index_checks(parts: Parts, *, deep: bool = False) -> Iterator[IndexCheck]:
    """Compare each projection with the library; with `deep` every entry, and every stored vector with its checksum."""
    model = parts.model
    facts = parts.chunks.facts(model)
    yield _text_check(parts, facts.text_position, facts.chunks, deep=deep)
    for index in vector_indexes(parts):
        if model is not None:
            wanted = facts.vector_position
            yield _vector_check(parts, index, model, wanted, facts.vectors, deep=deep)
    if deep:
        found = parts.upkeep.damaged_vectors()
        hint = "run `kb doctor --fix`, then `kb ingest` embeds these texts again" if found.damaged else None
        detail = f"{found.looked_at:,} vectors, {found.damaged:,} of them damaged or lost"
        sound = found.looked_at - found.damaged
        yield IndexCheck(
            name="stored vectors",
            ok=not found.damaged,
            expected=found.looked_at,
            found=sound,
            detail=detail,
            hint=hint,
        )


def vector_indexes(parts: Parts) -> Sequence[_Listing]:
    """Return the vector indexes in use; none without a model."""
    if parts.model is None:
        return ()
    return (parts.scan, parts.chroma) if parts.chroma is not None else (parts.scan,)


def is_lost(check: IndexCheck) -> bool:
    """Return whether a projection must be built anew, not only brought up to date or left to who may read it."""
    return not check.ok and check.hint == REBUILD


def _text_check(parts: Parts, wanted: int, count: int, *, deep: bool) -> IndexCheck:
    try:
        check = compared("text", parts.text_index.position(), wanted, count, f"{count} passages")
        if not deep or not check.ok or not wanted:
            return check
        index = parts.text_index
        return _each("text", parts.upkeep.text_keys, index.position, index.keys)
    except StorageFailed as error:
        return _unusable("text", count, error)


def _vector_check(
    parts: Parts, index: _Listing, model: EmbeddingModel, wanted: int, count: int, *, deep: bool
) -> IndexCheck:
    try:
        check = compared(index.name, index.position(model), wanted, count, f"{count} vectors")
        if not deep or check.found is None or not wanted:
            return check
        check = _each(
            index.name,
            lambda: parts.upkeep.vector_keys(model),
            lambda: index.position(model),
            lambda: index.keys(model),
        )
        if check.ok and not _finds_itself(parts, index, model):
            detail = "vectors do not find themselves"
            return IndexCheck(name=index.name, ok=False, expected=count, found=None, detail=detail, hint=REBUILD)
    except StorageFailed as error:
        return _unusable(index.name, count, error)
    return check


def _each(
    name: str,
    expected: Callable[[], HeldKeys],
    position: Callable[[], int | None],
    keys: Callable[[], Sequence[ChunkKey]],
) -> IndexCheck:
    """Compare every key at one moment; work that goes on meanwhile is waited for a few times."""
    for _ in range(_TRIES):
        want = expected()
        if position() != want.position:
            continue
        held = Counter(keys())
        if position() != want.position:
            continue
        missing, foreign = len(want.keys - held.keys()), len(held.keys() - want.keys)
        double = sum(held.values()) - len(held)
        found = sum(held.values())
        if missing or foreign or double:
            detail = f"{missing} missing, {foreign} that do not belong there, {double} held twice"
            return IndexCheck(name=name, ok=False, expected=len(want.keys), found=found, detail=detail, hint=REBUILD)
        detail = f"{found:,} entries, each compared"
        return IndexCheck(name=name, ok=True, expected=len(want.keys), found=found, detail=detail)
    detail = "changes too fast to be compared entry by entry"
    return IndexCheck(name=name, ok=True, expected=None, found=None, detail=detail, hint="try again when no job runs")


def _finds_itself(parts: Parts, index: _Listing, model: EmbeddingModel) -> bool:
    """Return whether some stored vectors come back when asked for; Chroma's child may not be up, which says nothing."""
    sample = parts.upkeep.some_vectors(model, _SELF_QUERIES)
    if not index.ready(model, 0):
        return True
    for one in sample:
        best = index.search(model, one.vector, 1, None).candidates
        if not best or best[0][1] < _SAME:
            return False
    return True


def _unusable(name: str, count: int, error: StorageFailed) -> IndexCheck:
    return IndexCheck(name=name, ok=False, expected=count, found=None, detail=error.message, hint=error.hint or None)


def compared(name: str, held: int | None, wanted: int, count: int, detail: str) -> IndexCheck:
    """Judge an index by the log position it holds, None when it is lost, and the one wanted; `found` only when even."""
    if held is None:
        if not wanted:
            return IndexCheck(name=name, ok=True, expected=0, found=0, detail="nothing to hold yet")
        detail = "missing, damaged or of an older version"
        return IndexCheck(name=name, ok=False, expected=count, found=None, detail=detail, hint=REBUILD)
    if held < wanted:
        behind = f"behind by {wanted - held} changes"
        hint = "run `kb ingest` or `kb doctor --fix` to catch up"
        # Files read at once go into the exact scan alone; Chroma follows with the next comparison of everything.
        waits = name == "chroma"
        detail = f"{behind}, the exact scan answers until it has caught up" if waits else behind
        return IndexCheck(name=name, ok=waits, expected=count, found=None, detail=detail, hint=hint)
    return IndexCheck(name=name, ok=True, expected=count, found=count, detail=detail)
