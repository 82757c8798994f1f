"""`kb graph`: links between files, and how they are read, added and taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command, group
from kb.cli.ingest import wait_for
from kb.cli.output import ERROR, HIT, Exit, Output
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.graph import GraphLinks

_Source = Annotated[str, typer.Argument(help="The file the link starts from: its path or id.")]
_Target = Annotated[str, typer.Argument(help="The file it leads to: its path or id.")]
_Kind = Annotated[str, typer.Option("--kind", help="wiki, link, tag, heading or manual.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of `kb graph`."""
    commands = group(app, "graph", "Links between files, as one more way to find passages.")
    _add_state(commands)
    _add_links(commands)
    _add_changes(commands)
    _add_rebuild(commands)


def _add_state(commands: typer.Typer) -> None:
    @command(commands)
    def state(
        out: Output,
        *,
        limit: Annotated[int, typer.Option("--limit", help="Unclear targets to list.")] = 50,
    ) -> Exit:
        """Say how many links there are, and which targets are not clear."""
        from kb.contract.graph import GraphStateRequest

        with library(out, "kb graph state") as facade:
            found = facade.graph.state(GraphStateRequest(limit=limit))
        out.wire(found)
        words = {"off": "off: turn it on with graph.enabled", "on_demand": "no links read yet: `kb graph rebuild`"}
        out.line(f"{'links':<16}{words.get(found.state, found.state)}")
        out.line(f"{'files read':<16}{found.documents_read:,} of {found.documents:,}")
        for kind, count in found.links.items():
            out.line(f"{kind:<16}{count:,}")
        out.line(f"{'taken away':<16}{found.removed:,}")
        out.line(f"{'unclear':<16}{found.ambiguous:,} may mean several files, {found.unresolved:,} lead nowhere")
        for target in found.open_targets:
            out.line(f"  {target.doc_path}: {target.target} ({target.outcome})")
        if found.error:
            out.line(f"{'last reading':<16}{found.error}")
        return HIT


def _add_links(commands: typer.Typer) -> None:
    @command(commands)
    def links(
        out: Output,
        doc: Annotated[str, typer.Argument(help="A file: its path or id.")],
        *,
        limit: Annotated[int, typer.Option("--limit", help="At most so many.")] = 100,
        cursor: Annotated[str | None, typer.Option("--cursor", help="The `next` of the page before.")] = None,
    ) -> Exit:
        """List the links of a file, in and out."""
        from kb.contract.graph import GraphLinksRequest

        with library(out, "kb graph links") as facade:
            _print(out, facade.graph.links(GraphLinksRequest(doc=doc, limit=limit, cursor=cursor)))
        return HIT


def _add_changes(commands: typer.Typer) -> None:
    @command(commands)
    def add(
        out: Output,
        source: _Source,
        target: _Target,
        *,
        note: Annotated[str, typer.Option("--note", help="Why they belong together.")] = "",
    ) -> Exit:
        """Link two files by hand."""
        from kb.contract.graph import AddLinkRequest

        with library(out, "kb graph add") as facade:
            _print(out, facade.graph.add(AddLinkRequest(source=source, target=target, note=note)))
        return HIT

    @command(commands)
    def remove(out: Output, source: _Source, target: _Target, *, kind: _Kind = "manual") -> Exit:
        """Take a link away; reading links again does not bring it back."""
        from kb.contract.graph import LinkRequest

        request = LinkRequest.model_validate({"source": source, "target": target, "kind": kind})
        with library(out, "kb graph remove") as facade:
            _print(out, facade.graph.remove(request))
        return HIT

    @command(commands)
    def restore(out: Output, source: _Source, target: _Target, *, kind: _Kind = "manual") -> Exit:
        """Undo `kb graph remove`."""
        from kb.contract.graph import LinkRequest

        request = LinkRequest.model_validate({"source": source, "target": target, "kind": kind})
        with library(out, "kb graph restore") as facade:
            _print(out, facade.graph.restore(request))
        return HIT


def _add_rebuild(commands: typer.Typer) -> None:
    @command(commands)
    def rebuild(
        out: Output,
        *,
        missing: Annotated[bool, typer.Option("--missing", help="Only files that are not read yet.")] = False,
    ) -> Exit:
        """Read the links of all files; nothing is parsed or embedded again."""
        from kb.contract.graph_reading import GraphReadRequest
        from kb.contract.jobs import JobRequest

        with library(out, "kb graph rebuild") as facade:
            job = wait_for(out, facade, facade.graph.rebuild(GraphReadRequest(anew=not missing)))
            if job.status != "succeeded":
                text = job.error.message if job.error else f"reading links was {job.status}"
                message, _, hint = text.partition("\n")
                out.error(message, hint or "run it again: it goes on from there")
                return ERROR
            report = facade.graph.rebuilt(JobRequest(job_id=job.id))
        out.wire(report)
        out.line(f"{'files read':<16}{report.documents:,}")
        for kind, count in report.links.items():
            out.line(f"{kind:<16}{count:,}")
        out.line(f"{'unclear':<16}{report.ambiguous:,} may mean several files, {report.unresolved:,} lead nowhere")
        out.line(f"{'took':<16}{report.duration_ms / 1000:.1f} s")
        return HIT


def _print(out: Output, found: GraphLinks) -> None:
    out.wire(found)
    out.line(f"{found.doc_path}: {len(found.links)} links")
    for link in found.links:
        arrow = {"out": "->", "in": "<-"}[link.direction]
        removed = "" if link.active else "  (taken away)"
        evidence = f"  {link.evidence}" if link.evidence else ""
        out.line(f"  {arrow} {link.doc_path}  [{link.kind}, {link.origin}]{evidence}{removed}")
    if found.next:
        out.line(f"more with --cursor {found.next}")
