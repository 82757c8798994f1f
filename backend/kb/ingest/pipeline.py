"""A run over the workspace: scan, take in, commit in batches, embed, clean up.

At every moment what is shown is whole: a document is activated only after the text index has
committed it, so a kill anywhere leaves the earlier versions serving and the rest to the next run.

A long run gives way at its safe points: what is urgent runs in between, and the files it handled are not touched again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property

from kb.domain.embeddings import EmbeddingModel
from kb.domain.files import ScannedFile, ScanProblem, Scope
from kb.domain.items import Item
from kb.domain.jobs import Progress
from kb.domain.paths import WorkspacePath
from kb.domain.recipes import DocumentId
from kb.ingest.batch import Batch
from kb.ingest.begun import Begun, Outcome, has_room
from kb.ingest.embedding import embed_pending
from kb.ingest.giving_way import GivingWay
from kb.ingest.intake import Intake
from kb.ingest.members import Unpacked
from kb.ingest.notices import lags, no_vectors, not_findable, some_refused
from kb.ingest.plan import Change, Plan, make_plan, retrying
from kb.ingest.progress import ProgressMeter
from kb.ingest.projections import catch_up_text, catch_up_vectors, finish_text
from kb.ingest.removals import Missing, said, settle_missing
from kb.ingest.report import IngestReport, Notice, ReportBuilder
from kb.ingest.run_ports import IngestOptions, IngestPorts
from kb.ingest.urgent import MOST_FILES, TextsOf, exact

_GIVEN_BACK_CHARACTERS = 1 << 20
# One disk flush for some files instead of one for each; what a kill may lose is read again by the next run.
_SETTLED_FILES = 32
_SETTLED_CHARACTERS = 1 << 20
_ENTRIES_A_GLANCE = 256
_GLANCE_SECONDS = 0.1


class _Stopped(Exception):
    """The person asked to stop."""


class IngestRun:
    """One run. Not to be used twice.

    Args:
        ports: what it works with.
        scope: what is scanned.
        options: how.
        report: takes progress, at most about ten times a second.
        should_stop: asked between files and between passages.
        give_way: called at safe points: lets what is urgent run, and returns the files and folders that it handled,
            None when nothing ran.
        wanted: whether anybody waits for that; asked often.
        now: a clock in seconds that never goes back.
    """

    def __init__(
        self,
        ports: IngestPorts,
        scope: Scope,
        options: IngestOptions | None = None,
        *,
        report: Callable[[Progress], object] = lambda _progress: None,
        should_stop: Callable[[], bool] = lambda: False,
        give_way: Callable[[], Collection[WorkspacePath] | None] = lambda: None,
        wanted: Callable[[], bool] = lambda: True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ports = ports
        self._scope = scope
        self._options = options or IngestOptions()
        self._meter = ProgressMeter(report, now)
        self._should_stop = should_stop
        self._others = GivingWay(give_way, wanted, now)
        self._now = now
        self._lines = ReportBuilder(collects=not self._options.summary_only)
        self._chunks = 0
        self._gone: list[Item] = []
        self._files = 0
        self._folders: set[str] = set()
        self._own: list[DocumentId] = []
        self._batch = Batch()

    def run(self) -> IngestReport:
        """Do everything and say what was done; a stop ends it early with what is committed.

        Raises:
            NotFound: the workspace or a path of the scope does not exist.
            StorageFailed: the library or the text index cannot be written.
        """
        begun = self._now()
        try:
            if not self._options.urgent:
                self._recover()
            plan = self._plan()
            if self._options.urgent and self._options.asks and len(plan.changes) + len(plan.missing) > MOST_FILES:
                self._lines.too_many = True
                return self._lines.build(self._scope, round((self._now() - begun) * 1000))
            self._take_in(plan)
            self._delete(plan)
            self._embed()
        except _Stopped:
            self._lines.canceled = True
        else:
            if not self._options.urgent:
                self._clean_up()
        return self._lines.build(self._scope, round((self._now() - begun) * 1000))

    def _recover(self) -> None:
        """Finish what a run that was killed had staged."""
        staged = self._ports.documents.staged()
        if staged:
            catch_up_text(self._ports.log, self._ports.text_index)
            self._show(staged)

    def _plan(self) -> Plan:
        self._meter.begin("scan", 0, 1)
        live = self._ports.items.live_items()
        self._files = sum(not item.identity.depth for item in live.values())
        plan = make_plan(
            self._watched(self._ports.files.scan(self._scope)),
            live,
            self._scope,
            is_current=self._ports.maker.is_current,
            retries=self._retries,
            on_unchanged=self._lines.add_unchanged,
        )
        self._forget_handled(plan)
        self._lines.scanned = plan.scanned
        for problem in plan.problems:
            self._lines.add_problem(problem)
        return plan

    def _watched(self, found: Iterator[ScannedFile | ScanProblem]) -> Iterator[ScannedFile | ScanProblem]:
        for number, entry in enumerate(found):
            if number % _ENTRIES_A_GLANCE == 0:
                self._heed_stop()
                self._meter.step(number, 0)
                self._others.give_way()
            if isinstance(entry, ScannedFile):
                self._folders.add(entry.path.rpartition("/")[0])
            yield entry

    def _take_in(self, plan: Plan) -> None:
        ports = self._ports
        self._meter.begin("read", 1, 40 if ports.embedder else 95)
        if plan.respelled:
            ports.items.touch(plan.respelled)
        intake = self._intake(plan)
        self._batch = Batch(self._now())
        unwritten = 0
        try:
            for outcome in self._outcomes(intake, plan.changes, lambda: self._step_aside(intake, plan)):
                self._batch.add(outcome)
                self._count(outcome)
                unwritten += outcome.characters
                if intake.unsettled >= _SETTLED_FILES or unwritten >= _SETTLED_CHARACTERS:
                    self._settle(intake)
                    unwritten = 0
                if self._batch.is_full(self._now()):
                    full, self._batch = self._batch, Batch(self._now())
                    self._commit(intake, full, self._heed_stop, lambda: self._step_aside(intake, plan))
        except _Stopped:
            # What is read is worth its commit: it costs less than the second that a stop may take.
            self._commit(intake, self._batch)
            raise
        self._commit(intake, self._batch, self._heed_stop)

    def _intake(self, plan: Plan) -> Intake:
        ports = self._ports
        return Intake(
            files=ports.files,
            assets=ports.assets,
            items=ports.items,
            documents=ports.documents,
            maker=ports.maker,
            missing=plan.missing,
            model=self._model,
            artifacts=ports.artifacts,
            retries=self._retries,
            members=plan.members,
            password=self._options.password,
            most_depth=self._options.most_depth,
            unpacked=Unpacked(self._options.most_unpacked),
            together=ports.together,
            makers=ports.makers,
        )

    def _outcomes(self, intake: Intake, changes: Sequence[Change], step_aside: Callable[[], bool]) -> Iterator[Outcome]:
        """Yield what becomes of each file, in order, while children are at work on the ones that follow."""
        waiting = deque(changes)
        begun: deque[Begun] = deque()
        done, seen = 0, self._others.times
        try:
            while waiting or begun:
                while waiting and has_room(begun):
                    self._heed_stop()
                    change = waiting.popleft()
                    if self._others.covers(change.file.path):
                        self._lines.scanned -= 1
                        continue
                    begun.append(intake.begin(change))
                step_aside()
                if seen != self._others.times:
                    seen = self._others.times
                    self._drop_handled(intake, begun)
                if not begun:
                    continue
                first = begun[0]
                if self._await(first, done, done + len(begun) + len(waiting), step_aside):
                    continue
                begun.popleft()
                outcome = intake.finish(first)
                done += 1
                self._lines.scanned += len(outcome.members)
                waiting.extendleft(reversed(outcome.members))
                yield outcome
        finally:
            for one in begun:
                one.cancel()

    def _await(self, first: Begun, done: int, total: int, step_aside: Callable[[], bool]) -> bool:
        """Wait until a file can be finished; True when others handled files meanwhile, perhaps this one."""
        path = first.change.file.path
        if first.is_elsewhere:  # all else was asked for a moment ago
            self._heed_stop()
        self._meter.files(done, total)
        self._meter.step(done, total, path)
        while not first.wait(_GLANCE_SECONDS):
            self._heed_stop()
            if step_aside():
                return True
            told = first.progress()
            self._meter.step(done, total, f"{path}: {told}" if told else path)
        return False

    def _step_aside(self, intake: Intake, plan: Plan) -> bool:
        """Write what was taken in, give way, and leave alone what was handled meanwhile."""
        if not self._others.is_due():
            return False
        self._settle(intake)
        if not self._others.give_way():
            return False
        intake.forget_gone()
        self._forget_handled(plan)
        batch = self._batch
        batch.touched = [(item_id, file) for item_id, file in batch.touched if not self._others.covers(file.path)]
        self._keep_staged(batch)
        self._gone = [item for item in self._gone if not self._others.covers(item.path)]
        return True

    def _keep_staged(self, batch: Batch) -> None:
        """Take out what is shown by now, or was replaced: it is no business of this run any more."""
        staged = frozenset(self._ports.documents.staged())
        batch.staged = [doc_id for doc_id in batch.staged if doc_id in staged]

    def _drop_handled(self, intake: Intake, begun: deque[Begun]) -> None:
        kept = [one for one in begun if not self._others.covers(one.change.file.path)]
        for one in begun:
            if self._others.covers(one.change.file.path):
                one.cancel()
                intake.give_up(one)
                self._lines.scanned -= 1
        begun.clear()
        begun.extend(kept)

    def _forget_handled(self, plan: Plan) -> None:
        for path in [path for path in plan.missing if self._others.covers(path)]:
            del plan.missing[path]
        plan.respelled = [(item_id, file) for item_id, file in plan.respelled if not self._others.covers(file.path)]

    def _count(self, outcome: Outcome) -> None:
        self._meter.read(outcome.pages, outcome.sound_seconds)
        if outcome.report:
            self._lines.add(outcome.report)
            self._chunks += outcome.report.chunk_count or 0
        if outcome.staged:
            self._own.append(outcome.staged)
        if outcome.vanished:
            self._gone.append(outcome.vanished)

    def _settle(self, intake: Intake) -> None:
        for item in intake.settle():
            self._lines.add_lost(item)

    def _commit(
        self,
        intake: Intake,
        batch: Batch,
        heed: Callable[[], object] = lambda: None,
        step_aside: Callable[[], bool] = lambda: False,
    ) -> None:
        """Show a batch: the text index first, then the switch to the new versions."""
        self._settle(intake)
        if batch.touched:
            self._ports.items.touch(batch.touched)
        if batch.characters >= _GIVEN_BACK_CHARACTERS:
            self._ports.give_back()
        if batch.staged:
            catch_up_text(self._ports.log, self._ports.text_index, heed)
            if step_aside():
                self._keep_staged(batch)
            self._show(batch.staged)

    def _show(self, staged: Sequence[DocumentId]) -> None:
        """Switch to the new versions that the text index proves to find; the others leave everything as it was."""
        if self._ports.verification is not None:
            for item in self._ports.verification.reject_unfindable(staged):
                self._lines.notices.append(not_findable(item))
        self._ports.documents.activate(staged)

    def _delete(self, plan: Plan) -> None:
        gone = self._really_gone([*plan.missing.values(), *self._gone])
        if gone:
            self._ports.items.delete_items([item.item_id for item in gone])
        for item in gone:
            self._lines.add_deleted(item)
        # Also when nothing is gone: versions that were superseded leave the index, and a lost one is built.
        finish_text(self._ports.log, self._ports.text_index, self._heed_stop, settles=not self._options.urgent)

    def _really_gone(self, missing: list[Item]) -> list[Item]:
        """Return the items to be hidden; those that may only be out of reach are held back, and said."""
        found = Missing(missing, self._files, self._folders, whole=not self._scope.paths)
        options = self._options
        gone, held = settle_missing(
            found, self._ports.ground_store, self._ports.ground_reader, asks=options.asks, sure=options.confirm_removals
        )
        if held:
            self._lines.held_back = held
            self._lines.notices.append(Notice("held_back", *said(held)))
        return gone

    def _embed(self) -> None:
        ports, model = self._ports, self._model
        if ports.embedder is None or model is None:
            self._lines.notices.append(no_vectors(None))
            return
        self._meter.begin("embed", 40, 95)
        own = self._own if self._options.urgent else None
        self._lines.adopted = ports.vectors.adopt(model, own)
        expected = max(self._chunks - self._lines.adopted, 0)

        def on_progress(done: int, known: int) -> None:
            self._meter.step(done, max(known, expected))
            self._others.give_way()

        embedded = embed_pending(
            ports.vectors if own is None else TextsOf(ports.vectors, own),
            ports.embedder,
            self._options.workers,
            should_stop=self._should_stop,
            on_progress=on_progress,
        )
        self._lines.embedded = embedded.made
        self._heed_stop()
        if embedded.unavailable:
            self._lines.notices.append(no_vectors(embedded.unavailable))
        if embedded.refused:
            self._lines.notices.append(some_refused(embedded.refused))
        self._meter.begin("index", 95, 99)
        indexes = ports.vector_indexes if own is None else exact(ports.vector_indexes)
        for lagging in catch_up_vectors(ports.log, ports.vectors, model, indexes, self._between_indexes):
            self._lines.notices.append(lags(lagging))

    def _between_indexes(self) -> None:
        self._heed_stop()
        self._others.give_way()

    def _clean_up(self) -> None:
        options, ports = self._options, self._ports
        unused = ports.documents.purge(options.keep_versions, options.keep_deleted_days)
        if ports.work_off is None:
            ports.assets.discard(unused)
        else:
            ports.work_off()

    def _heed_stop(self) -> None:
        if self._should_stop():
            raise _Stopped

    @cached_property
    def _retries(self) -> Callable[[Item], bool]:
        if self._options.retry or self._options.password is not None:
            return retrying(self._ports.documents.unread())
        # What shows nothing has nothing to lose: another parser may do better.
        is_latest = self._ports.maker.is_latest
        return lambda item: item.active_doc_id is None and item.checksum is not None and not is_latest(item.fingerprint)

    @property
    def _model(self) -> EmbeddingModel | None:
        return self._ports.embedder.model if self._ports.embedder else None
