"""`kb ingest`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.output import ERROR, HIT, Exit, Output
from kb.cli.progress import ProgressLine
from kb.cli.session import configuration

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.ingest import IngestItem, IngestReport
    from kb.contract.jobs import Job

_POLL_S = 0.05
_SHOWN_ITEMS = 20


def add_to(app: typer.Typer) -> None:
    """Add `ingest`."""

    @command(app)
    def ingest(
        out: Output,
        paths: Annotated[
            list[Path] | None, typer.Argument(help="Files or folders of the workspace; all of it without any.")
        ] = None,
        *,
        summary_only: Annotated[bool, typer.Option("--summary-only", help="Only the numbers.")] = False,
        retry: Annotated[bool, typer.Option("--retry", help="Take files that failed before again.")] = False,
    ) -> Exit:
        """Read the workspace: what is new or changed becomes searchable, what is gone disappears."""
        from kb.app.gateway import open_library
        from kb.app.scope import workspace_paths
        from kb.contract.ingest import IngestRequest
        from kb.contract.jobs import JobRequest

        settings = configuration(out)
        wanted = workspace_paths(settings.workspace, paths or [], Path.cwd())
        request = IngestRequest(
            paths=wanted or None, retry=retry, summary_only=summary_only or (not out.as_json and not wanted)
        )
        with open_library(settings, owner="kb ingest") as facade:
            job = wait_for(out, facade, facade.library.ingest(request))
            if job.status == "failed":
                return _failed(out, job)
            report = facade.library.report(JobRequest(job_id=job.id))
            out.wire(report)
            if not out.as_json:
                _print(out, report, facade)
            return ERROR if report.canceled else HIT


def wait_for(out: Output, facade: Facade, job: Job) -> Job:
    """Show the progress of a job until it is over; Ctrl-C asks it to stop and waits for that."""
    from kb.contract.jobs import JobRequest

    request = JobRequest(job_id=job.id)
    line = ProgressLine(out)
    try:
        while job.finished_at is None:
            time.sleep(_POLL_S)
            job = facade.jobs.get(request)
            line.show(job)
    except KeyboardInterrupt:
        out.note("\nstopping; what is committed stays")
        facade.jobs.cancel(request)
        while job.finished_at is None:
            time.sleep(_POLL_S)
            job = facade.jobs.get(request)
    finally:
        line.close()
    return job


def _failed(out: Output, job: Job) -> Exit:
    message = job.error.message if job.error else "the job failed"
    from kb.domain.errors import KebabError

    out.error(KebabError(message, hint="run it again with --verbose, or see `kb doctor`"))
    return ERROR


def _print(out: Output, report: IngestReport, facade: Facade) -> None:
    from kb.contract.base import Empty
    from kb.contract.items import ItemsRequest

    parts = [f"{report.new} new", f"{report.updated} updated"]
    parts += [f"{n} {word}" for n, word in ((report.renamed, "renamed"), (report.deleted, "deleted")) if n]
    parts += [f"{report.skipped} unchanged or skipped"]
    parts += [f"{report.errors} failed"] if report.errors else []
    seconds = report.duration_ms / 1000
    out.line(f"{report.scanned} files in {seconds:.1f} s: {', '.join(parts)}")
    if report.canceled:
        out.line("stopped before the end; what was committed is kept, run `kb ingest` to go on")
    for item in (report.items or ())[:_SHOWN_ITEMS]:
        if item.kind not in {"skipped", "error"}:
            out.line(_item_line(item))
    failed = facade.library.items(ItemsRequest(state="failed", limit=_SHOWN_ITEMS))
    for entry in failed.items:
        out.line(f"  ✗ {entry.doc_path}\n    {entry.reason or 'cannot be read'}")
    if failed.next:
        out.line("  … more with `kb list items --state failed`")
    summary = facade.library.summary(Empty())
    vectors = f", {summary.vectorised} with vectors" if summary.embedding_model else ", no vectors (no embedding model)"
    out.line(f"searchable: {summary.documents} documents, {summary.chunks} passages{vectors}")
    if report.unsupported:
        out.line(f"not read: {report.unsupported} files of other types (`kb list items --state unsupported`)")


def _item_line(item: IngestItem) -> str:
    mark = {"new": "+", "updated": "~", "deleted": "-", "renamed": "→"}.get(item.kind, " ")
    origin = f"  (was {item.renamed_from})" if item.renamed_from else ""
    return f"  {mark} {item.doc_path}{origin}"
