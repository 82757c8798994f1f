"""`kb index rebuild` and `kb index verify`; what is about generations stands in `generations`."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli import generations
from kb.cli.command import command, group
from kb.cli.doctor import print_checks
from kb.cli.ingest import wait_for
from kb.cli.output import ERROR, HIT, UNHEALTHY, Exit, Output
from kb.cli.session import library
from kb.cli.tidying import add_tidying


def add_to(app: typer.Typer) -> None:
    """Add the commands of `kb index`."""
    commands = group(app, "index", "Build or check the indexes made from the library.")
    _add_rebuild(commands)
    _add_verify(commands)
    add_tidying(commands)
    generations.add_to(commands)


def _add_rebuild(commands: typer.Typer) -> None:
    @command(commands)
    def rebuild(
        out: Output,
        *,
        text: Annotated[bool, typer.Option("--text", help="Only the text index.")] = False,
        vectors: Annotated[bool, typer.Option("--vectors", help="Only the vector indexes.")] = False,
    ) -> Exit:
        """Build the indexes anew; nothing is parsed or embedded again (`kb chunking rebuild` cuts files anew)."""
        from kb.contract.index import RebuildRequest
        from kb.contract.jobs import JobRequest

        everything = text == vectors
        request = RebuildRequest(text=text or everything, vectors=vectors or everything)
        with library(out, "kb index rebuild") as facade:
            job = wait_for(out, facade, facade.index.rebuild(request))
            if job.status != "succeeded":
                message, _, hint = (job.error.message if job.error else f"the rebuild was {job.status}").partition("\n")
                out.error(message, hint or "run it again; until then search says what it cannot use")
                return ERROR
            report = facade.index.report(JobRequest(job_id=job.id))
        out.wire(report)
        if report.text_entries is not None:
            out.line(f"{'text index':<16}{report.text_entries:,} passages")
        for name, count in (report.vector_engines or {}).items():
            out.line(f"{'vectors, ' + name:<16}{count:,}")
        out.line(f"{'embedded':<16}{report.embedded:,}{': the vectors came from the library' * (not report.embedded)}")
        out.line(f"{'took':<16}{report.duration_ms / 1000:.1f} s")
        return HIT


def _add_verify(commands: typer.Typer) -> None:
    @command(commands)
    def verify(
        out: Output,
        *,
        deep: Annotated[
            bool, typer.Option("--deep", help="Compare every entry, and read every stored vector.")
        ] = False,
    ) -> Exit:
        """Compare the indexes with the library."""
        from kb.contract.index import VerifyRequest

        with library(out, "kb index verify") as facade:
            report = facade.index.verify(VerifyRequest(deep=deep))
        out.wire(report)
        print_checks(out, report.checks)
        return HIT if report.ok else UNHEALTHY
