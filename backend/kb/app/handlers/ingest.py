"""Jobs that read the workspace."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from kb.app.bootstrap import Parts, now
from kb.app.chunking_state import ChunkingState
from kb.app.facade.events import Events
from kb.app.wire.reports import item_to_json, report_to_json
from kb.domain.catalogue import IngestRun
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.files import Scope
from kb.domain.jobs import Job, JobId, JobKind, JobStatus
from kb.domain.paths import WorkspacePath
from kb.ingest.links import read_links
from kb.ingest.pipeline import IngestRun as Run
from kb.ingest.report import IngestReport, Notice
from kb.ingest.run_ports import IngestOptions
from kb.jobs.runner import Finished, JobContext

_LOST = 100
_LINK_SECONDS = 5.0


class IngestHandler:
    """Runs ingest for a job."""

    def __init__(self, parts: Parts, events: Events, take_password: Callable[[JobId], str | None]) -> None:
        self._parts = parts
        self._events = events
        self._take_password = take_password
        self._running = 0

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Scan, take in, embed; say what was done. Called anew by the runner while a run gives way."""
        self._running += 1
        try:
            return self._run(job, context)
        finally:
            self._running -= 1

    def _run(self, job: Job, context: JobContext) -> Finished:
        settings, configuration = self._parts.settings, self._parts.configuration
        self._parts.look_for_server()
        options = IngestOptions(
            workers=self._parts.embedding_workers,
            keep_versions=settings.storage.kept_versions,
            keep_deleted_days=settings.storage.keep_deleted_days,
            retry=bool(job.payload.get("retry")),
            summary_only=bool(job.payload.get("summary_only")),
            password=self._take_password(job.job_id),
            most_depth=settings.limits.depth,
            most_unpacked=settings.limits.expanded_mb << 20,
            asks=bool(job.payload.get("asks")),
            confirm_removals=bool(job.payload.get("confirm_removals")),
            # What goes before another run leaves to that one what is not of these few files.
            urgent=bool(job.payload.get("urgent")) or (job.priority > 0 and self._running > 1),
        )
        paths = job.payload.get("paths")
        scope = Scope(
            include=settings.workspace.include,
            exclude=settings.workspace.exclude,
            paths=tuple(WorkspacePath(str(path)) for path in paths) if isinstance(paths, list) else (),
            may_be_gone=options.asks,
        )
        started = now()
        self._parts.settle_recipe(is_whole=False)
        run = Run(
            self._parts.ingest_ports(),
            scope,
            options,
            report=context.report,
            should_stop=self._courteous(context),
            give_way=lambda: self._handled(context.give_way()),
            wanted=context.is_wanted,
        )
        report = run.run()
        if not scope.paths and not report.canceled:
            self._parts.settle_recipe(is_whole=True)
        report = replace(report, notices=(*report.notices, *self._pending(looks=not options.urgent)))
        result = report_to_json(report, configuration.workspace.name)
        if not report.canceled and not report.too_many:
            self._parts.compared.ran(report)
        if not options.asks:
            # Runs that nobody asked for would push out of sight the ones that somebody did.
            self._keep(report, IngestRun(job.job_id, {"paths": paths or []}, started, now()))
        if settings.graph.enabled and not report.canceled:
            self._read_links(context)
        if not options.urgent:
            self._trim_log()
            self._parts.discard_orphans()
        if not options.asks or _did_something(report):
            self._events.changed("documents", "items", "index")
        return Finished(result, canceled=report.canceled)

    def _read_links(self, context: JobContext) -> None:
        """Read the links of what is new, for some seconds: of a library that never had any, the rest waits."""
        until = time.monotonic() + _LINK_SECONDS

        def heed() -> None:
            if time.monotonic() >= until or context.should_stop():
                raise Cancelled("later", hint="the next ingest or `kb graph rebuild --missing` goes on")

        with contextlib.suppress(Cancelled):
            read_links(self._parts.links, heed=heed)

    def _pending(self, *, looks: bool) -> tuple[Notice, ...]:
        """Say that the settings differ from what serves: nothing of that is done by itself."""
        pending = self._parts.pending
        detail = f"settings changed, rebuild pending: {'; '.join(pending)}"
        found = [Notice("rebuild_pending", detail, "run `kb index build`; search goes on meanwhile")] if pending else []
        if looks and (waiting := ChunkingState(self._parts).waiting()):
            found.append(Notice("rebuild_pending", waiting, "run `kb chunking rebuild`; search goes on meanwhile"))
        if looks and (lost := self._parts.layers.layers(limit=_LOST, lost=True).entries):
            count = f"{len(lost)} or more" if len(lost) == _LOST else str(len(lost))
            detail = f"{count} changes of passages do not fit their files any more and are kept, but not shown"
            found.append(Notice("edits_lost", detail, "`kb chunks layers --lost` lists them"))
        missing = self._parts.wanted_model_problem if self._parts.model else None
        if missing is not None:
            found.append(Notice("model_missing", f"{missing.message}; the earlier one goes on serving", missing.hint))
        return tuple(found)

    def _handled(self, ran: Sequence[Job]) -> tuple[WorkspacePath, ...] | None:
        """Return the files and folders that jobs took in which ran meanwhile; None when none ran."""
        handled: list[WorkspacePath] = []
        for one in ran:
            job = self._parts.job_control.get(one.job_id)
            paths = job.payload.get("paths") if job is not None and job.kind is JobKind.INGEST else None
            if job is None or job.status is not JobStatus.SUCCEEDED or not isinstance(paths, list):
                continue
            if not (job.result or {}).get("too_many"):
                handled += [WorkspacePath(str(path)) for path in paths]
        return tuple(handled) if ran else None

    def _courteous(self, context: JobContext) -> Callable[[], bool]:
        """Return what a run asks at its safe points: a question in flight goes first."""

        def should_stop() -> bool:
            self._parts.turnstile.let_by()
            return context.should_stop()

        return should_stop

    def _keep(self, report: IngestReport, run: IngestRun) -> None:
        kept = replace(
            run,
            scanned=report.scanned,
            new=report.new,
            updated=report.updated,
            skipped=report.skipped,
            deleted=report.deleted,
            renamed=report.renamed,
            errors=report.errors,
            duration_ms=report.duration_ms,
        )
        self._parts.runs.save(kept, [item_to_json(item) for item in report.items or ()])

    def _trim_log(self) -> None:
        """Forget index work that every index has done; one that is missing keeps nothing back."""
        model = self._parts.model
        try:
            text = self._parts.text_index.position()
            found = [index.position(model) for index in self._parts.vector_indexes] if model else []
        except StorageFailed:
            return
        vectors = [position for position in found if position is not None]
        if text is not None:
            self._parts.log.trim(text, min(vectors, default=0))


def _did_something(report: IngestReport) -> bool:
    return any((report.new, report.updated, report.deleted, report.renamed, report.errors, report.embedded))
