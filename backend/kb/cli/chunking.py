"""`kb chunking`: how files are cut into passages, and making them anew one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kb.cli.command import command, group
from kb.cli.ingest import wait_for
from kb.cli.output import ERROR, HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.chunking import Chunking
    from kb.contract.collection_settings import CollectionChunking, OwnChunking
    from kb.contract.reprocessing import ReprocessReport

_Mode = Annotated[Literal["fixed", "structure", "parent-child"] | None, typer.Option("--mode", help="How to cut.")]
_Target = Annotated[int | None, typer.Option("--target", help="Wished characters, 400 to 8,000.")]
_Overlap = Annotated[int | None, typer.Option("--overlap", help="Repeated characters, at most 40 % of the target.")]
_Parent = Annotated[
    int | None, typer.Option("--parent", help="Of parent-child: 1,600 to 16,000 characters of context.")
]
_Child = Annotated[int | None, typer.Option("--child", help="Of parent-child: 300 to 4,000 characters that are found.")]
_Doc = Annotated[str, typer.Argument(help="A path, `doc_id` or `item_id`.")]
_SHOWN = 10
_WIDTH = 70


def add_to(app: typer.Typer) -> None:
    """Add the commands of `kb chunking`."""
    commands = group(app, "chunking", "How files are cut into passages, and cutting them anew.")
    _add_get(commands)
    _add_set(commands)
    _add_pending(commands)
    _add_rebuild(commands)
    _add_preview(commands)


def _add_get(commands: typer.Typer) -> None:
    @command(commands)
    def get(
        out: Output, doc: Annotated[str | None, typer.Argument(help="A file; without, the workspace.")] = None
    ) -> Exit:
        """Say how a file, or the workspace, is meant to be cut and is cut."""
        from kb.app.requests import request_of
        from kb.contract.chunking import ChunkingRequest

        with library(out, "kb chunking get") as facade:
            _print(out, facade.chunking.get(request_of(ChunkingRequest, doc=doc)))
        return HIT


def _add_set(commands: typer.Typer) -> None:
    @command(commands, "set")
    def set_(
        out: Output,
        doc: _Doc,
        *,
        mode: _Mode = None,
        target: _Target = None,
        overlap: _Overlap = None,
        parent: _Parent = None,
        child: _Child = None,
        clear: Annotated[
            bool, typer.Option("--clear", help="Give it back to its collection or the workspace.")
        ] = False,
    ) -> Exit:
        """Keep settings of one file's own; nothing is cut by them until `kb chunking rebuild`."""
        from kb.app.requests import request_of
        from kb.contract.chunking import SetChunkingRequest

        settings = _own(mode, target, overlap, parent, child)
        if clear == (settings is not None):
            out.error("say how to cut the file, or --clear", "see `kb chunking set --help`")
            return ERROR
        with library(out, "kb chunking set") as facade:
            _print(out, facade.chunking.set(request_of(SetChunkingRequest, doc=doc, settings=settings)))
        return HIT


def _add_pending(commands: typer.Typer) -> None:
    @command(commands)
    def pending(out: Output) -> Exit:
        """List the files that are cut otherwise than is wanted of them."""
        from kb.contract.chunking import ChunkingPendingRequest

        with library(out, "kb chunking pending") as facade:
            found = facade.chunking.pending(ChunkingPendingRequest())
        out.wire(found)
        if not found.count:
            out.line("every file is cut as is wanted of it")
            return NO_HIT
        out.line(f"settings changed, rebuild pending: {counted(found.count, 'file')}")
        for one in found.items:
            out.line(
                f"  {one.path}: {_words(one.served)}, wanted {_words(one.wanted)} ({one.collection or one.source})"
            )
        if found.count > len(found.items):
            out.line(f"  … and {found.count - len(found.items):,} more")
        out.line("`kb chunking rebuild` makes them anew, one by one")
        return HIT


