"""Items made anew, one after the other: each is replaced whole or stays as it was.

An item is read from its file while that has the bytes its shown document was made of, else from the kept copy. It is
staged, put into the indexes, found there, given vectors, and only then shown; a stop leaves those replaced until then.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import CannotRun, Unreadable
from kb.domain.failures import Cancelled
from kb.domain.files import FileBytes, ScannedFile
from kb.domain.generations import ShownItem
from kb.domain.jobs import Progress
from kb.domain.recipes import DocumentId
from kb.ingest.embedding import embed_pending
from kb.ingest.makers import ItemMakers
from kb.ingest.making import MadeDocument
from kb.ingest.progress import ProgressMeter
from kb.ingest.projections import catch_up_text, catch_up_vectors, finish_text
from kb.ingest.reasons import UNEXPECTED, with_hint
from kb.ingest.run_ports import IngestPorts
from kb.ingest.urgent import TextsOf, exact

_GLANCE_S = 0.1
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReprocessPorts:
    """What a run works with.

    Attributes:
        ingest: as a run over the workspace does.
        makers: cuts items as is wanted of them now.
        copies: the kept bytes of an item's shown document, None where no copy is kept.
        forget_built: lets generations that do not serve make an item anew.
    """

    ingest: IngestPorts
    makers: ItemMakers
    copies: Callable[[ShownItem], FileBytes | None]
    forget_built: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class NotReplaced:
    """An item that stays as it was: a stable word, and a sentence."""

    shown: ShownItem
    reason: str
    message: str


@dataclass(slots=True)
class Reprocessed:
    """What a run did; `embedded` counts runs of the model, `passages` what the replaced items consist of."""

    replaced: int = 0
    passages: int = 0
    embedded: int = 0
    failed: list[NotReplaced] = field(default_factory=list)
    lagging: list[str] = field(default_factory=list)
    canceled: bool = False


class ReprocessRun:
    """One run. Not to be used twice.

    Args:
        ports: what it works with.
        workers: passages embedded at once.
        report: takes progress.
        should_stop: asked between items and while one is read.
        give_way: called between items: lets what is urgent run.
        now: a clock in seconds that never goes back.
    """

    def __init__(
        self,
        ports: ReprocessPorts,
        *,
        workers: int = 1,
        report: Callable[[Progress], object] = lambda _progress: None,
        should_stop: Callable[[], bool] = lambda: False,
        give_way: Callable[[], object] = lambda: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ports = ports
        self._ingest = ports.ingest
        self._workers = workers
        self._meter = ProgressMeter(report, now)
        self._should_stop = should_stop
        self._give_way = give_way
        self._done = Reprocessed()

    def run(self, count: int, items: Callable[[int], ShownItem | None]) -> Reprocessed:
        """Make items anew.

        Args:
            count: how many.
            items: gives each as it is when its turn comes; None when it is gone by then.

        Raises:
            ModelUnavailable: the model cannot be loaded or run; those replaced stay.
            StorageFailed: the library or the text index cannot be written.
        """
        self._meter.begin("read", 0, 95)
        try:
            for number in range(count):
                self._heed()
                self._give_way()
                shown = items(number)
                self._meter.step(number, count, shown.item.path if shown else "")
                if shown is not None:
                    self._one(shown)
        except Cancelled:
            self._done.canceled = True
        self._meter.begin("index", 95, 99)
        ports, model = self._ingest, self._model
        finish_text(ports.log, ports.text_index)
        if model is not None:
            lagging = catch_up_vectors(ports.log, ports.vectors, model, ports.vector_indexes)
            self._done.lagging += [one.name for one in lagging]
        return self._done

    def _one(self, shown: ShownItem) -> None:
        try:
            self._replace(shown)
        except Unreadable as error:
            self._done.failed.append(NotReplaced(shown, error.reason, with_hint(error)))
        except (CannotRun, Cancelled):
            raise
        except Exception:  # noqa: BLE001
            # What one file stumbles over costs that file only.
            _log.exception("%s could not be made anew", shown.item.path)
            self._done.failed.append(NotReplaced(shown, "internal", UNEXPECTED))

    def _replace(self, shown: ShownItem) -> None:
        made, fingerprint = self._made(shown)
        ports, doc_id = self._ingest, made.document.doc_id
        if ports.artifacts is not None:
            ports.artifacts.keep(doc_id, made.pages, made.transcript)
            ports.artifacts.settle()
        item = replace(shown.item, fingerprint=fingerprint)
        with ports.together():
            ports.documents.stage(item, shown.asset, made.document, made.chunks, self._model)
            self._ports.forget_built(item.item_id)
        catch_up_text(ports.log, ports.text_index)
        if ports.verification is not None and ports.verification.reject_unfindable([doc_id]):
            raise Unreadable("the text index does not find it", reason="not_findable", hint="run `kb doctor`")
        self._embed(doc_id)
        ports.documents.activate([doc_id])
        self._done.replaced += 1
        self._done.passages += sum(chunk.role.value != "parent" for chunk in made.chunks)

    def _made(self, shown: ShownItem) -> tuple[MadeDocument, str]:
        """Return the document and its fingerprint.

        Raises:
            Unreadable: it cannot be made.
        """
        content = self._bytes(shown)
        path = shown.item.path
        media_type = self._ingest.files.media_type(path, content.data)
        maker = self._ports.makers.of(shown.item, media_type)
        fingerprint = maker.fingerprint(media_type)
        if fingerprint is None:
            raise Unreadable("such files are not read by this version", reason="unsupported")
        making = maker.begin(path, content, media_type)
        try:
            while not making.wait(_GLANCE_S):
                self._heed()
        except Cancelled:
            making.cancel()
            raise
        made = making.finish()
        if not made.chunks:
            raise Unreadable("it gives no text any more", reason="empty")
        return made, fingerprint

    def _bytes(self, shown: ShownItem) -> FileBytes:
        item = shown.item
        if item.checksum == shown.asset.checksum and not item.identity.depth:
            try:
                content = self._ingest.files.read(ScannedFile(item.path, item.disk_name, item.identity))
            except Unreadable:
                content = None
            if content is not None and content.checksum == shown.asset.checksum:
                return content
        copy = self._ports.copies(shown) if item.checksum == shown.asset.checksum else None
        if copy is None:
            raise Unreadable(
                "the file has changed or is gone, and no copy of it is kept",
                reason="changed",
                hint="run `kb ingest`, then rebuild it",
            )
        return copy

    def _embed(self, doc_id: DocumentId) -> None:
        ports, model = self._ingest, self._model
        if ports.embedder is None or model is None:
            return
        ports.vectors.adopt(model, [doc_id])
        embedded = embed_pending(
            TextsOf(ports.vectors, [doc_id]),
            ports.embedder,
            self._workers,
            should_stop=lambda: False,
            on_progress=lambda _done, _known: None,
        )
        self._done.embedded += embedded.made
        if embedded.unavailable:
            if ports.verification is not None:
                ports.verification.staged.reject({doc_id: f"not_embedded: {embedded.unavailable.message}"})
            raise embedded.unavailable
        catch_up_vectors(ports.log, ports.vectors, model, exact(ports.vector_indexes))

    def _heed(self) -> None:
        if self._should_stop():
            raise Cancelled("the rebuild was stopped")

    @property
    def _model(self) -> EmbeddingModel | None:
        return self._ingest.embedder.model if self._ingest.embedder else None


def in_turn(find: Callable[[str], ShownItem | None], item_ids: Sequence[str]) -> Callable[[int], ShownItem | None]:
    """Return what gives each of some items when its turn comes."""
    return lambda number: find(item_ids[number])
