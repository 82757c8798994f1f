"""`kb chunks`: the passages of a document, and what people change in them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kb.cli.command import command, show_help
from kb.cli.layout import padded
from kb.cli.output import ERROR, HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library
from kb.cli.wording import places_label

if TYPE_CHECKING:
    from kb.contract.chunks import ChunkInspection
    from kb.contract.layers import ChunkChange, ChunkLayer

_LAYER = "lay_"
_PREVIEW = 160
_MOST_BYTES = 1 << 20
_KEPT = (
    "The file is not changed. This is kept when the file is read again or cut otherwise, and put where its words stand"
    " then; what fits nowhere is listed by `kb chunks layers --lost`. `kb chunks undo` takes it back."
)
_KINDS = {"text": "says", "disabled": "disabled", "deleted": "deleted"}

_Id = Annotated[str, typer.Argument(help="A chunk_id, as `kb chunks DOC` prints it.")]


class _ListedByDefault(TyperGroup):
    """`kb chunks DOC` is `kb chunks list DOC`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the context type of typer is private
        """Return the arguments with the command that is meant."""
        named = [arg for arg in args if not arg.startswith("-")]
        if named and named[0] not in self.commands:
            args = ["list", *args]
        return super().parse_args(ctx, args)


def add_to(app: typer.Typer) -> None:
    """Add `kb chunks` and its commands."""
    chunks = typer.Typer(
        cls=_ListedByDefault, help="List the passages of a document, and mend them.", rich_markup_mode=None
    )
    chunks.callback(invoke_without_command=True)(show_help)
    app.add_typer(chunks, name="chunks")
    _add_list(chunks)
    _add_edit(chunks)
    _add_switches(chunks)
    _add_layers(chunks)


def _add_list(chunks: typer.Typer) -> None:
    @command(chunks, "list")
    def listed(
        out: Output,
        doc: Annotated[str, typer.Argument(help="Path in the workspace, doc_id or item_id.")],
        *,
        query: Annotated[str | None, typer.Option("--query", "-q", help="Only those that hold these letters.")] = None,
        page: Annotated[int, typer.Option("--page", min=1, help="Which page.")] = 1,
        limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Passages a page.")] = 50,
    ) -> Exit:
        """List the passages of a document; also those taken out, and parents."""
        from kb.app.requests import request_of
        from kb.contract.chunks import ChunksRequest

        with library(out, "kb chunks") as facade:
            asked = request_of(ChunksRequest, doc=doc, limit=limit, query=query)
            found = facade.chunks.list(asked)
            for number in range(1, page):
                if found.next is None:
                    out.error(f"there are only {counted(number, 'page')}", f"--page {number} is the last")
                    return ERROR
                found = facade.chunks.list(asked.model_copy(update={"cursor": found.next}))
        out.wire(found)
        for chunk in found.chunks:
            _print_passage(out, chunk)
        if found.next:
            out.line(f"more on the next page: --page {page + 1}")
        return HIT if found.chunks else NO_HIT


def _add_edit(chunks: typer.Typer) -> None:
    @command(chunks)
    def edit(
        out: Output,
        chunk: _Id,
        *,
        text: Annotated[str | None, typer.Option("--text", help="What it is to say.")] = None,
        file: Annotated[Path | None, typer.Option("--file", help="A file that holds what it is to say.")] = None,
        expect: Annotated[
            str | None, typer.Option("--expect", help="Its text_hash as you read it: refuse if it changed since.")
        ] = None,
    ) -> Exit:
        """Let a passage say something else: --text, --file, or what comes on stdin."""
        from kb.app.requests import request_of
        from kb.contract.layers import EditChunkRequest

        if text is not None and file is not None:
            out.error("--text and --file were both given", "give one of them")
            return ERROR
        said = text if text is not None else _read(out, file)
        if said is None:
            return ERROR
        with library(out, "kb chunks edit") as facade:
            change = facade.chunks.edit(
                request_of(EditChunkRequest, chunk_id=chunk, text=said, expected_text_hash=expect)
            )
        return _print_change(out, change, "it says now what you gave", _KEPT)


def _add_switches(chunks: typer.Typer) -> None:
    @command(chunks)
    def enable(out: Output, chunk: _Id) -> Exit:
        """Put a passage back into search."""
        return _enabled(out, chunk, enabled=True)

    @command(chunks)
    def disable(out: Output, chunk: _Id) -> Exit:
        """Take a passage out of search for now."""
        return _enabled(out, chunk, enabled=False)

    @command(chunks)
    def delete(out: Output, chunk: _Id) -> Exit:
        """Take a passage out; it stays out when the file is read again, until it is restored."""
        from kb.app.requests import request_of
        from kb.contract.layers import ChunkRequest

        with library(out, "kb chunks delete") as facade:
            change = facade.chunks.delete(request_of(ChunkRequest, chunk_id=chunk))
        return _print_change(out, change, "deleted", _KEPT)

    @command(chunks)
    def undo(out: Output, chunk: _Id) -> Exit:
        """Undo the last change of a passage; again, the one before it."""
        from kb.app.requests import request_of
        from kb.contract.layers import ChunkRequest

        with library(out, "kb chunks undo") as facade:
            change = facade.chunks.undo(request_of(ChunkRequest, chunk_id=chunk))
        return _print_change(out, change, "undone")

    @command(chunks)
    def restore(
        out: Output, what: Annotated[str, typer.Argument(help="A chunk_id, or a layer_id of `kb chunks layers`.")]
    ) -> Exit:
        """Let a passage be what the file says, or forget one change."""
        from kb.app.requests import request_of
        from kb.contract.layers import RestoreRequest

        asked = {"layer_id" if what.startswith(_LAYER) else "chunk_id": what}
        with library(out, "kb chunks restore") as facade:
            change = facade.chunks.restore(request_of(RestoreRequest, **asked))
        return _print_change(out, change, "it is what the file says" if change.chunk else "forgotten")