def _add_rebuild(commands: typer.Typer) -> None:
    @command(commands)
    def rebuild(
        out: Output,
        docs: Annotated[list[str] | None, typer.Argument(help="Files; without, those that wait for it.")] = None,
        *,
        collection: Annotated[str | None, typer.Option("--collection", help="Only files of this collection.")] = None,
        everything: Annotated[bool, typer.Option("--all", help="Also files that are cut as is wanted.")] = False,
    ) -> Exit:
        """Make files anew as is wanted of them; each is replaced whole, and a stop leaves those that are."""
        from kb.app.requests import request_of
        from kb.contract.jobs import JobRequest
        from kb.contract.reprocessing import ReprocessRequest

        request = request_of(ReprocessRequest, docs=tuple(docs or ()), collection=collection, all=everything)
        with library(out, "kb chunking rebuild") as facade:
            job = wait_for(out, facade, facade.chunking.rebuild(request))
            if job.status not in {"succeeded", "canceled"} or job.error is not None:
                message, _, hint = (job.error.message if job.error else f"the job is {job.status}").partition("\n")
                out.error(message, hint or "run it again; what is replaced stays")
                return ERROR
            report = facade.chunking.rebuilt(JobRequest(job_id=job.id))
        out.wire(report)
        _print_report(out, report)
        return ERROR if report.failed or report.canceled else HIT


def _add_preview(commands: typer.Typer) -> None:
    @command(commands)
    def preview(
        out: Output,
        doc: _Doc,
        *,
        mode: _Mode = None,
        target: _Target = None,
        overlap: _Overlap = None,
        parent: _Parent = None,
        child: _Child = None,
    ) -> Exit:
        """Cut one file and keep nothing; without settings as is wanted of it."""
        from kb.app.requests import request_of
        from kb.contract.chunking_preview import PreviewChunkingRequest

        request = request_of(PreviewChunkingRequest, doc=doc, settings=_own(mode, target, overlap, parent, child))
        with library(out, "kb chunking preview") as facade:
            found = facade.chunking.preview(request)
        out.wire(found)
        parents = f" in {counted(found.parents, 'parent')}" if found.parents else ""
        out.line(f"{found.doc_path}: {_words(found.settings)}")
        out.line(f"{counted(found.passages, 'passage')}{parents}, {found.shortest:,} to {found.longest:,} characters")
        for one in found.chunks:
            text = " ".join(one.text.split())
            mark = "+" if one.role == "parent" else " "
            out.line(f"{one.ordinal:>4}{mark} {one.char_count:>6,}  {text[:_WIDTH]}{'…' * (len(text) > _WIDTH)}")
        return HIT


def _own(
    mode: Literal["fixed", "structure", "parent-child"] | None,
    target: int | None,
    overlap: int | None,
    parent: int | None,
    child: int | None,
) -> OwnChunking | None:
    from kb.app.requests import request_of
    from kb.contract.collection_settings import OwnChunking

    given = {
        "mode": mode,
        "target_characters": target,
        "overlap_characters": overlap,
        "parent_characters": parent,
        "child_characters": child,
    }
    values = {name: value for name, value in given.items() if value is not None}
    return request_of(OwnChunking, **values) if values else None


def _words(settings: CollectionChunking) -> str:
    if settings.mode == "parent-child":
        return f"{settings.mode} {settings.parent_characters:,}/{settings.child_characters:,}"
    return f"{settings.mode} {settings.target_characters:,}, overlap {settings.overlap_characters:,}"


def _print(out: Output, found: Chunking) -> None:
    out.wire(found)
    out.line(found.doc_path or "the workspace")
    out.line(f"  wanted  {_words(found.wanted)}  ({found.collection or found.source})")
    if found.served is not None:
        out.line(f"  served  {_words(found.served)}")
    if found.pending:
        out.line("settings changed, rebuild pending: `kb chunking rebuild`")


def _print_report(out: Output, report: ReprocessReport) -> None:
    out.line(f"{counted(report.replaced, 'file')} made anew: {counted(report.passages, 'passage')}")
    out.line(f"embedded {counted(report.embedded, 'text')}; {report.duration_ms / 1000:.1f} s")
    for one in report.failures[:_SHOWN]:
        out.line(f"  {one.path} stays as it was: {one.message}")
    if report.failed > _SHOWN:
        out.line(f"  … and {report.failed - _SHOWN:,} more: --json names up to 100")
    if report.left:
        out.line(f"stopped; {counted(report.left, 'file')} not reached")
    if report.pending:
        out.line(f"{counted(report.pending, 'file')} still pending")
