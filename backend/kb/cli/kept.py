"""Searches kept by a name: `kb search --save`, `--saved`, `--forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from kb.cli.layout import padded
from kb.cli.output import HIT, NO_HIT, Exit, Output

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.saved_searches import SavedSearches
    from kb.contract.search import FindRequest

Save = Annotated[str | None, typer.Option("--save", metavar="NAME", help="Keep this search by a name, too.")]
Saved = Annotated[
    str | None, typer.Option("--saved", metavar="[NAME]", help="Search as it was kept; without a name, list them.")
]
Forget = Annotated[str | None, typer.Option("--forget", metavar="NAME", help="Keep a search no longer.")]
Replace = Annotated[bool, typer.Option("--replace", help="With --save: in place of one of the same name.")]

_OPTION = "--saved"
_LIST = "\0list"


class TakesSaved(TyperCommand):
    """A command whose `--saved` needs no value: at the end of the line, or before another option, it lists."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the context type of typer is private
        """Read the command line."""
        completed: list[str] = []
        for number, word in enumerate(args):
            completed.append(word)
            follows = args[number + 1] if number + 1 < len(args) else None
            if word == _OPTION and (follows is None or follows.startswith("-")):
                completed.append(_LIST)
        return super().parse_args(ctx, completed)


def is_about_kept(saved: str | None, forget: str | None) -> bool:
    """Return whether kept searches are listed or forgotten, and nothing is searched."""
    return saved == _LIST or forget is not None


def show_kept(out: Output, facade: Facade, forget: str | None) -> Exit:
    """List the kept searches, after forgetting one if told."""
    from kb.app.requests import request_of
    from kb.contract.base import Empty
    from kb.contract.saved_searches import ForgetSearchRequest

    if forget is not None:
        found = facade.search.forget(request_of(ForgetSearchRequest, name=forget))
    else:
        found = facade.search.saved(Empty())
    out.wire(found)
    _print(out, found)
    return HIT if found.searches or forget is not None else NO_HIT


def keep(facade: Facade, name: str, request: FindRequest, *, replaces: bool) -> None:
    """Keep a search by a name."""
    from kb.app.requests import request_of
    from kb.contract.saved_searches import SaveSearchRequest

    facade.search.save(request_of(SaveSearchRequest, name=name, request=request, replace=replaces))


def _print(out: Output, found: SavedSearches) -> None:
    for one in found.searches:
        asked = one.request.query if one.request else f"! {one.problem}"
        scope = ", ".join(one.request.collections or ()) if one.request else ""
        out.line(f"{padded(one.name, 30)}  {asked}" + (f"  (in {scope})" if scope else ""))
    if not found.searches:
        out.line("no searches are kept: `kb search QUERY --save NAME` keeps one")
