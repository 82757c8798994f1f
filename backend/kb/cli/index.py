"""`kb index rebuild` and `kb index verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.command import command
from kb.cli.ingest import wait_for
from kb.cli.output import ERROR, HIT, UNHEALTHY, Exit, Output
from kb.cli.session import library


def add_to(app: typer.Typer) -> None:
    """Add the commands of `kb index`."""
    group = typer.Typer(help="The indexes made from the library.", no_args_is_help=True)
    _add_rebuild(group)
    _add_verify(group)
    app.add_typer(group, name="index")


def _add_rebuild(group: typer.Typer) -> None:
    @command(group)
    def rebuild(
        out: Output,
        *,
        text: Annotated[bool, typer.Option("--text", help="Only the text index.")] = False,
        vectors: Annotated[bool, typer.Option("--vectors", help="Only the vector indexes.")] = False,
    ) -> Exit:
        """Build the indexes anew from the library; nothing is parsed or embedded again."""
        from kb.contract.index import RebuildRequest
        from kb.contract.jobs import JobRequest
        from kb.domain.errors import KebabError

        everything = text == vectors
        request = RebuildRequest(text=text or everything, vectors=vectors or everything)
        with library(out, "kb index rebuild") as facade:
            job = wait_for(out, facade, facade.index.rebuild(request))
            if job.status != "succeeded":
                message = job.error.message if job.error else f"the rebuild was {job.status}"
                out.error(KebabError(message, hint="the earlier index is kept; see `kb doctor`"))
                return ERROR
            report = facade.index.report(JobRequest(job_id=job.id))
        out.wire(report)
        if report.text_entries is not None:
            out.line(f"text index    {report.text_entries} passages")
        for name, count in (report.vector_engines or {}).items():
            out.line(f"{name:<14}{count} vectors")
        out.line(f"embedded      {report.embedded}: the vectors came from the library")
        out.line(f"{report.duration_ms / 1000:.1f} s")
        return HIT


def _add_verify(group: typer.Typer) -> None:
    @command(group)
    def verify(out: Output) -> Exit:
        """Compare the indexes with the library."""
        from kb.contract.base import Empty

        with library(out, "kb index verify") as facade:
            report = facade.index.verify(Empty())
        out.wire(report)
        for check in report.checks:
            out.line(f"{'✓' if check.ok else '✗'} {check.name:<20}{check.detail}")
            if check.hint and not check.ok:
                out.line(f"  {'':<20}hint: {check.hint}")
        return HIT if report.ok else UNHEALTHY
