"""`kb backup`: the whole library in one file, and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command, group
from kb.cli.doctor import print_checks
from kb.cli.ingest import wait_for
from kb.cli.output import ERROR, HIT, NO_HIT, UNHEALTHY, Exit, Output, counted
from kb.cli.session import configuration, library

if TYPE_CHECKING:
    from kb.contract.backup import Backup, BackupCounts, RestoreReport
    from kb.contract.jobs import Job

_File = Annotated[str, typer.Argument(help="The backup: a path, or its name in the library's own folder.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of `kb backup`."""
    commands = group(app, "backup", "Write the whole library into one file, check it, put it back.")
    _add_create(commands)
    _add_list(commands)
    _add_verify(commands)
    _add_restore(commands)
    _add_merge(commands)


def _add_create(commands: typer.Typer) -> None:
    @command(commands)
    def create(
        out: Output,
        file: Annotated[
            Path | None, typer.Argument(help="Where to write it; without, into the library's own folder.")
        ] = None,
        *,
        without_originals: Annotated[
            bool, typer.Option("--without-originals", help="Leave out the kept copies of your files.")
        ] = False,
    ) -> Exit:
        """Write a backup; searching and reading go on meanwhile."""
        from kb.app.requests import request_of
        from kb.contract.backup import BackupCreateRequest
        from kb.contract.jobs import JobRequest

        target = str(file.expanduser().absolute()) if file is not None else None
        request = request_of(BackupCreateRequest, file=target, originals=not without_originals)
        with library(out, "kb backup create") as facade:
            job = wait_for(out, facade, facade.backup.create(request))
            if job.status != "succeeded":
                return _failed(out, job, "the backup")
            made = facade.backup.report(JobRequest(job_id=job.id))
        out.wire(made)
        out.line(f"{'written':<12}{made.file}")
        out.line(f"{'size':<12}{made.bytes / 1e6:,.1f} MB, copies of your files {made.originals / 1e6:,.1f} MB of it")
        out.line(f"{'holds':<12}{_counts(made.counts)}")
        return HIT


def _add_list(commands: typer.Typer) -> None:
    @command(commands, "list")
    def show(out: Output) -> Exit:
        """List the backups in the library's own folder."""
        from kb.app.restoring import backups_of
        from kb.contract.base import Empty

        with backups_of(configuration(out), owner="kb backup list", on_wait=out.note) as backups:
            found = backups.list(Empty())
        out.wire(found)
        for backup in found.backups:
            out.line(_line(backup))
        if not found.backups:
            out.line("no backups here yet: `kb backup create` writes one")
        return HIT if found.backups else NO_HIT


def _add_verify(commands: typer.Typer) -> None:
    @command(commands)
    def verify(out: Output, file: _File) -> Exit:
        """Check that everything in a backup is whole."""
        from kb.app.requests import request_of
        from kb.app.restoring import backups_of
        from kb.contract.backup import BackupRequest

        with backups_of(configuration(out), owner="kb backup verify", on_wait=out.note) as backups:
            report = backups.verify(request_of(BackupRequest, file=_found(file)))
        out.wire(report)
        print_checks(out, report.checks)
        return HIT if report.ok else UNHEALTHY


def _add_restore(commands: typer.Typer) -> None:
    @command(commands)
    def restore(
        out: Output,
        file: _File,
        *,
        yes: Annotated[bool, typer.Option("--yes", help="Also over newer work, which is moved aside.")] = False,
        workspace: Annotated[
            Path | None, typer.Option("--workspace", help="The folder of your files on this computer.")
        ] = None,
    ) -> Exit:
        """Put a backup in place of the library; what is there is kept beside it."""
        report = _restored(out, file, agreed=yes, workspace=workspace)
        if report is None:
            return ERROR
        report = _with_indexes(out, report)
        out.wire(report)
        out.line(f"{'restored':<12}{_counts(report.counts)}")
        if report.kept_as:
            out.line(f"{'kept':<12}what was here before is in {report.kept_as} of the data folder")
        out.line(f"{'embedded':<12}{report.embedded}{': the vectors came with the backup' * (not report.embedded)}")
        return HIT


def _add_merge(commands: typer.Typer) -> None:
    @command(commands)
    def merge(out: Output, file: _File) -> Exit:
        """Take in what a backup has and this library has not; nothing here is changed."""
        from kb.app.requests import request_of
        from kb.contract.backup import BackupRequest
        from kb.contract.jobs import JobRequest

        with library(out, "kb backup merge") as facade:
            job = wait_for(out, facade, facade.backup.merge(request_of(BackupRequest, file=_found(file))))
            if job.status != "succeeded":
                return _failed(out, job, "the merge")
            report = facade.backup.merged(JobRequest(job_id=job.id))
        out.wire(report)
        out.line(f"{'added':<12}{_counts(report.added)}")
        out.line(f"{'same':<12}{counted(report.same, 'item')}")
        if report.kept:
            stays = "differs and stays" if len(report.kept) == 1 else "differ and stay"
            out.line(f"{'kept':<12}{counted(len(report.kept), 'item')} {stays} as here:")
            for path in report.kept:
                out.line(f"  {path}")
        return HIT


def _restored(out: Output, file: str, *, agreed: bool, workspace: Path | None) -> RestoreReport | None:
    """Put the backup in place; a person at a terminal may agree to what would be put aside."""
    from kb.app.backup.restoring import NewerWork
    from kb.app.restoring import restore_library

    settings, found = configuration(out), _found(file)
    root = workspace.expanduser().absolute() if workspace else None
    try:
        return restore_library(settings, found, agreed=agreed, workspace=root)
    except NewerWork as error:
        if not sys.stdin.isatty() or out.as_json:
            raise
        out.note(error.message)
        if not typer.confirm("Go on? It is moved aside and kept.", err=True):
            return None
        return restore_library(settings, found, agreed=True, workspace=root)


def _with_indexes(out: Output, report: RestoreReport) -> RestoreReport:
    """Build the indexes of the restored library, which embeds nothing."""
    from kb.contract.index import RebuildRequest
    from kb.contract.jobs import JobRequest

    with library(out, "kb backup restore") as facade:
        job = wait_for(out, facade, facade.index.rebuild(RebuildRequest()))
        if job.status != "succeeded":
            out.note("the library is in place; its indexes are not built yet: run `kb index rebuild`")
            return report
        rebuilt = facade.index.report(JobRequest(job_id=job.id))
    took = report.duration_ms + rebuilt.duration_ms
    return report.model_copy(update={"embedded": rebuilt.embedded, "duration_ms": took})


def _found(file: str) -> str:
    """Return a backup's path as the library needs it; a bare name that is not here is one of its own folder."""
    path = Path(file).expanduser()
    return str(path.absolute()) if path.name != file or path.exists() else file


def _failed(out: Output, job: Job, what: str) -> Exit:
    message, _, hint = (job.error.message if job.error else f"{what} was {job.status}").partition("\n")
    out.error(message, hint or "run it again; nothing is left of this one")
    return ERROR


def _line(backup: Backup) -> str:
    made = f"{backup.created_at.astimezone():%Y-%m-%d %H:%M}"
    return f"{backup.file}  {made}  {backup.bytes / 1e6:,.1f} MB  {_counts(backup.counts)}"


def _counts(counts: BackupCounts) -> str:
    nouns = (
        (counts.items, "item"),
        (counts.documents, "document"),
        (counts.passages, "passage"),
        (counts.vectors, "vector"),
        (counts.answers, "answer"),
    )
    return ", ".join(counted(number, noun) for number, noun in nouns)
