"""`kb remove`: a file out of the library, and back."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, Exit, Output
from kb.cli.session import library


def add_to(app: typer.Typer) -> None:
    """Add `remove`."""

    @command(app)
    def remove(
        out: Output,
        doc: Annotated[str, typer.Argument(help="Path in the workspace, doc_id or item_id.")],
        *,
        undo: Annotated[bool, typer.Option("--undo", help="Put it back.")] = False,
    ) -> Exit:
        """Take a file out of the library; the file itself stays."""
        from kb.app.requests import request_of
        from kb.contract.items import ItemRequest

        with library(out, "kb remove") as facade:
            request = request_of(ItemRequest, doc=doc)
            view = facade.versions.put_back(request) if undo else facade.versions.remove(request)
        out.wire(view)
        path = view.item.doc_path
        if undo:
            out.line(f"{path} is in the library again; if it changed meanwhile, `kb ingest` reads it")
        else:
            out.line(f"{path} is found and read no more; `kb remove {path} --undo` puts it back")
        return HIT
