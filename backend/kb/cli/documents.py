"""`kb list`, `kb show`, `kb inspect`: what the library holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command, group
from kb.cli.ingest import reason_text
from kb.cli.layout import padded
from kb.cli.output import HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library
from kb.cli.wording import lines_label

if TYPE_CHECKING:
    from kb.contract.chunks import ChunkInspection
    from kb.contract.facade import Facade
    from kb.contract.items import ItemEntry
    from kb.contract.library import DocSummary, DocumentView


def add_to(app: typer.Typer) -> None:
    """Add `list`, `show` and `inspect`."""
    _add_lists(group(app, "list", "List documents or files."))

    @command(app)
    def show(
        out: Output, doc: Annotated[str, typer.Argument(help="Path in the workspace, doc_id or item_id.")]
    ) -> Exit:
        """Show what is known about one document, and its outline."""
        from kb.app.requests import request_of
        from kb.contract.library import ShowRequest

        request = request_of(ShowRequest, doc=doc)
        with library(out, "kb show") as facade:
            view = facade.library.show(request)
        out.wire(view)
        if not out.as_json:
            _print_document(out, view)
        return HIT

    @command(app)
    def inspect(
        out: Output,
        what: Annotated[str, typer.Argument(help="A chunk_id, or a document to list the chunks of.")],
    ) -> Exit:
        """Show a chunk, or the chunks of a document, as stored."""
        from kb.app.lookup import chunks_of

        count = 0
        with library(out, "kb inspect") as facade:
            for chunk in chunks_of(facade, what):
                count += 1
                out.wire(chunk)
                if not out.as_json:
                    _print_chunk(out, chunk)
        return HIT if count else NO_HIT


def _add_lists(listing: typer.Typer) -> None:
    @command(listing)
    def docs(out: Output) -> Exit:
        """List the documents that can be searched."""
        count = 0
        with library(out, "kb list") as facade:
            for document in _documents(facade):
                count += 1
                out.wire(document)
                out.line(_document_line(document))
        empty = "no documents: put files into the workspace and run `kb ingest`"
        out.line(counted(count, "document") if count else empty)
        return HIT if count else NO_HIT

    @command(listing)
    def items(
        out: Output,
        *,
        state: Annotated[
            str | None,
            typer.Option("--state", help="new, ready, empty, unsupported, waiting or failed."),
        ] = None,
    ) -> Exit:
        """List files, and why some cannot be searched."""
        count = 0
        with library(out, "kb list") as facade:
            for item in _items(facade, state):
                count += 1
                out.wire(item)
                out.line(f"{item.state:<12}{item.doc_path}")
                if item.reason:
                    out.line(f"{'':<12}{reason_text(item.reason)}")
        out.line(counted(count, "file"))
        return HIT if count else NO_HIT


def _documents(facade: Facade) -> Iterator[DocSummary]:
    from kb.contract.library import DocumentsRequest

    cursor: str | None = None
    while True:
        page = facade.library.documents(DocumentsRequest(cursor=cursor))
        yield from page.documents
        cursor = page.next
        if cursor is None:
            return


def _items(facade: Facade, state: str | None) -> Iterator[ItemEntry]:
    from kb.app.requests import request_of
    from kb.contract.items import ItemsRequest

    cursor: str | None = None
    while True:
        page = facade.library.items(request_of(ItemsRequest, cursor=cursor, state=state))
        yield from page.items
        cursor = page.next
        if cursor is None:
            return


def _document_line(document: DocSummary) -> str:
    tags = "  " + " ".join(f"#{tag}" for tag in document.tags) if document.tags else ""
    return (
        f"{document.doc_path}\n  {document.title}  ({document.lang}, {counted(document.chunk_count, 'passage')}){tags}"
    )


def _print_document(out: Output, view: DocumentView) -> None:
    document = view.document
    rows = [
        ("title", document.title),
        ("path", document.doc_path),
        ("doc_id", document.doc_id),
        ("item_id", document.item_id or ""),
        ("version", str(document.version or 1)),
        ("language", document.lang),
        ("type, trust", f"{document.source_type}, {document.trust_level}"),
        ("tags", " ".join(document.tags)),
        ("aliases", ", ".join(view.aliases)),
        ("size", f"{document.byte_len:,} bytes"),
        ("passages", f"{document.chunk_count:,}, {document.vector_count or 0:,} with vectors"),
        ("updated", document.updated_at.isoformat(timespec="seconds")),
        ("made by", f"{document.parser_version}, {document.chunker_version}"),
    ]
    rows += [(str(key), str(value)) for key, value in (view.user or {}).items()]
    for name, value in rows:
        if value:
            out.line(f"{padded(name, 12)}{value}")
    for warning in view.warnings:
        out.line(f"warning     {warning.kind}: {warning.note}")
    if view.outline:
        out.line()
    for entry in view.outline:
        place = entry.uri.rpartition("#")[2] if entry.uri else ""
        out.line(f"{'  ' * (entry.level - 1)}{entry.text}  {typer.style(place, dim=True)}".rstrip())


def _print_chunk(out: Output, chunk: ChunkInspection) -> None:
    lines = lines_label(span for span in chunk.source_spans if span.kind == "line")
    out.line(typer.style(f"{chunk.doc_path}  {lines}", bold=True))
    rows = [
        ("chunk_id", chunk.chunk_id),
        ("heading", " › ".join(chunk.heading_path)),
        ("size", f"{chunk.char_count or len(chunk.text)} characters, about {chunk.token_estimate} tokens"),
        ("vectors", ", ".join(f"{e.model} ({e.state or 'stored'})" for e in chunk.embeddings) or "none"),
        ("chunker", chunk.chunker_version),
    ]
    for name, value in rows:
        if value:
            out.line(f"  {name:<10}{value}")
    for line in chunk.text.splitlines():
        out.line(f"  │ {line}")
    out.line()
