"""Long work: the handlers of jobs, and the runner that is started when the first job comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace

from kb.app.bootstrap import Parts, now
from kb.app.facade.events import Events
from kb.app.wire.jobs import job_to_wire
from kb.app.wire.reports import item_to_json, report_to_json
from kb.domain.catalogue import IngestRun
from kb.domain.errors import KebabError
from kb.domain.failures import StorageFailed
from kb.domain.files import Scope
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobId, JobKind, Progress
from kb.domain.paths import WorkspacePath
from kb.ingest.pipeline import IngestOptions
from kb.ingest.pipeline import IngestRun as Run
from kb.ingest.projections import rebuild
from kb.ingest.report import IngestReport
from kb.jobs.runner import Finished, JobContext, JobRunner


class JobDesk:
    """Takes jobs and runs them on one thread."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events
        self._runner = JobRunner(
            parts.job_store,
            parts.job_control,
            {JobKind.INGEST: self._ingest, JobKind.REBUILD: self._rebuild},
            listener=self._listen,
            ended=self._tell_end,
        )
        self._running = False
        # In memory alone: a job that is taken up again after a crash runs without.
        self._passwords: dict[JobId, str] = {}
        self._passwords_lock = threading.Lock()

    def start(self, kind: JobKind, payload: Mapping[str, Json], *, password: str | None = None) -> Job:
        """Add a job and wake the runner; `password` is for this job and kept nowhere."""
        with self._passwords_lock:  # the runner may take the job before this thread goes on
            job = self._parts.job_store.enqueue(kind, payload)
            if password is not None:
                self._passwords[job.job_id] = password
        self.begin()
        self._runner.wake()
        return job

    def begin(self) -> None:
        """Start the thread, which first puts back what a dead process left; twice is once."""
        if not self._running:
            self._running = True
            self._runner.start()

    def close(self) -> None:
        """Stop; a running job goes on at the next start."""
        if self._running:
            self._runner.stop()
            self._running = False

    def _listen(self, job: Job, progress: Progress) -> None:
        self._events.progress(job_to_wire(replace(job, progress=progress)))

    def _tell_end(self, job_id: JobId) -> None:
        with self._passwords_lock:
            self._passwords.pop(job_id, None)
        job = self._parts.job_control.get(job_id)
        if job is not None:
            self._events.progress(job_to_wire(job))
        self._events.changed("jobs")

    def _ingest(self, job: Job, context: JobContext) -> Finished:
        settings, configuration = self._parts.settings, self._parts.configuration
        with self._passwords_lock:
            password = self._passwords.pop(job.job_id, None)
        workers = settings.indexing.max_parallel_embeddings or os.cpu_count() or 1
        options = IngestOptions(
            workers=workers,
            keep_versions=settings.storage.kept_versions,
            retry=bool(job.payload.get("retry")),
            summary_only=bool(job.payload.get("summary_only")),
            password=password,
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
        run = Run(self._parts.ingest_ports(), scope, options, report=context.report, should_stop=context.should_stop)
        report = run.run()
        result = report_to_json(report, configuration.workspace.name)
        self._keep(report, IngestRun(job.job_id, {"paths": paths or []}, started, now()))
        self._trim_log()
        self._parts.artifacts.discard(self._parts.orphans())
        self._events.changed("documents", "items", "index")
        return Finished(result, canceled=report.canceled)

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

    def _rebuild(self, job: Job, context: JobContext) -> Finished:
        parts = self._parts
        wants_text, wants_vectors = bool(job.payload.get("text")), bool(job.payload.get("vectors"))
        context.report(Progress("rebuilding the indexes"))
        started = now()
        embedder = parts.embedder
        rebuilt = rebuild(
            parts.log,
            parts.vectors,
            parts.model if wants_vectors else None,
            parts.text_index if wants_text else None,
            parts.vector_indexes if wants_vectors else (),
            embeddings_made=lambda: embedder.passages if embedder else 0,
        )
        if rebuilt.lagging:
            first = rebuilt.lagging[0]
            raise _failed(first.name, first.error)
        self._events.changed("index")
        result: dict[str, Json] = {
            "text_entries": rebuilt.text_entries,
            "vectors": max(rebuilt.vectors.values(), default=0) if wants_vectors else None,
            "embedded": rebuilt.embeddings_made,
            "duration_ms": round((now() - started).total_seconds() * 1000),
            "vector_engines": dict(rebuilt.vectors) if wants_vectors else None,
        }
        return Finished(result)


def _failed(name: str, error: KebabError) -> StorageFailed:
    return StorageFailed(f"the {name} index could not be built: {error.message}", hint=error.hint)
