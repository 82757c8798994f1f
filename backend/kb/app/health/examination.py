"""`kb doctor` as a whole: look, mend when asked to, look again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from kb.app.bootstrap import Parts
from kb.app.facade.library import Work
from kb.app.health.healing import URGENT
from kb.app.health.library import library_checks
from kb.app.health.surroundings import report_of, surrounding_checks
from kb.app.watching import Followed
from kb.contract.system import Doctor, DoctorCheck, DoctorRequest
from kb.domain.jobs import Job, JobId, JobKind, JobStatus

_GLANCE_S = 0.05


class Examination:
    """Looks at one opened library.

    Args:
        parts: the library.
        work: starts the repair, which runs on the thread of jobs like everything that writes.
        followed: says how the workspace is followed.
    """

    def __init__(self, parts: Parts, work: Work, followed: Callable[[], Followed] = Followed) -> None:
        self._parts = parts
        self._work = work
        self._followed = followed

    def __call__(self, request: DoctorRequest) -> Doctor:
        """Return what was found, after mending when `fix` is asked for."""
        fixed = self._mend(deep=request.deep) if request.fix else {}
        checks = [*surrounding_checks(self._parts.configuration), *library_checks(self._parts, deep=request.deep)]
        checks += following_checks(self._followed())
        mended = [_with(check, fixed.pop(check.name, None)) for check in checks]
        # What was only in the way has no line of its own any more.
        mended += [DoctorCheck(name=name, ok=True, detail="in order", fixed=said) for name, said in fixed.items()]
        return report_of(mended)

    def _mend(self, *, deep: bool) -> dict[str, str]:
        job = self._work.start(JobKind.REPAIR, {"deep": deep, "everything": True}, priority=URGENT)
        found = self._over(job.job_id)
        if found is None or found.status is not JobStatus.SUCCEEDED or found.result is None:
            return {}
        reading = found.result.get("read_again_by")
        if isinstance(reading, str):
            self._over(JobId(reading))
        said = found.result.get("fixed")
        return {str(name): str(text) for name, text in said.items()} if isinstance(said, Mapping) else {}

    def _over(self, job_id: JobId) -> Job | None:
        """Wait for the end of a job; None when nobody knows it."""
        while True:
            found = self._parts.job_control.get(job_id)
            if found is None or found.status.is_final:
                return found
            time.sleep(_GLANCE_S)


def following_checks(followed: Followed) -> list[DoctorCheck]:
    """Say what waits for a person's word, or keeps changes from being told; the files are theirs, so all is well."""
    held = followed.held_back
    if held is not None:
        detail = f"{held.count} of {held.of} files are missing and still shown"
        hint = "connect the drive they lie on, or let them go with `kb ingest --confirm-removals`"
        return [DoctorCheck(name="following", ok=True, detail=detail, hint=hint)]
    if followed.problem:
        return [DoctorCheck(name="following", ok=True, detail=followed.problem)]
    return []


def _with(check: DoctorCheck, fixed: str | None) -> DoctorCheck:
    return check if fixed is None else check.model_copy(update={"fixed": fixed})
