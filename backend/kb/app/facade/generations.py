"""`generations`: built beside the serving one, compared, switched to and gone back from."""

from __future__ import annotations

from typing import Protocol

from kb.app.facade.library import Work
from kb.app.wire.jobs import job_to_wire
from kb.contract.base import Empty
from kb.contract.generations import BuildRequest, GenerationReport, GenerationRequest, Generations, SwitchRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.replay import GenerationPreview
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.jobs import JobId, JobKind
from kb.jobs.ports import JobControl


class Shelf(Protocol):
    """The generations of the library."""

    def all(self) -> Generations:
        """Return those that are kept, newest first."""

    def require_pending(self) -> None:
        """Raise unless there is something to build."""

    def target(self, generation: int | None, *, rolls_back: bool = False) -> int:
        """Return the generation that a switch means; raises when there is none."""

    def discard(self, generation: int | None) -> Generations:
        """Let go of a generation that does not serve."""

    def preview(self, generation: int | None) -> GenerationPreview:
        """Ask every kept question of a generation and of the serving one, and compare."""


class GenerationsGroup:
    """Builds generations, compares them, and says which one serves."""

    def __init__(self, jobs: JobControl, work: Work, shelf: Shelf) -> None:
        self._jobs = jobs
        self._work = work
        self._shelf = shelf

    def list(self, request: Empty) -> Generations:
        """Return the generations, and how the settings differ from the serving one."""
        del request
        return self._shelf.all()

    def build(self, request: BuildRequest) -> Job:
        """Start building a generation for the settings as they are."""
        del request
        self._shelf.require_pending()
        return job_to_wire(self._work.start(JobKind.GENERATION, {}))

    def built(self, request: JobRequest) -> GenerationReport:
        """Return what a finished build or switch did."""
        job = self._jobs.get(JobId(request.job_id))
        if job is None or job.kind not in {JobKind.GENERATION, JobKind.SWITCH}:
            raise NotFound(f"there is no build or switch {request.job_id[:64]!r}", hint="list jobs with `kb jobs`")
        if not job.result:
            hint = "run it again" if job.status.is_final else "wait until it ends"
            raise InvalidInput(f"the job is {job.status.value} and has no report", hint=hint)
        return GenerationReport.model_validate(dict(job.result))

    def preview(self, request: GenerationRequest) -> GenerationPreview:
        """Ask the kept questions of a generation and of the serving one, and compare."""
        return self._shelf.preview(request.generation)

    def switch(self, request: SwitchRequest) -> Job:
        """Start serving another generation, all at once."""
        return self._start(self._shelf.target(request.generation))

    def rollback(self, request: Empty) -> Job:
        """Start serving again the generation that served before."""
        del request
        return self._start(self._shelf.target(None, rolls_back=True))

    def discard(self, request: GenerationRequest) -> Generations:
        """Let go of a generation that does not serve."""
        return self._shelf.discard(request.generation)

    def _start(self, generation: int) -> Job:
        return job_to_wire(self._work.start(JobKind.SWITCH, {"generation": generation}))
