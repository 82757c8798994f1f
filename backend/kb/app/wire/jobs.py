"""Jobs on the wire."""

from __future__ import annotations

from kb.contract import jobs as wire
from kb.domain.jobs import Job


def job_to_wire(job: Job) -> wire.Job:
    """Return a job as `job.v1`."""
    error = wire.JobError(code=job.error_code, message=job.error_message or "") if job.error_code else None
    progress = job.progress
    return wire.Job(
        id=job.job_id,
        kind=job.kind.value,
        status=job.status.value,
        progress=wire.JobProgress(
            stage=progress.stage,
            done=progress.done,
            total=progress.total,
            percent=progress.percent,
            note=progress.note,
        ),
        attempts=job.attempts,
        error=error,
        created_at=job.created_at,
        updated_at=job.updated_at,
        finished_at=job.finished_at,
    )
