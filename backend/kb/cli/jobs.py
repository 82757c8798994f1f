"""`kb jobs`: long work, running and past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, NO_HIT, Exit, Output
from kb.cli.progress import how_far, rate_text, rest_text
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.jobs import Job


def add_to(app: typer.Typer) -> None:
    """Add `jobs`."""

    @command(app)
    def jobs(
        out: Output,
        *,
        limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many.")] = 20,
        cancel: Annotated[
            str | None, typer.Option("--cancel", metavar="ID", help="Ask a job to stop; what is committed stays.")
        ] = None,
        pause: Annotated[
            str | None, typer.Option("--pause", metavar="ID", help="Let a job rest until it is resumed.")
        ] = None,
        resume: Annotated[str | None, typer.Option("--resume", metavar="ID", help="Let a paused job go on.")] = None,
        retry: Annotated[
            str | None,
            typer.Option("--retry", metavar="ID", help="Start a job that failed or was canceled anew, as another job."),
        ] = None,
    ) -> Exit:
        """List the newest jobs, or steer one."""
        from kb.app.requests import one_of, request_of
        from kb.contract.jobs import JobRequest, JobsRequest

        named = one_of(cancel=cancel, pause=pause, resume=resume, retry=retry)
        with library(out, "kb jobs") as facade:
            if named:
                how, job_id = named
                found = [getattr(facade.jobs, how)(request_of(JobRequest, job_id=job_id))]
            else:
                found = list(facade.jobs.recent(JobsRequest(limit=limit)).jobs)
        for job in found:
            out.wire(job)
            _print(out, job)
            if named and _was_over(named[0], job):
                out.note(f"it was over before: there is nothing to {named[0]}")
        if not found:
            out.line("no jobs yet")
        return HIT if found else NO_HIT


def _was_over(how: str, job: Job) -> bool:
    """Return whether there was nothing to steer; a job that is tried anew, or ended by this, is another matter."""
    return job.finished_at is not None and how != "retry" and (how, job.status) != ("cancel", "canceled")


def _print(out: Output, job: Job) -> None:
    reason = f"  {job.error.message.splitlines()[0]}" if job.error else ""
    dead = f"  given up after {job.attempts} attempts" if job.dead else ""
    out.line(f"{job.id}  {job.kind:<11}{job.status:<11}{job.created_at.astimezone():%Y-%m-%d %H:%M}{dead}{reason}")
    if job.finished_at is not None:
        return
    if job.paused:
        out.line(f"    {rest_text(job)}")
    elif job.next_attempt_at is not None:
        moment = f"{job.next_attempt_at.astimezone():%H:%M:%S}"
        out.line(f"    attempt {job.attempts + 1} of {job.most_attempts} at {moment}; `kb jobs --retry {job.id}`: now")
    if job.status == "running":
        rate = "" if job.paused else rate_text(job)
        out.line(f"   {how_far(job)}" + (f"  {rate}" if rate else ""))
