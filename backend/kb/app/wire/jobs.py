"""Jobs on the wire."""

from __future__ import annotations

from kb.contract import jobs as wire
from kb.domain.jobs import Job, JobStatus


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
            files=progress.files,
            files_total=progress.files_total,
            pages=progress.pages,
            sound_seconds=progress.sound_seconds,
            rate=progress.rate,
            seconds_left=progress.seconds_left,
        ),
        attempts=job.attempts,
        error=error,
        created_at=job.created_at,
        updated_at=job.updated_at,
        finished_at=job.finished_at,
        paused=job.rest is not None,
        dead=job.dead,
        most_attempts=job.most_attempts,
        next_attempt_at=job.not_before if job.status is JobStatus.PENDING else None,
        pause_reason=job.rest.value if job.rest else None,
        retry_of=job.retry_of,
        subject=job.subject,
    )
