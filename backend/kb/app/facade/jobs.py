"""`jobs`: long work."""

from __future__ import annotations

from kb.app.wire.jobs import job_to_wire
from kb.contract.jobs import Job, JobRequest, JobsPage, JobsRequest
from kb.domain.errors import NotFound
from kb.domain.jobs import JobId
from kb.jobs.ports import JobControl


class Jobs:
    """Looks at jobs and stops them."""

    def __init__(self, control: JobControl) -> None:
        self._control = control

    def get(self, request: JobRequest) -> Job:
        """Return one job.

        Raises:
            NotFound: there is no such job.
        """
        job = self._control.get(JobId(request.job_id))
        if job is None:
            raise _unknown(request.job_id)
        return job_to_wire(job)

    def recent(self, request: JobsRequest) -> JobsPage:
        """Return the newest jobs."""
        return JobsPage(jobs=tuple(job_to_wire(job) for job in self._control.recent(request.limit)))

    def cancel(self, request: JobRequest) -> Job:
        """Ask a job to stop; what is committed stays.

        Raises:
            NotFound: there is no such job.
        """
        job = self._control.request_cancel(JobId(request.job_id))
        if job is None:
            raise _unknown(request.job_id)
        return job_to_wire(job)


def _unknown(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id[:64]!r}", hint="list them with `kb jobs`")
