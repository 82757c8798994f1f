"""`index`: the projections of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kb.app.facade.library import Work
from kb.app.wire.jobs import job_to_wire
from kb.app.wire.reports import rebuilt_to_wire
from kb.contract.index import (
    CompactReport,
    CompactRequest,
    IndexCheck,
    IndexReport,
    IndexVerify,
    RebuildRequest,
    VerifyRequest,
)
from kb.contract.jobs import Job, JobRequest
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.jobs import JobId, JobKind
from kb.jobs.ports import JobControl


class Index:
    """Builds projections anew and compares them with the library."""

    def __init__(self, jobs: JobControl, work: Work, verify: Callable[[bool], Sequence[IndexCheck]]) -> None:
        self._jobs = jobs
        self._work = work
        self._verify = verify

    def rebuild(self, request: RebuildRequest) -> Job:
        """Start building projections anew."""
        return job_to_wire(self._work.start(JobKind.REBUILD, {"text": request.text, "vectors": request.vectors}))

    def report(self, request: JobRequest) -> IndexReport:
        """Return what a finished rebuild wrote."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not JobKind.REBUILD:
            raise NotFound(f"there is no rebuild job {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run `kb index rebuild` again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"the rebuild is {job.status.value} and has no report", hint=hint)
        return rebuilt_to_wire(job.result)

    def compact(self, request: CompactRequest) -> Job:
        """Start giving back disk space."""
        del request
        return job_to_wire(self._work.start(JobKind.COMPACT, {}))

    def compacted(self, request: JobRequest) -> CompactReport:
        """Return what a finished `compact` gave back."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind is not JobKind.COMPACT:
            raise NotFound(f"there is no compact job {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run `kb index compact` again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"compacting is {job.status.value} and has no report", hint=hint)
        return CompactReport.model_validate(dict(job.result))

    def verify(self, request: VerifyRequest) -> IndexVerify:
        """Compare the projections with the library."""
        checks = tuple(self._verify(request.deep))
        return IndexVerify(ok=all(check.ok for check in checks), checks=checks)
