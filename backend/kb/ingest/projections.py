"""Indexes follow the library's log: caught up after each commit, rebuilt when lost, never embedding."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kb.domain.embeddings import EmbeddingModel
from kb.domain.failures import StorageFailed
from kb.domain.index import TextEntry, TextSnapshot, VectorRow, VectorSnapshot
from kb.ingest.library_ports import IndexLog, TextIndexWriter, VectorIndexWriter, VectorStore

_TEXT_CHANGES = 1000
_VECTOR_CHANGES = 5000
_ENTRIES_A_GLANCE = 64
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lagging:
    """A vector index that could not follow, and why."""

    name: str
    error: StorageFailed


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild wrote.

    Attributes:
        text_entries: None when the text index was not asked for.
        vectors: by the name of the index.
        embeddings_made: how often a model ran meanwhile, as counted by the caller's own counter.
    """

    text_entries: int | None
    vectors: dict[str, int]
    lagging: tuple[Lagging, ...]
    embeddings_made: int


def catch_up_text(log: IndexLog, index: TextIndexWriter, heed: Callable[[], object] = lambda: None) -> bool:
    """Bring the text index to the end of the log; return whether anything was written.

    Args:
        log: what is to be done.
        index: where it is done.
        heed: called now and then; what it raises ends the work, which the next call does from where it stood before.

    Raises:
        StorageFailed: it can neither be brought up nor built anew.
    """
    position = index.position()
    if position is None:
        index.rebuild(_heeding_snapshot(log.text_snapshot(), heed))
        return True
    start = position
    try:
        while (changes := log.text_changes(position, _TEXT_CHANGES)) is not None:
            index.apply(replace(changes, add=_Heeding(changes.add, heed)))
            position = changes.position
    except StorageFailed as error:
        # It broke under our hands, or is from another library: building anew mends both, or fails for good.
        _log.warning("the text index is built anew: %s", error)
        index.rebuild(_heeding_snapshot(log.text_snapshot(), heed))
        return True
    return position != start


def finish_text(
    log: IndexLog, index: TextIndexWriter, heed: Callable[[], object] = lambda: None, *, settles: bool = True
) -> None:
    """Catch up at the end of a run; if it `settles`, build anew where scores drift and that costs little.

    So a library gives the same scores however it came to hold what it holds. Else as `catch_up_text`.
    """
    catch_up_text(log, index)
    if settles and index.drifts():
        index.rebuild(_heeding_snapshot(log.text_snapshot(), heed))


class _Heeding:
    """Entries that ask now and then whether to go on."""

    def __init__(self, entries: Iterable[TextEntry], heed: Callable[[], object]) -> None:
        self._entries = entries
        self._heed = heed

    def __iter__(self) -> Iterator[TextEntry]:
        for number, entry in enumerate(self._entries):
            if number % _ENTRIES_A_GLANCE == 0:
                self._heed()
            yield entry


def _heeding_snapshot(snapshot: TextSnapshot, heed: Callable[[], object]) -> TextSnapshot:
    return replace(snapshot, entries=iter(_Heeding(snapshot.entries, heed)))


def _heeding_vectors(snapshot: VectorSnapshot, heed: Callable[[], object]) -> VectorSnapshot:
    def rows() -> Iterator[VectorRow]:
        for number, row in enumerate(snapshot.rows):
            if number % _ENTRIES_A_GLANCE == 0:
                heed()
            yield row

    return replace(snapshot, rows=rows())


def catch_up_vectors(
    log: IndexLog,
    store: VectorStore,
    model: EmbeddingModel,
    indexes: Sequence[VectorIndexWriter],
    between: Callable[[], object] = lambda: None,
) -> tuple[Lagging, ...]:
    """Bring every vector index to the end of the log; return those that could not follow.

    One that fails is left behind and the others go on; records count as committed only as far as
    every index has come. `between` is called where others may use the indexes; what it raises ends the work.
    """
    lagging: list[Lagging] = []
    for index in indexes:
        try:
            follow_vectors(log, model, index, between)
        except StorageFailed as error:
            _log.warning("vector index %s could not follow: %s", index.name, error)
            lagging.append(Lagging(index.name, error))
    _commit(store, model, indexes)
    return tuple(lagging)


def rebuild(
    log: IndexLog,
    store: VectorStore,
    model: EmbeddingModel | None,
    text_index: TextIndexWriter | None,
    vector_indexes: Sequence[VectorIndexWriter],
    *,
    embeddings_made: Callable[[], int],
    heed: Callable[[], object] = lambda: None,
    between: Callable[[], object] = lambda: None,
) -> Rebuilt:
    """Build every index anew from the library.

    Args:
        log: where the entries and vectors come from.
        store: where records are marked committed.
        model: whose vectors; None when there is no model, then only text is built.
        text_index: the full-text index; None to leave it as it is.
        vector_indexes: the vector indexes.
        embeddings_made: reads a counter of model runs, to show that it stood still.
        heed: called now and then; what it raises ends the work, and the index that was being built stays as it was.
        between: called between two indexes, where others may use them.

    Raises:
        StorageFailed: the text index cannot be written.
    """
    before = embeddings_made()
    entries = text_index.rebuild(_heeding_snapshot(log.text_snapshot(), heed)) if text_index else None
    vectors: dict[str, int] = {}
    lagging: list[Lagging] = []
    for index in vector_indexes if model else ():
        between()
        heed()
        try:
            vectors[index.name] = (
                index.rebuild(model, _heeding_vectors(log.vector_snapshot(model), heed)) if model else 0
            )
        except StorageFailed as error:
            lagging.append(Lagging(index.name, error))
    if model:
        _commit(store, model, vector_indexes)
    return Rebuilt(entries, vectors, tuple(lagging), embeddings_made() - before)


def follow_vectors(
    log: IndexLog, model: EmbeddingModel, index: VectorIndexWriter, between: Callable[[], object] = lambda: None
) -> None:
    """Bring one vector index to the end of the log; records stay as they are, since others may be behind.

    Raises:
        StorageFailed: it can neither be brought up nor built anew.
    """
    position = index.position(model)
    try:
        while position is not None and (changes := log.vector_changes(model, position, _VECTOR_CHANGES)) is not None:
            index.apply(model, changes)
            between()
            position = index.position(model)
    except StorageFailed as error:
        _log.warning("vector index %s is built anew: %s", index.name, error)
        position = None
    if position is None:
        index.rebuild(model, log.vector_snapshot(model))


def _commit(store: VectorStore, model: EmbeddingModel, indexes: Sequence[VectorIndexWriter]) -> None:
    positions: list[int] = []
    for index in indexes:
        try:
            position = index.position(model)
        except StorageFailed:
            position = None
        if position is None:
            return
        positions.append(position)
    if positions:
        store.commit_through(model, min(positions))
