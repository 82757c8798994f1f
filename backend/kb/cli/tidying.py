"""`kb index purge` and `kb index compact`: old versions, and the room they took."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.command import command
from kb.cli.ingest import wait_for
from kb.cli.layout import padded
from kb.cli.output import ERROR, HIT, Exit, Output, counted
from kb.cli.session import library

_KILO = 1_000
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def add_tidying(commands: typer.Typer) -> None:
    """Add both to the commands of `kb index`."""

    @command(commands)
    def purge(
        out: Output,
        *,
        keep: Annotated[
            int | None,
            typer.Option("--keep", min=0, help="Earlier versions kept of each; else the setting's."),
        ] = None,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    ) -> Exit:
        """Let go of earlier versions that nothing needs."""
        from kb.app.requests import request_of
        from kb.contract.versions import PurgeRequest

        with library(out, "kb index purge") as facade:
            report = facade.versions.purge(request_of(PurgeRequest, keep_versions=keep, dry_run=dry_run))
        out.wire(report)
        verb = "would go" if report.dry_run else "gone"
        out.line(f"{counted(report.versions, 'version')} {verb}, {size_text(report.freed_bytes)} of text and copies")
        if report.pinned:
            out.line(f"{counted(report.pinned, 'old version')} stay: answers or a generation need them")
        return HIT

    @command(commands)
    def compact(out: Output) -> Exit:
        """Give back the disk space that removed entries still take."""
        from kb.contract.index import CompactRequest
        from kb.contract.jobs import JobRequest

        with library(out, "kb index compact") as facade:
            job = wait_for(out, facade, facade.index.compact(CompactRequest()))
            if job.status != "succeeded":
                message, _, hint = (job.error.message if job.error else f"compacting was {job.status}").partition("\n")
                out.error(message, hint or "run it again: it goes on from where it was")
                return ERROR
            report = facade.index.compacted(JobRequest(job_id=job.id))
        out.wire(report)
        for part, size in report.after.items():
            before = report.before.get(part, 0)
            if before or size:
                out.line(f"{padded(part.replace('_', ' '), 16)}{size_text(before)} → {size_text(size)}")
        out.line(f"{padded('took', 16)}{report.duration_ms / 1000:.1f} s")
        return HIT


def size_text(size: int) -> str:
    """Return a number of bytes as people read it."""
    value = float(size)
    for unit in _UNITS:
        if value < _KILO or unit == _UNITS[-1]:
            break
        value /= _KILO
    return f"{size:,} {unit}" if unit == _UNITS[0] else f"{value:.1f} {unit}"
