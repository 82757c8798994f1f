"""Jobs that write backups."""

from __future__ import annotations

from kb.app.backup.making import make_backup
from kb.app.bootstrap import Parts
from kb.app.wire.backup import backup_to_wire, result_of
from kb.domain.jobs import Job
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
        )
        return Finished(result_of(backup_to_wire(parts.places.shown(made.file), made.size, made.manifest)))
