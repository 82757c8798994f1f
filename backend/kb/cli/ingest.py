"""`kb ingest`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.ledgers import reason_text
from kb.cli.output import ERROR, HIT, Exit, Output, counted
from kb.cli.password import OPTION, AsksForPassword, given_password
from kb.cli.progress import ProgressLine
from kb.cli.session import configuration, library

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.ingest import IngestItem, IngestReport
    from kb.contract.jobs import Job

_SHOWN_ITEMS = 20
# Short at first: a workspace in which nothing changed takes a few milliseconds.
_FIRST_PAUSES_S = (0.005, 0.01, 0.02)
_PAUSE_S = 0.05
_PATIENCE_S = 10.0


def add_to(app: typer.Typer) -> None:
    """Add `ingest`."""

    @command(app, cls=AsksForPassword)
    def ingest(
        out: Output,
        paths: Annotated[
            list[Path] | None, typer.Argument(help="Files or folders of the workspace; all of it without any.")
        ] = None,
        *,
        summary_only: Annotated[bool, typer.Option("--summary-only", help="Only the numbers.")] = False,
        retry: Annotated[bool, typer.Option("--retry", help="Take files that failed before again.")] = False,
        confirm_removals: Annotated[
            bool, typer.Option("--confirm-removals", help="Missing files are really gone, however many they are.")
        ] = False,
        password: Annotated[
            str | None,
            typer.Option(
                OPTION, metavar="[-]", help="Open locked files; asks for the password, or reads it from stdin with -."
            ),
        ] = None,
    ) -> Exit:
        """Read what is new, changed or gone in the workspace."""
        from kb.app.scope import workspace_paths
        from kb.contract.ingest import IngestRequest
        from kb.contract.jobs import JobRequest

        settings = configuration(out)
        wanted = workspace_paths(settings.workspace, paths or [], Path.cwd())
        secret = given_password(password, settings.workspace)
        # Only numbers are kept of a run over everything: for people a line a file would be too many.
        brief = summary_only or not (out.as_json or wanted or secret)
        request = IngestRequest(
            paths=wanted or None,
            retry=retry,
            confirm_removals=confirm_removals,
            summary_only=brief,
            password=secret,
        )
        with library(out, "kb ingest", settings) as facade:
            job = wait_for(out, facade, facade.library.ingest(request))
            if job.status == "failed":
                message, _, hint = (job.error.message if job.error else "the job failed").partition("\n")
                out.error(message, hint or "run it again, or see `kb doctor`")
                return ERROR
            report = facade.library.report(JobRequest(job_id=job.id))
            out.wire(report)
            if not out.as_json:
                _print(out, report, facade)
            return ERROR if report.canceled else HIT


def wait_for(out: Output, facade: Facade, job: Job) -> Job:
    """Show the progress of a job until it is over; Ctrl-C asks it to stop and waits for that.

    One that a server tries again only after a while is given back as failed: nobody wants to wait for that.
    """
    from kb.contract.jobs import JobRequest

    request = JobRequest(job_id=job.id)
    line = ProgressLine(out)
    if job.paused and job.status == "pending":
        # Who asks for the same work now wants it done.
        out.note("it was paused, and goes on now")
        job = facade.jobs.resume(request)
    try:
        for seen in _seen(facade, job):
            job = seen
            line.show(job)
            if job.next_attempt_at and job.next_attempt_at.timestamp() - time.time() > _PATIENCE_S:
                line.close()
                out.note(f"it is tried again at {job.next_attempt_at.astimezone():%H:%M:%S} (`kb jobs`)")
                return job.model_copy(update={"status": "failed"})
    except KeyboardInterrupt:
        line.close()
        out.note("stopping; what is committed stays")
        for seen in _seen(facade, facade.jobs.cancel(request)):
            job = seen
    finally:
        line.close()
    return job


def _seen(facade: Facade, job: Job) -> Iterator[Job]:
    """Yield a job as it is and as it becomes, until it is over."""
    from kb.contract.jobs import JobRequest

    yield job
    for pause in chain(_FIRST_PAUSES_S, repeat(_PAUSE_S)):
        if job.finished_at is not None:
            return
        time.sleep(pause)
        job = facade.jobs.get(JobRequest(job_id=job.id))
        yield job


def _print(out: Output, report: IngestReport, facade: Facade) -> None:
    out.line(f"{counted(report.scanned, 'file')} in {report.duration_ms / 1000:.1f} s: {_changes(report)}")
    told = [item for item in report.items or () if _is_told(item)]
    for item in told[:_SHOWN_ITEMS]:
        out.line(_item_line(item))
        if item.error:
            out.line(f"    {item.error}")
    if report.canceled:
        out.line("stopped before the end: what was committed is kept, `kb ingest` goes on from there")
    for notice in report.notices:
        out.line(f"note: {notice.detail}")
        if notice.hint:
            out.line(f"  {notice.hint}")
    _print_library(out, report, facade)


def _print_library(out: Output, report: IngestReport, facade: Facade) -> None:
    from kb.contract.base import Empty
    from kb.contract.items import ItemsRequest

    summary = facade.library.summary(Empty())
    if report.errors:
        failed = facade.library.items(ItemsRequest(state="failed", limit=_SHOWN_ITEMS))
        for entry in failed.items:
            out.line(f"  ✗ {entry.doc_path}\n    {reason_text(entry.reason)}")
        if failed.next:
            out.line("  … and more: `kb list items --state failed`")
    elif summary.failed:
        count = counted(summary.failed, "file")
        out.line(f"not read: {count} that failed before (`kb list items --state failed`; `--retry` tries again)")
    waiting = summary.needs_attention - summary.failed
    if waiting > 0:
        out.line(f"not read: {counted(waiting, 'file')} in whole or in part (`kb list --attention` says what to do)")
    if report.unsupported:
        count = counted(report.unsupported, "file")
        out.line(f"not read: {count} of other kinds (`kb list items --state unsupported`)")
    if not summary.items and not report.scanned:
        out.line("the workspace is empty: put Markdown, text or source files into it and run `kb ingest` again")
        return
    vectors = ""
    if summary.embedding_model:
        vectors = ", all with vectors" if summary.vectors >= summary.chunks else f", {summary.vectors:,} with vectors"
    out.line(f"searchable: {counted(summary.documents, 'document')}, {counted(summary.chunks, 'passage')}{vectors}")


def _changes(report: IngestReport) -> str:
    counts = [
        (report.new, "new"),
        (report.updated, "updated"),
        (report.renamed, "renamed"),
        (report.deleted, "deleted"),
        (report.errors, "failed"),
    ]
    changed = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    # After a stop the vectors that were still missing are made, though no file has changed.
    return changed or (f"{counted(report.embedded, 'vector')} made" if report.embedded else "nothing changed")


def _is_told(item: IngestItem) -> bool:
    """Return whether a line is due: what became of a file, or why one that was asked for by name still waits."""
    return item.kind != "error" and (item.kind != "skipped" or bool(item.error))


def _item_line(item: IngestItem) -> str:
    mark = {"new": "+", "updated": "~", "deleted": "-", "renamed": "→", "skipped": "·"}.get(item.kind, " ")
    origin = f"  (was {item.renamed_from})" if item.renamed_from else ""
    return f"  {mark} {item.doc_path}{origin}"
