"""Jobs that read the workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from kb.app.bootstrap import Parts, now
from kb.app.facade.events import Events
from kb.app.wire.reports import item_to_json, report_to_json
from kb.domain.catalogue import IngestRun
from kb.domain.failures import StorageFailed
from kb.domain.files import Scope
from kb.domain.jobs import Job, JobId
from kb.domain.paths import WorkspacePath
from kb.ingest.pipeline import IngestRun as Run
from kb.ingest.report import IngestReport, Notice
from kb.ingest.run_ports import IngestOptions
from kb.jobs.runner import Finished, JobContext


class IngestHandler:
    """Runs ingest for a job."""

    def __init__(self, parts: Parts, events: Events, take_password: Callable[[JobId], str | None]) -> None:
        self._parts = parts
        self._events = events
        self._take_password = take_password

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Scan, take in, embed; say what was done."""
        settings, configuration = self._parts.settings, self._parts.configuration
        workers = settings.indexing.max_parallel_embeddings or os.cpu_count() or 1
        options = IngestOptions(
            workers=workers,
            keep_versions=settings.storage.kept_versions,
            keep_deleted_days=settings.storage.keep_deleted_days,
            retry=bool(job.payload.get("retry")),
            summary_only=bool(job.payload.get("summary_only")),
            password=self._take_password(job.job_id),
            most_depth=settings.limits.depth,
            most_unpacked=settings.limits.expanded_mb << 20,
        )
        paths = job.payload.get("paths")
        scope = Scope(
            include=settings.workspace.include,
            exclude=settings.workspace.exclude,
            paths=tuple(WorkspacePath(str(path)) for path in paths) if isinstance(paths, list) else (),
        )
        started = now()
        self._parts.settle_recipe(is_whole=False)
        run = Run(self._parts.ingest_ports(), scope, options, report=context.report, should_stop=context.should_stop)
        report = run.run()
        if not scope.paths and not report.canceled:
            self._parts.settle_recipe(is_whole=True)
        report = replace(report, notices=(*report.notices, *self._pending()))
        result = report_to_json(report, configuration.workspace.name)
        self._keep(report, IngestRun(job.job_id, {"paths": paths or []}, started, now()))
        self._trim_log()
        self._parts.artifacts.discard(self._parts.orphans())
        self._events.changed("documents", "items", "index")
        return Finished(result, canceled=report.canceled)

    def _pending(self) -> tuple[Notice, ...]:
        """Say that the settings differ from what serves: nothing of that is done by itself."""
        pending = self._parts.pending
        detail = f"settings changed, rebuild pending: {'; '.join(pending)}"
        return (Notice("rebuild_pending", detail, "run `kb index build`; search goes on meanwhile"),) if pending else ()

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
