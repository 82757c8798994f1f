"""`kb search --names`: files by their names, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kb.cli.layout import spaced
from kb.cli.output import HIT, NO_HIT, Exit, Output, counted

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.names import NamedItem

_DEFAULT, _MOST = 20, 100


def show_names(out: Output, facade: Facade, query: str, limit: int | None) -> Exit:
    """Print items by their names, best first."""
    from kb.app.requests import request_of
    from kb.contract.names import NamesRequest

    found = facade.search.names(request_of(NamesRequest, query=query, limit=min(limit or _DEFAULT, _MOST)))
    out.wire(found)
    if not out.as_json:
        for item in found.items:
            out.line(_marked(item))
        out.line(counted(len(found.items), "file") if found.items else "no file has such a name")
    return HIT if found.items else NO_HIT


def _marked(item: NamedItem) -> str:
    """Return the path with what matched underlined."""
    path, text, at = spaced(item.path), "", 0
    for mark in item.highlights:
        text += path[at : mark.start] + typer.style(path[mark.start : mark.end], underline=True)
        at = mark.end
    return text + path[at:]
