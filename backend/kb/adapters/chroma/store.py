"""One model's vectors in one Chroma folder: the stamp decides what may be believed, the child does the rest."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kb.adapters.chroma.disk import FOLDER_MODE
from kb.adapters.chroma.frames import Facts
from kb.adapters.chroma.process import Limits, Worker, WorkerFailed
from kb.adapters.chroma.stamp import Stamp, checksums, read_stamp, write_stamp
from kb.domain.embeddings import ChunkKey, EmbeddingModel, Vector
from kb.domain.failures import StorageFailed
from kb.domain.index import VectorChanges, VectorRow, VectorSnapshot

BATCH = 5_000
"""Vectors in one request; Chroma takes 5,461."""

_GRAPH = "data_level0.bin"
"""Vectors and links; the others hold counts, and memory that was never set."""

_MOST_DEATHS = 3
_PATIENCE_SECONDS = 0.2
_GLANCE_SECONDS = 0.05
_RETRY_SECONDS = 5.0
_REBUILD = "the exact scan answers meanwhile; `kb index rebuild` makes this one anew, without embedding again"


class ModelStore:
    """The folder of one model, and its child once there is one.

    Methods that write or start take turns; `query` needs no turn. A store that cannot be opened, that gives an
    error, or whose child died three times loses its stamp, so that the next sync makes it anew.
    """

    def __init__(
        self,
        folder: Path,
        library_id: str,
        model: EmbeddingModel,
        command: Sequence[str],
        limits: Limits,
        *,
        damaged: Callable[[], object] = lambda: None,
    ) -> None:
        self._folder = folder
        self._library_id = library_id
        self._model = model
        self._command = command
        self._limits = limits
        self._damaged = damaged
        self._turn = threading.Lock()
        self._worker: Worker | None = None
        self._open = False
        self._closed = False
        self._deaths = 0
        self._verified: dict[str, int] | None = None
        self._at_start: Mapping[str, int] = {}
        self._warming: threading.Thread | None = None
        self._retry_at = 0.0

    def stamp(self) -> Stamp | None:
        """Return what is held if it may be believed; reads one small file."""
        stamp = read_stamp(self._stamp_path)
        right = (self._library_id, self._model.fingerprint())
        if stamp is None or stamp.writing or (stamp.library_id, stamp.fingerprint) != right:
            return None
        return stamp if (self._data / "chroma.sqlite3").is_file() else None

    def checked_stamp(self) -> Stamp | None:
        """Return the stamp after comparing the files with it, when no child has changed them since."""
        stamp = self.stamp()
        if stamp is not None and stamp.files and stamp.files != self._verified:
            try:
                found = checksums(self._data)
            except OSError:
                return None
            if found == stamp.files:
                self._verified = found
            elif self.stamp() == stamp:  # else a child was started meanwhile, and changes them by right
                return None
        return stamp

    def is_ready(self, position: int) -> bool:
        """Return whether a query would be answered now; starts the child in the background if it could be."""
        stamp = self.stamp()
        if stamp is None and position and not self._turn.locked():
            self._damaged()
        if stamp is None or stamp.position < position or self._closed:
            return False
        worker = self._worker
        if self._open and worker is not None and worker.alive:
            return not self._turn.locked()
        if time.monotonic() >= self._retry_at and (self._warming is None or not self._warming.is_alive()):
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            self._warming = threading.Thread(target=self._warm, name="chroma-start", daemon=True)
            self._warming.start()
        return False

    def query(self, vector: Vector, limit: int) -> list[tuple[ChunkKey, float]]:
        """Return keys and cosines of about the nearest."""
        worker = self._worker
        if worker is None or not self._open:
            raise StorageFailed("Chroma is not running", hint=_REBUILD)
        try:
            reply = worker.ask(
                "query",
                {"limit": limit},
                vector,
                seconds=self._limits.query_seconds,
                patience=_PATIENCE_SECONDS,
            )
        except WorkerFailed as error:
            raise self._failure(error) from error
        count = int(reply.facts["count"])
        keys = struct.unpack_from(f"<{count}Q", reply.tail)
        distances = struct.unpack_from(f"<{count}f", reply.tail, 8 * count)
        return [(ChunkKey(key), 1.0 - distance) for key, distance in zip(keys, distances, strict=True)]

    def keys(self) -> list[ChunkKey]:
        """Return the key of every vector, as the child lists them."""
        with self._turn:
            stamp = self.checked_stamp()
            if stamp is None:
                raise StorageFailed("the Chroma index is missing or damaged", hint=_REBUILD)
            found: list[ChunkKey] = []
            try:
                worker = self._opened(stamp)
                while True:
                    facts: Facts = {"limit": BATCH, "offset": len(found)}
                    reply = worker.ask("keys", facts, seconds=self._limits.write_seconds)
                    count = int(reply.facts["count"])
                    found += map(ChunkKey, struct.unpack_from(f"<{count}Q", reply.tail))
                    if count < BATCH:
                        return found
            except WorkerFailed as error:
                self._stop()
                raise self._failure(error) from error

    def apply(self, changes: VectorChanges) -> None:
        """Send changes; the stamp says so only after the child acknowledged them."""
        with self._turn:
            stamp = self.checked_stamp()
            if stamp is None:
                raise StorageFailed("the Chroma index is missing or damaged", hint=_REBUILD)
            if changes.position <= stamp.position:
                return
            if not changes.add and not changes.remove:
                write_stamp(self._stamp_path, replace(stamp, position=changes.position))
                return
            try:
                worker = self._opened(stamp)
                write_stamp(self._stamp_path, replace(stamp, writing=True, files={}))
                self._at_start = {}
                self._send(worker, changes.remove, changes.add)
                self._acknowledge(worker, changes.position)
            except WorkerFailed as error:
                self._stop()
                raise self._failure(error) from error
            except OSError as error:
                self._stop()
                raise _unwritten(error) from error

    def rebuild(self, snapshot: VectorSnapshot) -> int:
        """Throw the folder away and fill a new one."""
        with self._turn:
            self._stop()
            self._deaths = 0
            self._at_start = {}
            try:
                self._throw_away()
                self._data.mkdir(mode=FOLDER_MODE, parents=True)
                worker = self._start(create=True)
                self._send(worker, (), snapshot.rows)
                return self._acknowledge(worker, snapshot.position)
            except WorkerFailed as error:
                self._stop()
                raise self._failure(error) from error
            except OSError as error:
                self._stop()
                raise _unwritten(error) from error
            except BaseException:  # the rows ended it: half a store is none
                self._stop()
                raise

    def close(self) -> None:
        """End the child; if it ended well, note what its files are, to know them again."""
        self._closed = True
        warming = self._warming
        while warming is not None and warming.is_alive():
            # The child may come up only now: killed once, a later one would be waited for until its time is up.
            if self._worker is not None:
                self._worker.kill()
            warming.join(_GLANCE_SECONDS)
        with self._turn:
            self._stop()

    @property
    def _stamp_path(self) -> Path:
        return self._folder / "stamp.json"

    @property
    def _data(self) -> Path:
        return self._folder / "store"

    def _warm(self) -> None:
        with self._turn, contextlib.suppress(WorkerFailed, OSError, StorageFailed):
            stamp = self.checked_stamp()
            if stamp is None:
                self._forget()
                self._damaged()
            else:
                self._opened(stamp)
                if self.stamp() is None:  # spoilt while the child came up, when nobody looks
                    self._damaged()

    def _opened(self, stamp: Stamp) -> Worker:
        """Return a child that has the store open and answered a query."""
        if self._open and self._worker is not None and self._worker.alive:
            return self._worker
        self._stop()
        self._at_start = stamp.files
        if stamp.files:
            # The child changes files by opening them: from here on they are not what the stamp says.
            write_stamp(self._stamp_path, replace(stamp, files={}))
        try:
            worker = self._start(create=False)
            self._probe(worker, stamp.count)
        except WorkerFailed:
            if self._worker is not None and not self._closed:
                self._forget()
                self._damaged()
            self._stop()
            raise
        self._open = True
        return worker

    def _probe(self, worker: Worker, count: int) -> None:
        """Ask for what a damaged store cannot give: its count, and an answer from the graph."""
        seconds = self._limits.open_seconds
        if worker.ask("count", {}, seconds=seconds).facts["count"] != count:
            raise WorkerFailed("it holds another number of vectors", died=False)
        if count:
            vector = struct.pack(f"<{self._model.dimensions}f", 1.0, *[0.0] * (self._model.dimensions - 1))
            worker.ask("query", {"limit": 1}, vector, seconds=seconds)

    def _start(self, *, create: bool) -> Worker:
        self._worker = Worker(self._command, self._limits)
        name = f"kb-{self._model.fingerprint()}"
        facts: Facts = {"folder": str(self._data), "name": name, "create": create}
        self._worker.ask("open", facts, seconds=self._limits.open_seconds)
        self._open = create
        return self._worker

    def _send(self, worker: Worker, remove: Sequence[ChunkKey], add: Iterable[VectorRow]) -> None:
        seconds = self._limits.write_seconds
        for start in range(0, len(remove), BATCH):
            part = remove[start : start + BATCH]
            worker.ask("delete", {}, struct.pack(f"<{len(part)}Q", *part), seconds=seconds)
        batch: dict[ChunkKey, Vector] = {}
        for row in add:
            batch[row.key] = row.vector
            if len(batch) == BATCH:
                _upsert(worker, batch, seconds)
                batch = {}
        if batch:
            _upsert(worker, batch, seconds)

    def _acknowledge(self, worker: Worker, position: int) -> int:
        count = int(worker.ask("count", {}, seconds=self._limits.write_seconds).facts["count"])
        write_stamp(self._stamp_path, Stamp(self._library_id, self._model.fingerprint(), position, count))
        return count

    def _failure(self, error: WorkerFailed) -> StorageFailed:
        if error.died and not self._closed:
            self._open = False
            self._deaths += 1
        if self._deaths >= _MOST_DEATHS or (not error.died and error.reason != "busy"):
            self._forget()
            self._damaged()
        return StorageFailed(f"Chroma could not answer ({error.reason})", hint=_REBUILD)

    def _stop(self) -> None:
        worker, self._worker, was_open, self._open = self._worker, None, self._open, False
        if worker is None:
            return
        ended_well = worker.stop()
        stamp = self.stamp()
        if was_open and ended_well and stamp is not None:
            with contextlib.suppress(OSError):
                found = checksums(self._data)
                if any(found.get(name) != crc for name, crc in self._at_start.items() if name.endswith(_GRAPH)):
                    # The child only read: the graph it mapped or loaded was changed by somebody else.
                    self._forget()
                    return
                self._verified = found
                write_stamp(self._stamp_path, replace(stamp, files=found))

    def _forget(self) -> None:
        with contextlib.suppress(OSError):
            self._stamp_path.unlink(missing_ok=True)

    def _throw_away(self) -> None:
        self._forget()
        for place in (self._folder.parent, self._folder):
            if place.is_file():  # garbage in place of a folder of ours
                place.unlink()
        if self._data.exists():
            # Aside first: removing may take long or fail, and half a store must not be opened.
            aside = self._folder / f"old-{secrets.token_hex(4)}"
            self._data.rename(aside)
        for path in self._folder.glob("old-*"):
            shutil.rmtree(path, ignore_errors=True)


def _upsert(worker: Worker, batch: dict[ChunkKey, Vector], seconds: float) -> None:
    tail = struct.pack(f"<{len(batch)}Q", *batch) + b"".join(batch.values())
    worker.ask("upsert", {"count": len(batch)}, tail, seconds=seconds)


def _unwritten(error: OSError) -> StorageFailed:
    said = error.strerror or type(error).__name__
    hint = "free some space or check the rights of the data folder; the vectors are safe in the library"
    return StorageFailed(f"the Chroma index could not be written: {said}", hint=hint)
