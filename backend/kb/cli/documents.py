"""`kb list`, `kb show`, `kb inspect`: what the library holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, NO_HIT, Exit, Output
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.chunks import ChunkInspection
    from kb.contract.facade import Facade
    from kb.contract.items import ItemEntry
    from kb.contract.library import DocSummary, DocumentView


def add_to(app: typer.Typer) -> None:
    """Add `list`, `show` and `inspect`."""
    listing = typer.Typer(help="List documents or files.", no_args_is_help=True)
    _add_lists(listing)
    app.add_typer(listing, name="list")

    @command(app)
    def show(
        out: Output, doc: Annotated[str, typer.Argument(help="Path in the workspace, doc_id or item_id.")]
    ) -> Exit:
        """Show one document: what is known about it, and its outline."""
        from kb.contract.library import ShowRequest

        with library(out, "kb show") as facade:
            view = facade.library.show(ShowRequest(doc=doc))
        out.wire(view)
        if not out.as_json:
            _print_document(out, view)
        return HIT

    @command(app)
    def inspect(
        out: Output,
        what: Annotated[str, typer.Argument(help="A chunk_id, or a document to list the chunks of.")],
    ) -> Exit:
        """Show a chunk exactly as it is stored, or all chunks of a document."""
        with library(out, "kb inspect") as facade:
            chunks = list(_chunks(facade, what))
        for chunk in chunks:
            out.wire(chunk)
            if not out.as_json:
                _print_chunk(out, chunk)
        return HIT if chunks else NO_HIT


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
        out.line(f"{count} documents" if count else "no documents: put files into the workspace and run `kb ingest`")
        return HIT if count else NO_HIT

    @command(listing)
    def items(
        out: Output,
        *,
        state: Annotated[
            str | None,
            typer.Option("--state", help="new, ready, empty, unsupported, waiting, failed or deleted."),
        ] = None,
    ) -> Exit:
        """List files with their states and, where they cannot be searched, the reason."""
        count = 0
        with library(out, "kb list") as facade:
            for item in _items(facade, state):
                count += 1
                out.wire(item)
                out.line(f"{item.state:<12}{item.doc_path}")
                if item.reason:
                    out.line(f"            {item.reason}")
        out.line(f"{count} files")
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


def _chunks(facade: Facade, what: str) -> Iterator[ChunkInspection]:
    from kb.contract.chunks import ChunksRequest, InspectRequest
    from kb.domain.errors import NotFound

    if len(what) == 32 and set(what) <= set("0123456789abcdef"):  # noqa: PLR2004 - the length of an id
        try:
            yield facade.chunks.inspect(InspectRequest(chunk_id=what))
        except NotFound:
            pass
        else:
            return
    cursor: str | None = None
    while True:
        page = facade.chunks.list(ChunksRequest(doc=what, cursor=cursor))
        yield from page.chunks
        cursor = page.next
        if cursor is None:
            return


def _document_line(document: DocSummary) -> str:
    tags = "  " + " ".join(f"#{tag}" for tag in document.tags) if document.tags else ""
    return f"{document.doc_path}  {document.lang}  {document.chunk_count} passages{tags}\n  {document.title}"


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
        ("passages", f"{document.chunk_count}, {document.vector_count or 0} with vectors"),
        ("updated", document.updated_at.isoformat(timespec="seconds")),
        ("made by", f"{document.parser_version}, {document.chunker_version}"),
    ]
    rows += [(key, str(value)) for key, value in (view.user or {}).items()]
    for name, value in rows:
        if value:
            out.line(f"{name:<12}{value}")
    for warning in view.warnings:
        out.line(f"warning     {warning.kind}: {warning.note}")
    if view.outline:
        out.line()
    for entry in view.outline:
        place = entry.uri.rpartition("#")[2] if entry.uri else ""
        out.line(f"{'  ' * (entry.level - 1)}{entry.text}  {typer.style(place, dim=True)}")


def _print_chunk(out: Output, chunk: ChunkInspection) -> None:
    spans = ", ".join(f"L{s.start}-L{s.end}" for s in chunk.source_spans if s.kind == "line")
    out.line(typer.style(f"{chunk.doc_path}  {spans}", bold=True))
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
