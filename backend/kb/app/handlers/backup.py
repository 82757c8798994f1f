"""Jobs that write backups, and that take them in."""

from __future__ import annotations

from pathlib import Path

from kb.app.backup.making import make_backup
from kb.app.backup.merging import merge_backup
from kb.app.bootstrap import Parts, now
from kb.app.facade.events import Events
from kb.app.wire.backup import backup_to_wire, counts_to_wire, result_of
from kb.contract.backup import MergeReport
from kb.domain.jobs import Job, Progress
from kb.ingest.projections import catch_up_text, catch_up_vectors
from kb.jobs.runner import Finished, JobContext


class BackupHandler:
    """Writes a backup for a job, while searches and answers go on."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Write everything into one file; say what it holds."""
        parts = self._parts.backup_parts()
        file = job.payload.get("file")
        made = make_backup(
            parts,
            parts.places.new(file if isinstance(file, str) else None, parts.now()),
            originals=bool(job.payload.get("originals", True)),
            report=context.report,
            should_stop=context.should_stop,
            rest=context.give_way,
        )
        return Finished(result_of(backup_to_wire(parts.places.shown(made.file), made.size, made.manifest)))


class MergeHandler:
    """Takes a backup in for a job; nothing is embedded, as vectors come along."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Take in what is not here, then let the indexes follow."""
        parts, started = self._parts, now()
        embedder = parts.embedder
        already = embedder.passages if embedder else 0
        merging = parts.merge_parts()
        merged = merge_backup(
            merging, Path(str(job.payload["file"])), report=context.report, should_stop=context.should_stop
        )
        context.report(Progress("bringing the indexes up to date", percent=99))
        catch_up_text(parts.log, parts.text_index)
        if parts.model is not None:
            parts.vectors.adopt(parts.model)
            catch_up_vectors(parts.log, parts.vectors, parts.model, parts.vector_indexes)
        self._events.changed("documents", "items", "index", "answers")
        report = MergeReport(
            file=merging.places.shown(merged.file),
            added=counts_to_wire(merged.added),
            same=merged.difference.same,
            kept=merged.difference.kept,
            embedded=(embedder.passages if embedder else 0) - already,
            duration_ms=round((now() - started).total_seconds() * 1000),
        )
        return Finished(result_of(report))
