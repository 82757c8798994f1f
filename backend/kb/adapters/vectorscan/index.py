"""The exact vector index as ingest writes it and retrieval reads it."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb.adapters.vectorscan import scan
from kb.adapters.vectorscan.store import VectorFiles
from kb.adapters.vectorscan.view import View
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.errors import InvalidInput
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.index import VectorChanges, VectorSnapshot
from kb.retrieval.ports import VectorReply

_REBUILD = "`kb index rebuild` makes it anew from the library, without embedding again"
_FEW = 0.4
"""Up to this share of the rows are picked out; of more the rest is read as well, which is faster (measured)."""
_EXCHANGE_S = 0.5
"""A change takes less; who waits longer meets a rebuild, and is told that the index is missing."""


@dataclass(frozen=True, slots=True)
class _Sample:
    """Checked rows of a fixed sample in one state of the file, each of length one."""

    view: View
    keys: Sequence[ChunkKey]
    directions: NDArray[np.float64]


class ScanVectors:
    """Vectors of one library in memory-mapped files, compared one by one.

    Coarse int8 scores choose max(4 x limit, 64) rows, float16 rows order them. Memory is bounded by the page
    size of `scan`; the rows themselves stay in the system's file cache.

    Args:
        folder: the `vectors` folder of the library; made when first written.
        library_id: files of another library are not read.
        damaged: told when a search finds the file missing or damaged; called often, so it must be quick.
    """

    def __init__(self, folder: Path, library_id: str, *, damaged: Callable[[], object] = lambda: None) -> None:
        self._files = VectorFiles(folder, library_id)
        self._noticed = damaged
        self._views: dict[str, tuple[tuple[int, ...], View | None]] = {}
        self._data: dict[str, tuple[int, ...]] = {}
        self._appending: set[str] = set()
        self._samples: dict[str, _Sample] = {}
        self._writing = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """Return `scan`."""
        return "scan"

    def position(self, model: EmbeddingModel) -> int | None:
        """Return the log position held, after checking every byte; None when it must be rebuilt."""
        view = self._view(model)
        if view is None:
            return None
        if not self._files.fine_rows_hold(view):
            self._damaged(model)
            return None
        return view.head.position

    def ready(self, model: EmbeddingModel, position: int) -> bool:
        """Return whether the file is sound and holds the log up to `position`."""
        view = self._view(model)
        if view is None and position:
            self._noticed()
        return view is not None and view.head.position >= position

    def apply(self, model: EmbeddingModel, changes: VectorChanges) -> None:
        """Append, mark removed rows, stamp; compacts when a fifth of the rows is dead.

        Raises:
            StorageFailed: the file is missing or damaged, the disk is full, a vector cannot be held.
        """
        with self._writing:
            view = self._look(model)
            if view is None:
                raise _missing()
            if changes.position > view.head.position:
                self._write(model, lambda: self._files.apply(view, changes))

    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> int:
        """Write all vectors into a new file and switch to it.

        Raises:
            StorageFailed: the disk is full or a vector cannot be held; the old file still serves.
        """
        with self._writing:
            return self._write(model, lambda: self._files.rebuild(model, snapshot)).living

    def search(
        self,
        model: EmbeddingModel,
        query: Vector,
        limit: int,
        allowed: Sequence[ChunkKey] | None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> VectorReply:
        """Return the nearest chunks by cosine, lower keys first among equals; stops between pages when told to."""
        view = self._need(model)
        exact = _query(model, query)
        chosen = None if allowed is None else view.find(allowed)
        wanted = max(4 * limit, 64)
        best = scan.empty()
        for page in self._pages(view, scan.coarse_query(exact), chosen):
            if should_stop():
                raise Cancelled("the search was stopped")
            best = scan.keep_best(best, page, view.rows.keys, wanted)
        rows = best.rows
        scores = scan.cosines(exact, self._fine(model, view, rows))
        keys = view.rows.keys[rows]
        order = np.lexsort((keys, -scores))[:limit]
        found = tuple((ChunkKey(int(keys[i])), float(scores[i])) for i in order)
        return VectorReply(found, view.living if chosen is None else len(chosen))

    def similarities(self, model: EmbeddingModel, query: Vector, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, float]:
        """Return the cosine of each of `keys` that has a vector."""
        view = self._need(model)
        rows = view.find(keys)
        scores = scan.cosines(_query(model, query), self._fine(model, view, rows))
        return {ChunkKey(int(key)): float(score) for key, score in zip(view.rows.keys[rows], scores, strict=True)}

    def background(self, model: EmbeddingModel, query: Vector, sample: Sequence[ChunkKey]) -> Sequence[float]:
        """Return the cosines of those of `sample` that have a vector; their rows are checked once per state."""
        view = self._need(model)
        known = self._samples.get(model.fingerprint())
        if known is None or known.view is not view or known.keys != sample:
            # `find` gives rows in its own order: one key at a time keeps the sample's.
            rows = np.concatenate([view.find([key]) for key in sample]) if sample else np.empty(0, np.int64)
            known = _Sample(view, sample, scan.directions(self._fine(model, view, rows)))
            self._samples[model.fingerprint()] = known
        return [float(score) for score in scan.dots(_query(model, query), known.directions)]

    def keys(self, model: EmbeddingModel) -> Sequence[ChunkKey]:
        """Return the key of every vector, rising.

        Raises:
            StorageFailed: the file is missing or damaged.
        """
        return [ChunkKey(key) for key in self._need(model).keys.tolist()]

    def close(self) -> None:
        """Stop searches that are running and let go of the files."""
        self._closed = True
        self._views.clear()
        self._samples.clear()

    def _pages(self, view: View, query: NDArray[np.int8], chosen: NDArray[np.int64] | None) -> Iterator[scan.Best]:
        # Reading on is faster than picking out, unless few are wanted.
        picks = chosen is not None and len(chosen) < _FEW * view.head.count
        total = len(chosen) if chosen is not None and picks else view.head.count
        for start in range(0, total, scan.PAGE):
            if self._closed:
                raise StorageFailed("the vector index was closed")
            end = min(total, start + scan.PAGE)
            if chosen is not None and picks:
                rows = chosen[start:end]
                scores = scan.coarse_dots(query, view.rows.coarse[rows]) * view.rows.scales[rows]
                yield scan.Best(rows, scores)
                continue
            scores = scan.coarse_dots(query, view.rows.coarse[start:end]) * view.rows.scales[start:end]
            if chosen is not None:
                first, last = np.searchsorted(chosen, (start, end))
                rows = chosen[first:last]
                scores = scores[rows - start]
            elif view.all_alive:
                rows = np.arange(start, end)
            else:
                rows = np.flatnonzero(view.alive[start:end]) + start
                scores = scores[rows - start]
            yield scan.Best(rows, scores)

    def _fine(self, model: EmbeddingModel, view: View, rows: NDArray[np.int64]) -> NDArray[np.float16]:
        fine = view.rows.fine[rows]
        if any(zlib.crc32(row.data) != check for row, check in zip(fine, view.rows.checks[rows], strict=True)):
            self._damaged(model)
            self._noticed()
            raise StorageFailed("the vector index is damaged", hint=_REBUILD)
        return fine

    def _view(self, model: EmbeddingModel) -> View | None:
        """Return the state on disk; None when it is missing or damaged."""
        view = self._look(model)
        if view is None and self._writing.acquire(timeout=_EXCHANGE_S):
            # A change of ours may have exchanged the files while we looked: that is no damage.
            try:
                view = self._look(model)
            finally:
                self._writing.release()
        return view

    def _look(self, model: EmbeddingModel) -> View | None:
        """Return the state on disk, reading it only when the stamp or the file is another than last time."""
        fingerprint = model.fingerprint()
        seen = self._signature(fingerprint)
        known = self._views.get(fingerprint)
        if known is None or known[0] != seen or not self._is_as_it_was(fingerprint, known[1]):
            view = self._files.open(fingerprint)
            self._remember(fingerprint, view)
            # Whoever changed the file behind our back may have changed any row.
            if known is not None and known[0] == seen and view is not None and not self._files.fine_rows_hold(view):
                view = None
            known = seen, view
            self._views[fingerprint] = known
        view = known[1]
        return view if view is not None and self._files.is_whole(view) else None

    def _is_as_it_was(self, fingerprint: str, view: View | None) -> bool:
        """Return whether nobody but us wrote to the mapped file since it was checked."""
        if view is None or fingerprint in self._appending:
            return True
        return self._files.data_signature(view) == self._data.get(fingerprint)

    def _remember(self, fingerprint: str, view: View | None) -> None:
        if view is not None:
            self._data[fingerprint] = self._files.data_signature(view)

    def _signature(self, fingerprint: str) -> tuple[int, ...]:
        try:
            facts = self._files.stamp_path(fingerprint).stat()
        except OSError:
            return ()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size

    def _need(self, model: EmbeddingModel) -> View:
        view = self._view(model)
        if view is None:
            self._noticed()
            raise _missing()
        return view

    def _damaged(self, model: EmbeddingModel) -> None:
        fingerprint = model.fingerprint()
        self._views[fingerprint] = self._signature(fingerprint), None

    def _write(self, model: EmbeddingModel, change: Callable[[], View]) -> View:
        fingerprint = model.fingerprint()
        self._appending.add(fingerprint)
        try:
            view = change()
            self._remember(fingerprint, view)
            self._views[fingerprint] = self._signature(fingerprint), view
        except OSError as error:
            hint = "free some space and try again; nothing is lost, the vectors are in the library"
            raise StorageFailed(
                f"the vector index could not be written: {error.strerror or error}", hint=hint
            ) from error
        except ValueError as error:
            raise StorageFailed(f"the vector index could not be written: {error}", hint=_REBUILD) from error
        finally:
            self._appending.discard(fingerprint)
        return view


def _missing() -> StorageFailed:
    return StorageFailed("the vector index is missing or damaged", hint=_REBUILD)


def _query(model: EmbeddingModel, query: Vector) -> NDArray[np.float32]:
    if len(query) != 4 * model.dimensions:
        raise InvalidInput(f"the query has {len(query) // 4} dimensions, the model {model.dimensions}")
    return np.asarray(np.nan_to_num(np.frombuffer(query, "<f4")), np.float32)
