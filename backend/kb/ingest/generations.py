"""A generation made beside the serving one: read anew what its recipe makes otherwise, embed, index, check.

Everything is kept as it is made, in small transactions, and nothing of it can be seen: a kill loses a batch, and the
next call goes on. What changes meanwhile is caught up before the end.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from kb.domain.chunks import Chunk
from kb.domain.documents import CanonicalDocument
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.errors import CannotRun, Unreadable
from kb.domain.failures import Cancelled, ModelUnavailable, StorageFailed
from kb.domain.files import FileBytes, ScannedFile
from kb.domain.generations import Generation, GenerationCounts, GenerationId, ShownItem
from kb.domain.index import TextSnapshot, VectorSnapshot
from kb.domain.items import Item
from kb.domain.jobs import Progress
from kb.domain.recipes import ItemId
from kb.ingest.embedding import embed_pending
from kb.ingest.library_ports import PendingText, TextIndexWriter, VectorIndexWriter, VectorStore
from kb.ingest.makers import DocumentMaker, ItemMakers
from kb.ingest.making import MadeDocument, Making
from kb.ingest.ports import ArtifactStore, FileSource, PassageEmbedder
from kb.ingest.progress import ProgressMeter
from kb.ingest.verifying import require_entries

_AHEAD = 8
_BYTES_AHEAD = 64 << 20
_STAGED_AT_ONCE = 16
_TAKEN_AT_ONCE = 500
_GLANCE_S = 0.1
_ROUNDS = 20
_log = logging.getLogger(__name__)


class GenerationBuild(Protocol):
    """A generation in the library, while it is made. Each writing method is one transaction."""

    def outdated(self, generation: GenerationId) -> Sequence[ShownItem]:
        """Return, by path, what is shown and not in the generation yet, or with other bytes."""

    def take_over(self, generation: GenerationId, items: Sequence[ItemId], *, whole: bool = True) -> None:
        """Let the generation hold what these items show; not `whole` marks what should have been made anew."""

    def stage(
        self,
        generation: GenerationId,
        shown: ShownItem,
        document: CanonicalDocument,
        chunks: Sequence[Chunk],
        fingerprint: str,
    ) -> None:
        """Write a document and its chunks for the generation alone."""

    def pending(self, generation: GenerationId, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        """Return texts of the generation without a vector of `model`, each once, shortest first."""

    def text_snapshot(self, generation: GenerationId) -> TextSnapshot:
        """Return all entries the text index of the generation should hold."""

    def vector_snapshot(self, generation: GenerationId, model: EmbeddingModel) -> VectorSnapshot:
        """Return all vectors an index of the generation should hold."""

    def positions(self) -> tuple[int, int]:
        """Return the newest positions of the text and the vector log."""


@dataclass(frozen=True, slots=True)
class GenerationPorts:
    """Everything a build works with.

    Attributes:
        copies: the kept bytes of an item's shown document, None where no copy is kept.
        maker: makes documents by the recipe of the generation; what it calls current is taken over as it is.
        embedder: None leaves the passages without vectors.
        counts: how much of the generation is made.
        text_index: the generation's own; so are `vector_indexes`, the exact one first.
        together: what the library writes inside is one transaction.
        makers: which maker cuts an item; None when all are cut by `maker`.
    """

    files: FileSource
    copies: Callable[[ShownItem], FileBytes | None]
    maker: DocumentMaker
    build: GenerationBuild
    vectors: VectorStore
    counts: Callable[[], GenerationCounts]
    text_index: TextIndexWriter
    vector_indexes: Sequence[VectorIndexWriter] = ()
    embedder: PassageEmbedder | None = None
    artifacts: ArtifactStore | None = None
    together: Callable[[], AbstractContextManager[object]] = nullcontext
    give_back: Callable[[], object] = lambda: None
    makers: ItemMakers | None = None

    def maker_of(self, item: Item) -> DocumentMaker:
        """Return what makes the document of an item."""
        return self.maker if self.makers is None else self.makers.of(item, None)


@dataclass(slots=True)
class Made:
    """What one call did; `counts` is how the generation stands after it.

    Attributes:
        read: documents made anew.
        embedded: texts that were given a vector.
        refused: texts the model could not take.
        lagging: indexes that could not be made, and why; search goes on without them.
    """

    counts: GenerationCounts
    read: int = 0
    embedded: int = 0
    refused: int = 0
    lagging: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Begun:
    shown: ShownItem
    content: FileBytes
    making: Making
    fingerprint: str


_Write = tuple[ShownItem, MadeDocument | None, Callable[[], None]]


class BringUp:
    """Makes what a generation lacks. Not to be used twice.

    Args:
        ports: what it works with.
        generation: which one.
        workers: passages embedded at once.
        report: takes progress.
        should_stop: asked between files and passages.
        give_way: called where other work may go first; what that changes is caught up.
        now: a clock in seconds that never goes back.
    """

    def __init__(
        self,
        ports: GenerationPorts,
        generation: Generation,
        *,
        workers: int = 1,
        report: Callable[[Progress], object] = lambda _progress: None,
        should_stop: Callable[[], bool] = lambda: False,
        give_way: Callable[[], object] = lambda: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ports = ports
        self._generation = generation
        self._id = generation.generation_id
        self._workers = workers
        self._meter = ProgressMeter(report, now)
        self._should_stop = should_stop
        self._give_way = give_way
        self._made = Made(GenerationCounts(0, 0, 0, 0, 0, 0))
        self._must_index = generation.ready_at is None

    def run(self) -> Made:
        """Bring documents, vectors and indexes to what the library shows now.

        Raises:
            Cancelled: it was asked to stop; what is made is kept.
            ModelUnavailable: the model cannot be loaded or run.
            StorageFailed: the library or the text index cannot be written, or an index does not hold what it should.
        """
        for _ in range(_ROUNDS):
            self._documents()
            self._texts()
            if self._ports.build.outdated(self._id):
                continue
            self._made.counts = self._ports.counts()
            self._indexes()
            if not self._ports.build.outdated(self._id):
                return self._made
        raise StorageFailed(
            "the workspace changes faster than the generation can follow",
            hint="try again when fewer files change",
        )

    def _documents(self) -> None:
        outdated = self._ports.build.outdated(self._id)
        if not outdated:
            return
        self._must_index = True
        self._meter.begin("read", 0, 30 if self._ports.embedder else 90)
        same = [one for one in outdated if self._ports.maker_of(one.item).is_current(one.item.fingerprint)]
        for start in range(0, len(same), _TAKEN_AT_ONCE):
            self._heed()
            part = same[start : start + _TAKEN_AT_ONCE]
            self._ports.build.take_over(self._id, [one.item.item_id for one in part])
            self._meter.step(start + len(part), len(outdated))
        taken = {one.item.item_id for one in same}
        others = [one for one in outdated if one.item.item_id not in taken]
        self._read(others, len(same), len(outdated))

    def _read(self, others: Sequence[ShownItem], done: int, total: int) -> None:
        batch: list[_Write] = []
        for number, write in enumerate(self._written(others), done + 1):
            batch.append(write)
            self._meter.step(number, total, write[0].item.path)
            if len(batch) >= _STAGED_AT_ONCE:
                self._settle(batch)
                self._give_way()
        self._settle(batch)
        self._ports.give_back()

    def _written(self, others: Iterable[ShownItem]) -> Iterator[_Write]:
        """Yield what is to be written for each item, in order, while children are at work on the next ones."""
        waiting = deque(others)
        begun: deque[_Begun | ShownItem] = deque()
        try:
            while waiting or begun:
                while waiting and _has_room(begun):
                    self._heed()
                    begun.append(self._begin(waiting.popleft()))
                first = begun.popleft()
                yield self._finished(first) if isinstance(first, _Begun) else (first, None, self._kept(first))
        finally:
            for one in begun:
                if isinstance(one, _Begun):
                    one.making.cancel()

    def _begin(self, shown: ShownItem) -> _Begun | ShownItem:
        """Start making a document anew; the item itself where that cannot be done."""
        try:
            content = self._bytes(shown)
        except Unreadable as error:
            _log.warning("%s stays as it was: %s", shown.item.path, error.message)
            return shown
        media_type = self._ports.files.media_type(shown.item.path, content.data)
        maker = self._ports.maker_of(shown.item)
        fingerprint = maker.fingerprint(media_type)
        if fingerprint is None:
            return shown
        making = maker.begin(shown.item.path, content, media_type)
        return _Begun(shown, content.without_data(), making, fingerprint)

    def _bytes(self, shown: ShownItem) -> FileBytes:
        """Return the bytes the shown document was made of: the file's while it has them, else the copy's."""
        item = shown.item
        if not item.identity.depth:
            try:
                content = self._ports.files.read(ScannedFile(item.path, item.disk_name, item.identity))
            except Unreadable:
                content = None
            if content is not None and content.checksum == shown.asset.checksum:
                return content
        copy = self._ports.copies(shown)
        if copy is None:
            raise Unreadable(f"no copy of {item.path} is kept, and the file has changed", reason="changed")
        return copy

    def _finished(self, begun: _Begun) -> _Write:
        shown, ports = begun.shown, self._ports
        try:
            while not begun.making.wait(_GLANCE_S):
                self._heed()
            made = begun.making.finish()
        except Unreadable as error:
            _log.warning("%s stays as it was: %s", shown.item.path, error.message)
            return shown, None, self._kept(shown)
        except CannotRun:
            begun.making.cancel()
            raise
        except Exception:  # noqa: BLE001
            # A parser that stumbles over one file costs that file only.
            _log.exception("%s could not be parsed", shown.item.path)
            return shown, None, self._kept(shown)
        if not made.chunks:
            return shown, None, self._kept(shown)
        self._made.read += 1
        return shown, made, lambda: ports.build.stage(self._id, shown, made.document, made.chunks, begun.fingerprint)

    def _kept(self, shown: ShownItem) -> Callable[[], None]:
        return lambda: self._ports.build.take_over(self._id, [shown.item.item_id], whole=False)

    def _settle(self, batch: list[_Write]) -> None:
        """Write what was made. Artifacts only now: what lets urgent work go first may remove those of no document."""
        artifacts = self._ports.artifacts
        if artifacts is not None:
            for _, made, _ in batch:
                if made is not None:
                    artifacts.keep(made.document.doc_id, made.pages, made.transcript)
            artifacts.settle()
        with self._ports.together():
            for _, _, write in batch:
                write()
        batch.clear()

    def _texts(self) -> None:
        """Give every text of the generation a vector, once for all passages that say the same."""
        embedder = self._ports.embedder
        if embedder is None:
            return
        self._heed()
        self._meter.begin("embed", 30, 90)
        expected = self._ports.counts()
        missing = expected.distinct_texts - expected.vectors
        embedded = embed_pending(
            _Texts(self._ports.build, self._ports.vectors, self._id),
            embedder,
            self._workers,
            should_stop=self._gives_way,
            on_progress=lambda done, known: self._meter.step(done, max(known, missing)),
        )
        self._made.embedded += embedded.made
        self._made.refused = embedded.refused
        if embedded.made:
            self._must_index = True
        self._heed()
        if embedded.unavailable:
            raise embedded.unavailable
        if embedded.refused and not embedded.made and not expected.vectors:
            raise ModelUnavailable(
                f"the model {embedder.model.id} could not embed a single text",
                hint="`kb doctor` checks its files; the log says what went wrong",
            )

    def _indexes(self) -> None:
        """Make the indexes, unless they hold all this already; each must take in as much as it is given."""
        self._meter.begin("index", 90, 99)
        self._should_stop_now()
        ports = self._ports
        text, vector = ports.build.positions()
        if self._must_index or ports.text_index.position() != text:
            written = ports.text_index.rebuild(ports.build.text_snapshot(self._id))
            require_entries("text", written, self._made.counts.passages)
        model = ports.embedder.model if ports.embedder else None
        self._made.lagging.clear()
        for number, index in enumerate(ports.vector_indexes if model else ()):
            self._should_stop_now()
            try:
                if model is not None and (self._must_index or (index.position(model) or -1) < vector):
                    snapshot = ports.build.vector_snapshot(self._id, model)
                    require_entries(index.name, index.rebuild(model, snapshot), snapshot.count)
            except StorageFailed as error:
                if not number:  # without the exact one there is no search by meaning
                    raise
                _log.warning("vector index %s could not be made: %s", index.name, error)
                self._made.lagging.append(index.name)

    def _gives_way(self) -> bool:
        if self._should_stop():
            return True
        self._give_way()
        return False

    def _heed(self) -> None:
        self._should_stop_now()
        self._give_way()

    def _should_stop_now(self) -> None:
        if self._should_stop():
            raise Cancelled("the build was stopped", hint="`kb index build` goes on where it was")


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of one generation, as what embeds pending texts sees them."""

    build: GenerationBuild
    vectors: VectorStore
    generation: GenerationId

    def pending(self, model: EmbeddingModel, limit: int) -> Sequence[PendingText]:
        """Return texts without a vector."""
        return self.build.pending(self.generation, model, limit)

    def save(self, model: EmbeddingModel, vectors: Sequence[tuple[PendingText, Vector]]) -> None:
        """Keep vectors."""
        self.vectors.save(model, vectors)


def _has_room(begun: deque[_Begun | ShownItem]) -> bool:
    """Return whether one more file may be begun: what is parsed here gains nothing from being read ahead."""
    if not begun:
        return True
    last = begun[-1]
    is_elsewhere = isinstance(last, ShownItem) or last.making.is_elsewhere
    return is_elsewhere and len(begun) < _AHEAD and sum(_held(one) for one in begun) < _BYTES_AHEAD


def _held(one: _Begun | ShownItem) -> int:
    return one.content.size if isinstance(one, _Begun) else 0
