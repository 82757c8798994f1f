"""`kb list`, `kb show`, `kb inspect`: what the library holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command, without_command
from kb.cli.layout import padded
from kb.cli.ledgers import numbers, print_coverage, print_item, print_masked, print_unread_item, reason_text
from kb.cli.output import ERROR, HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library
from kb.cli.versions import show_versions
from kb.cli.wording import places_label

if TYPE_CHECKING:
    from kb.contract.chunks import ChunkInspection
    from kb.contract.facade import Facade
    from kb.contract.items import ItemEntry
    from kb.contract.library import DocSummary, DocumentView

_NOTHING = "nothing searchable: every passage was taken out; `kb chunks {}` lists them"


def add_to(app: typer.Typer) -> None:
    """Add `list`, `show` and `inspect`."""
    lists = typer.Typer(help="List documents or files.", rich_markup_mode=None)
    app.add_typer(lists, name="list")
    _add_lists(lists)
    _add_show(app)

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


def _add_show(app: typer.Typer) -> None:
    @command(app)
    def show(
        out: Output,
        doc: Annotated[str, typer.Argument(help="Path in the workspace, doc_id or item_id.")],
        *,
        coverage: Annotated[
            bool, typer.Option("--coverage", help="What became of each page, second or part of it.")
        ] = False,
        masked: Annotated[bool, typer.Option("--masked", help="Where secrets were left out, without them.")] = False,
        versions: Annotated[bool, typer.Option("--versions", help="What it has been, and why that is kept.")] = False,
        diff: Annotated[
            str | None, typer.Option("--diff", help="What changed: A..B by number, or `last` for the newest two.")
        ] = None,
    ) -> Exit:
        """Show what is known about one file, and its outline."""
        from kb.app.requests import request_of
        from kb.contract.coverage import CoverageRequest
        from kb.contract.items import ItemRequest
        from kb.contract.library import ShowRequest

        with library(out, "kb show") as facade:
            item = facade.library.item(request_of(ItemRequest, doc=doc)).item
            if masked:
                found = facade.library.masked(request_of(ShowRequest, doc=doc))
                out.wire(found)
                print_masked(out, found)
            if coverage:
                ledger = facade.library.coverage(request_of(CoverageRequest, doc_path=item.doc_path))
                out.wire(ledger)
                print_coverage(out, ledger)
            asks = versions or diff is not None
            if asks and not show_versions(out, facade, doc, listed=versions, diff=diff):
                return ERROR
            if not (masked or coverage or asks):
                _show(out, facade, item, doc)
        return HIT


def _show(out: Output, facade: Facade, item: ItemEntry, doc: str) -> None:
    from kb.contract.items import ItemView
    from kb.contract.library import ShowRequest

    if item.doc_id is None:
        out.wire(ItemView(item=item))
        print_unread_item(out, item)
        return
    view = facade.library.show(ShowRequest(doc=doc))
    out.wire(view)
    if not out.as_json:
        _print_document(out, view, item)


def _add_lists(listing: typer.Typer) -> None:
    @without_command(listing)
    def listed(
        out: Output,
        *,
        coverage: Annotated[bool, typer.Option("--coverage", help="List files with what was read of them.")] = False,
        attention: Annotated[
            bool, typer.Option("--attention", help="List files that failed or wait, in whole or in part.")
        ] = False,
    ) -> Exit:
        """List documents or files."""
        return _list_items(out, None, coverage=coverage, attention=attention)

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
        coverage: Annotated[bool, typer.Option("--coverage", help="With what was read of each.")] = False,
        attention: Annotated[
            bool, typer.Option("--attention", help="Only those that failed or wait, in whole or in part.")
        ] = False,
    ) -> Exit:
        """List files, and why some cannot be searched."""
        return _list_items(out, state, coverage=coverage, attention=attention)


def _list_items(out: Output, state: str | None, *, coverage: bool, attention: bool) -> Exit:
    count = 0
    with library(out, "kb list") as facade:
        for item in _items(facade, state, attention=attention):
            count += 1
            out.wire(item)
            if not out.as_json:
                print_item(out, item, coverage=coverage, steps=attention)
    out.line("nothing needs attention" if attention and not count else counted(count, "file"))
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


def _items(facade: Facade, state: str | None, *, attention: bool) -> Iterator[ItemEntry]:
    from kb.app.requests import request_of
    from kb.contract.items import ItemsRequest

    cursor: str | None = None
    while True:
        page = facade.library.items(request_of(ItemsRequest, cursor=cursor, state=state, attention=attention))
        yield from page.items
        cursor = page.next
        if cursor is None:
            return


def _document_line(document: DocSummary) -> str:
    tags = "  " + " ".join(f"#{tag}" for tag in document.tags) if document.tags else ""
    size = counted(document.chunk_count, "passage") + (", nothing searchable" if document.nothing_searchable else "")
    return f"{document.doc_path}\n  {document.title}  ({document.lang}, {size}){tags}"


def _print_document(out: Output, view: DocumentView, item: ItemEntry) -> None:
    document = view.document
    rows = [
        ("title", document.title),
        ("path", document.doc_path),
        ("doc_id", document.doc_id),
        ("item_id", document.item_id or ""),
        ("version", str(document.version or 1)),
        ("language", document.lang),
        ("type, trust", f"{_type(document.source_type, item.media_type)}, {document.trust_level}"),
        ("tags", " ".join(document.tags)),
        ("aliases", ", ".join(view.aliases)),
        ("size", f"{document.byte_len:,} bytes"),
        ("passages", f"{document.chunk_count:,}, {document.vector_count or 0:,} with vectors"),
        ("search", _NOTHING.format(document.doc_path) if document.nothing_searchable else ""),
        ("coverage", numbers(item.coverage, item.coverage_kinds) if item.coverage else ""),
        ("state", item.state if item.state != "ready" else ""),
        ("reason", reason_text(item.reason) if item.reason else ""),
        ("next step", item.next_step or ""),
        ("taken out", "" if item.included else f"yes; `kb remove {document.doc_path} --undo` puts it back"),
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


def _type(source_type: str, media_type: str | None) -> str:
    """Return what a document is; `markdown` as its type only says that nothing better is known than its file's."""
    if media_type is None or media_type == source_type:
        return source_type
    return media_type if source_type == "markdown" else f"{source_type} ({media_type})"


def _print_chunk(out: Output, chunk: ChunkInspection) -> None:
    out.line(typer.style(f"{chunk.doc_path}  {places_label(chunk.source_spans)}", bold=True))
    rows = [
        ("chunk_id", chunk.chunk_id),
        ("state", chunk.state if chunk.state != "enabled" else ""),
        ("edited", "the file says otherwise: `kb chunks restore` goes back to it" if chunk.manually_edited else ""),
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
