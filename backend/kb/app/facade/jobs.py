"""`jobs`: long work."""

from __future__ import annotations

from collections.abc import Callable

from kb.app.wire.jobs import job_to_wire
from kb.contract.jobs import Job, JobRequest, JobsPage, JobsRequest
from kb.domain.errors import NotFound
from kb.domain.jobs import Job as StoredJob
from kb.domain.jobs import JobId
from kb.jobs.ports import JobControl


class Jobs:
    """Looks at jobs and steers them.

    Args:
        control: the queue.
        steered: told of a job that was steered, so that who works hears of it at once.
    """

    def __init__(self, control: JobControl, steered: Callable[[StoredJob], object]) -> None:
        self._control = control
        self._steered = steered

    def get(self, request: JobRequest) -> Job:
        """Return one job.

        Raises:
            NotFound: there is no such job.
        """
        return job_to_wire(_known(request, self._control.get(JobId(request.job_id))))

    def recent(self, request: JobsRequest) -> JobsPage:
        """Return the newest jobs."""
        return JobsPage(jobs=tuple(job_to_wire(job) for job in self._control.recent(request.limit)))

    def cancel(self, request: JobRequest) -> Job:
        """Ask a job to stop; what is committed stays.

        Raises:
            NotFound: there is no such job.
        """
        return self._steer(request, self._control.request_cancel)

    def pause(self, request: JobRequest) -> Job:
        """Let a job rest at its next safe point, until it is resumed.

        Raises:
            NotFound: there is no such job.
        """
        return self._steer(request, self._control.pause)

    def resume(self, request: JobRequest) -> Job:
        """Let a paused job go on.

        Raises:
            NotFound: there is no such job.
        """
        return self._steer(request, self._control.resume)

    def retry(self, request: JobRequest) -> Job:
        """Start a job that failed or was canceled anew, as another job.

        Raises:
            NotFound: there is no such job.
            Conflict: it is under way, it succeeded, or other work of its kind is under way.
        """
        return self._steer(request, self._control.retry)

    def _steer(self, request: JobRequest, how: Callable[[JobId], StoredJob | None]) -> Job:
        job = _known(request, how(JobId(request.job_id)))
        self._steered(job)
        return job_to_wire(job)


def _known(request: JobRequest, job: StoredJob | None) -> StoredJob:
    if job is None:
        raise NotFound(f"there is no job {request.job_id[:64]!r}", hint="list them with `kb jobs`")
    return job