def _add_layers(chunks: typer.Typer) -> None:
    @command(chunks)
    def layers(
        out: Output,
        doc: Annotated[str | None, typer.Argument(help="Path in the workspace, doc_id or item_id; else all.")] = None,
        *,
        lost: Annotated[bool, typer.Option("--lost", help="Only those that fit no more, wholly or in part.")] = False,
    ) -> Exit:
        """List what was changed in passages, and what of it fits no more."""
        from kb.app.requests import request_of
        from kb.contract.layers import LayersRequest

        count = 0
        cursor: str | None = None
        with library(out, "kb chunks layers") as facade:
            while True:
                found = facade.chunks.layers(request_of(LayersRequest, doc=doc, lost=lost, cursor=cursor, limit=200))
                out.wire(found)
                for layer in found.layers:
                    count += 1
                    _print_layer(out, layer)
                cursor = found.next
                if cursor is None:
                    break
        out.line(counted(count, "change"))
        return HIT if count else NO_HIT


def _enabled(out: Output, chunk: str, *, enabled: bool) -> Exit:
    from kb.app.requests import request_of
    from kb.contract.layers import EnableChunkRequest

    with library(out, "kb chunks enable" if enabled else "kb chunks disable") as facade:
        change = facade.chunks.enable(request_of(EnableChunkRequest, chunk_id=chunk, enabled=enabled))
    return _print_change(out, change, "it can be found" if enabled else "disabled", "" if enabled else _KEPT)


def _read(out: Output, file: Path | None) -> str | None:
    """Return what a file holds, or what comes on stdin; None when there is nothing to read."""
    if file is None and sys.stdin.isatty():
        out.error("nothing says what the passage is to say", "give --text, --file, or the text on stdin")
        return None
    try:
        data = file.read_bytes() if file is not None else sys.stdin.buffer.read(_MOST_BYTES)
        return data.decode("utf-8-sig").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        out.error("the text cannot be read", "give a file of UTF-8 text that you may read", error)
        return None


def _print_change(out: Output, change: ChunkChange, what: str, notice: str = "") -> Exit:
    out.wire(change)
    out.line(what)
    if change.masked:
        out.line(f"masked: {counted(change.masked, 'secret')} of it, as in files")
    if change.keyword != "done":
        out.line("keywords do not find it yet: the next `kb ingest` brings the index up")
    if change.vector == "waiting":
        out.line("its vector is not made yet: the next `kb ingest` makes it")
    for note in change.notes:
        out.line(f"note: {note}")
    if change.nothing_searchable:
        out.line("nothing searchable: the document has no passage left that can be found")
    if notice:
        out.note(notice)
    return HIT


def _print_passage(out: Output, chunk: ChunkInspection) -> None:
    marks: list[str] = [chunk.role] if chunk.role != "standalone" else []
    marks += [chunk.state] if chunk.state != "enabled" else []
    marks += ["edited"] if chunk.manually_edited else []
    size = f"{chunk.char_count or len(chunk.text):,} characters"
    out.line(
        typer.style(f"{chunk.ordinal}  {places_label(chunk.source_spans)}  {', '.join((*marks, size))}", bold=True)
    )
    out.line(f"   {chunk.chunk_id}  {' › '.join(chunk.heading_path)}".rstrip())
    out.line(f"   {_preview(chunk.text)}")


def _print_layer(out: Output, layer: ChunkLayer) -> None:
    where = f"  {layer.section}" if layer.section else ""
    out.line(typer.style(f"{layer.doc_path}{where}", bold=True))
    rows = [
        ("layer_id", layer.layer_id),
        ("said", _preview(layer.source_text)),
        (_KINDS.get(layer.kind, layer.kind), _preview(layer.new_text) if layer.new_text else "taken out of search"),
        ("lies on", ", ".join(layer.chunk_ids)),
        ("fits no more", layer.lost or ""),
        ("changed", layer.updated_at.isoformat(timespec="seconds")),
    ]
    for name, value in rows:
        if value:
            out.line(f"   {padded(name, 13)}{value}")


def _preview(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PREVIEW else f"{line[:_PREVIEW].rstrip()}…"
