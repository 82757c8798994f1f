"""Looking at jobs and steering them."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.job_rows import JOB_COLUMNS, job_of, one_job
from kb.adapters.sqlite.jobs import add_job
from kb.adapters.sqlite.json_text import now_text
from kb.domain.errors import Conflict
from kb.domain.ids import canonical_json
from kb.domain.jobs import Job, JobId, JobStatus

_REFUSED = {
    JobStatus.PENDING: "the job is still pending",
    JobStatus.RUNNING: "the job is still running",
    JobStatus.SUCCEEDED: "the job has succeeded",
}


class SqliteJobControl:
    """Wraps the library file: looking at jobs and steering them."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def get(self, job_id: JobId) -> Job | None:
        """Return a job."""
        row = self._library.row(f"SELECT {JOB_COLUMNS} FROM jobs WHERE job_id = ?", (job_id,))
        return job_of(row) if row else None

    def recent(self, limit: int) -> list[Job]:
        """Return the newest jobs first."""
        rows = self._library.rows(
            f"SELECT {JOB_COLUMNS} FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT ?",
            (limit,),
        )
        return [job_of(row) for row in rows]

    def request_cancel(self, job_id: JobId) -> Job | None:
        """Ask a live job to stop: a pending one is canceled at once."""
        return self._change(
            job_id,
            "cancel_requested = 1, finished_at = CASE status WHEN 'pending' THEN ?1 END,"
            " status = CASE status WHEN 'pending' THEN 'canceled' ELSE status END",
        )

    def pause(self, job_id: JobId) -> Job | None:
        """Let a live job rest at its next safe point, or not begin, until it is resumed."""
        return self._change(job_id, "rest = 'asked'")

    def resume(self, job_id: JobId) -> Job | None:
        """Let a job go on that rests."""
        return self._change(job_id, "rest = NULL")

    def retry(self, job_id: JobId) -> Job | None:
        """Add a failed or canceled job anew, as another job; one that waits for its next attempt is tried now.

        The row of the first stays as it ended.

        Raises:
            Conflict: it is under way, it succeeded, or other work of its kind is under way.
        """
        with self._library.transaction() as connection:
            job = one_job(connection, "job_id = ?", (job_id,))
            if job is None:
                return None
            if job.not_before is not None and job.status is JobStatus.PENDING:
                connection.execute("UPDATE jobs SET not_before = NULL WHERE job_id = ?", (job_id,))
                return one_job(connection, "job_id = ?", (job_id,))
            if job.status not in {JobStatus.FAILED, JobStatus.CANCELED}:
                raise Conflict(_REFUSED[job.status], hint="only what failed or was canceled is tried anew")
            text = canonical_json(job.payload).decode()
            levels = (job.priority, job.most_attempts)
            return add_job(connection, job.kind, text, subject=job.subject, levels=levels, retry_of=job_id)

    def _change(self, job_id: JobId, changes: str) -> Job | None:
        with self._library.transaction() as connection:
            connection.execute(
                f"UPDATE jobs SET updated_at = ?1, {changes} WHERE job_id = ?2 AND status IN ('pending','running')",
                (now_text(), job_id),
            )
            return one_job(connection, "job_id = ?", (job_id,))
