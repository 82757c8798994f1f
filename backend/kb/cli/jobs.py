"""`kb jobs`: long work, running and past."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, NO_HIT, Exit, Output
from kb.cli.session import library


def add_to(app: typer.Typer) -> None:
    """Add `jobs`."""

    @command(app)
    def jobs(
        out: Output,
        *,
        limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many.")] = 20,
        cancel: Annotated[str | None, typer.Option("--cancel", help="Ask the job with this id to stop.")] = None,
    ) -> Exit:
        """List the newest jobs, or stop one."""
        from kb.app.requests import request_of
        from kb.contract.jobs import JobRequest, JobsRequest

        with library(out, "kb jobs") as facade:
            if cancel:
                found = [facade.jobs.cancel(request_of(JobRequest, job_id=cancel))]
            else:
                found = list(facade.jobs.recent(JobsRequest(limit=limit)).jobs)
        for job in found:
            out.wire(job)
            far = f"  {job.progress.percent} %" if job.status == "running" else ""
            reason = f"  {job.error.message.splitlines()[0]}" if job.error else ""
            out.line(
                f"{job.id}  {job.kind:<9}{job.status:<11}{job.created_at.astimezone():%Y-%m-%d %H:%M}{far}{reason}"
            )
        if not found:
            out.line("no jobs yet")
        return HIT if found else NO_HIT
