"""Vector files in a folder: opened and checked, appended to, compacted, replaced."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb.adapters.vectorscan.columns import (
    ColumnFile,
    Rows,
    block_checksums,
    fine_rows_hold,
    is_whole,
    map_rows,
    quantised,
)
from kb.adapters.vectorscan.disk import FOLDER_MODE, replace_file, sync_folder
from kb.adapters.vectorscan.stamp import BLOCK, Head, decode, encode
from kb.adapters.vectorscan.view import View, alive_rows
from kb.domain.embeddings import EmbeddingModel
from kb.domain.index import VectorChanges, VectorRow, VectorSnapshot

_MOST_DEAD = 0.2
"""Share of dead rows at which a file is written anew."""


class VectorFiles:
    """The files of one library: `<fingerprint>.stamp` and the `<fingerprint>.<generation>.scan` it names.

    Reading never raises on damage. Writing raises OSError, and ValueError for vectors that cannot be held.
    Whatever moment a process is killed, the stamp says the old state or the new one.
    """

    def __init__(self, folder: Path, library_id: str) -> None:
        self._folder = folder
        self._library_id = library_id

    def stamp_path(self, fingerprint: str) -> Path:
        """Return where the stamp of a model is."""
        return self._folder / f"{fingerprint}.stamp"

    def open(self, fingerprint: str) -> View | None:
        """Return the stored state; None when missing, damaged or of another library or make."""
        try:
            stamp = decode(self.stamp_path(fingerprint).read_bytes())
        except OSError:
            return None
        if stamp is None or (stamp.head.fingerprint, stamp.head.library_id) != (fingerprint, self._library_id):
            return None
        rows = map_rows(self._data_path(stamp.head), stamp.head)
        if rows is None or tuple(block_checksums(rows, 0, stamp.head.count)) != stamp.checksums:
            return None
        return View.of(stamp.head, rows, alive_rows(stamp), stamp.checksums)

    def is_whole(self, view: View) -> bool:
        """Return whether the data file is still there in full size."""
        return is_whole(self._data_path(view.head), view.head)

    def data_signature(self, view: View) -> tuple[int, ...]:
        """Return what the system says of the data file: inode, time of change, size; empty when it is gone."""
        try:
            facts = self._data_path(view.head).stat()
        except OSError:
            return ()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size

    def fine_rows_hold(self, view: View) -> bool:
        """Return whether every exact row is as it was written."""
        return fine_rows_hold(view.rows.slice(0, view.head.count))

    def rebuild(self, model: EmbeddingModel, snapshot: VectorSnapshot) -> View:
        """Write a new generation from all vectors; the old one serves until the stamp names the new."""
        pages = (_quantised(batch, model.dimensions) for batch in _batches(snapshot.rows))
        return self._generation(model.fingerprint(), model.dimensions, snapshot.count, snapshot.position, pages)

    def apply(self, view: View, changes: VectorChanges) -> View:
        """Return the state after some changes, durably written."""
        added = {row.key: row for row in changes.add}
        alive = view.alive.copy()
        alive[view.find([*changes.remove, *added])] = False
        new = len(added)
        head = view.head
        dead = len(alive) - int(alive.sum())
        if head.count + new > head.capacity or dead > max(BLOCK // 4, _MOST_DEAD * (head.count + new)):
            return self._compacted(view, alive, changes.position, list(added.values()))
        rows = _quantised(list(added.values()), head.dimensions)
        if new:
            file = ColumnFile.open(self._data_path(head), head)
            try:
                file.write(head.count, rows)
            finally:
                file.close(sync=True)
        grown = replace(head, count=head.count + new, position=changes.position)
        first = head.count // BLOCK
        checksums = (*view.checksums[:first], *block_checksums(view.rows, first, grown.count))
        alive = np.concatenate((alive, np.ones(new, np.bool_)))
        return self._stamped(View.of(grown, view.rows, alive, checksums))

    def _compacted(self, view: View, alive: NDArray[np.bool_], position: int, new: list[VectorRow]) -> View:
        living = view.order[alive[view.order]]

        def pages() -> Iterator[Rows]:
            for start in range(0, len(living), BLOCK):
                yield view.rows.take(living[start : start + BLOCK])
            for batch in _batches(new):
                yield _quantised(batch, view.head.dimensions)

        head = view.head
        return self._generation(head.fingerprint, head.dimensions, len(living) + len(new), position, pages())

    def _generation(self, fingerprint: str, dimensions: int, room: int, position: int, pages: Iterable[Rows]) -> View:
        capacity = -(-(room + room // 4 + 1) // BLOCK) * BLOCK
        head = Head(fingerprint, self._library_id, secrets.token_hex(8), dimensions, capacity, 0, position)
        if self._folder.is_file():  # garbage in place of a folder of ours
            self._folder.unlink()
        self._folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        path = self._data_path(head)
        file = ColumnFile.create(path, head)
        count = 0
        try:
            for page in pages:
                file.write(count, page)
                count += len(page.keys)
            file.close(sync=True)
        except BaseException:
            file.close(sync=False)
            path.unlink(missing_ok=True)
            raise
        sync_folder(self._folder)
        head = replace(head, count=count)
        rows = map_rows(path, head)
        if rows is None:
            raise OSError("the vector file changed while it was written")
        checksums = tuple(block_checksums(rows, 0, count))
        view = self._stamped(View.of(head, rows, np.ones(count, np.bool_), checksums))
        self._remove_others(head)
        return view

    def _stamped(self, view: View) -> View:
        replace_file(self.stamp_path(view.head.fingerprint), encode(view.stamp()))
        return view

    def _remove_others(self, head: Head) -> None:
        for path in self._folder.glob(f"{head.fingerprint}.*.scan"):
            if path != self._data_path(head):
                # Windows keeps a mapped file; the next generation removes it.
                with contextlib.suppress(OSError):
                    path.unlink()

    def _data_path(self, head: Head) -> Path:
        return self._folder / f"{head.fingerprint}.{head.generation}.scan"


def _quantised(rows: list[VectorRow], dimensions: int) -> Rows:
    return quantised([row.key for row in rows], [row.vector for row in rows], dimensions)


def _batches(rows: Iterable[VectorRow]) -> Iterator[list[VectorRow]]:
    batch: list[VectorRow] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BLOCK:
            yield batch
            batch = []
    if batch:
        yield batch
