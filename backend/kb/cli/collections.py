"""`kb collections`: named sets of files to search in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.command import command, group
from kb.cli.layout import padded
from kb.cli.output import HIT, NO_HIT, Exit, Output, counted
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.collection_settings import RuleGiven
    from kb.contract.collections import Collection, CollectionView

Name = Annotated[str, typer.Argument(help="A collection by its name or id.")]
Files = Annotated[list[str], typer.Argument(help="Files by path, item_id or doc_id.")]
Folder = Annotated[list[str] | None, typer.Option("--folder", help="Files below this folder, or of this glob.")]
Tag = Annotated[list[str] | None, typer.Option("--tag", help="Files with this tag.")]
Type = Annotated[list[str] | None, typer.Option("--type", help="Files of this type, such as note or pdf.")]
Revision = Annotated[
    int | None, typer.Option("--revision", min=1, help="Only if it is this revision still; without, as it is now.")
]

_PAGE = 200


def add_to(app: typer.Typer) -> None:
    """Add `collections` with its commands."""
    made = group(app, "collections", "Named sets of files, to search and ask in.")
    _add_looking(made)
    _add_changing(made)
    _add_filling(made)


def _add_looking(app: typer.Typer) -> None:
    @command(app, "list")
    def show_all(
        out: Output,
        *,
        archived: Annotated[bool, typer.Option("--archived", help="Those that are archived.")] = False,
    ) -> Exit:
        """List the collections in their order."""
        from kb.contract.collection_requests import CollectionsRequest

        with library(out, "kb collections") as facade:
            found = facade.collections.list(CollectionsRequest(archived=archived, counts=True))
        out.wire(found)
        for one in found.collections:
            out.line(f"{padded(one.name, 30)}  {counted(one.items or 0, 'file')}  revision {one.revision}")
            _print_problems(out, one)
        if not found.collections:
            out.line("no collections" + (" are archived" if archived else ": `kb collections create NAME` makes one"))
        return HIT if found.collections else NO_HIT

    @command(app)
    def show(out: Output, name: Name) -> Exit:
        """Show a collection with the files it holds."""
        from kb.app.named import collection_named
        from kb.app.requests import request_of
        from kb.contract.collection_requests import CollectionItemsRequest

        with library(out, "kb collections") as facade:
            one = collection_named(facade, name)
            _print(out, one)
            cursor, first = None, True
            while first or cursor is not None:
                request = request_of(CollectionItemsRequest, collection=one.collection_id, cursor=cursor, limit=_PAGE)
                page = facade.collections.items(request)
                out.wire(page)
                for item in page.items:
                    out.line(f"  {item.doc_path}" + ("  (put in by hand)" if item.by == "hand" else ""))
                cursor, first = page.next, False
        return HIT


def _add_changing(app: typer.Typer) -> None:
    @command(app)
    def create(out: Output, name: Name, *, folder: Folder = None, tag: Tag = None, types: Type = None) -> Exit:
        """Make a collection; files that match what is given belong to it by themselves."""
        from kb.app.requests import request_of
        from kb.contract.collection_requests import CreateCollectionRequest

        request = request_of(CreateCollectionRequest, name=name, rules=_rules(folder, tag, types))
        with library(out, "kb collections") as facade:
            return _done(out, facade.collections.create(request))

    @command(app)
    def rename(
        out: Output,
        name: Name,
        new: Annotated[str, typer.Argument(help="The new name.")],
        *,
        revision: Revision = None,
    ) -> Exit:
        """Give a collection another name."""
        return _update(out, name, revision, name=new)

    @command(app)
    def rules(
        out: Output,
        name: Name,
        *,
        folder: Folder = None,
        tag: Tag = None,
        types: Type = None,
        revision: Revision = None,
    ) -> Exit:
        """Say anew which files belong by themselves; without any, none do."""
        return _update(out, name, revision, rules=_rules(folder, tag, types))

    @command(app)
    def order(
        out: Output,
        name: Name,
        place: Annotated[int, typer.Argument(min=1, help="From 1.")],
        *,
        revision: Revision = None,
    ) -> Exit:
        """Put a collection at another place; the first with settings says how a file is cut."""
        return _change(out, "order", "OrderCollectionRequest", name, revision, position=place - 1)

    @command(app)
    def archive(out: Output, name: Name, *, revision: Revision = None) -> Exit:
        """Take a collection out of lists and scopes; its files stay."""
        return _change(out, "archive", "CollectionRequest", name, revision)

    @command(app)
    def restore(out: Output, name: Name, *, revision: Revision = None) -> Exit:
        """Put an archived collection back, behind the others."""
        return _change(out, "restore", "CollectionRequest", name, revision, archived=True)


def _add_filling(app: typer.Typer) -> None:
    @command(app)
    def add(out: Output, name: Name, files: Files, *, revision: Revision = None) -> Exit:
        """Put files into a collection."""
        return _change(out, "add", "MembersRequest", name, revision, items=tuple(files))

    @command(app)
    def remove(out: Output, name: Name, files: Files, *, revision: Revision = None) -> Exit:
        """Take files out of a collection, also those that belong by themselves."""
        return _change(out, "leave_out", "MembersRequest", name, revision, items=tuple(files))


def _rules(folders: list[str] | None, tags: list[str] | None, types: list[str] | None) -> tuple[RuleGiven, ...]:
    from kb.app.requests import known_types, request_of
    from kb.contract.collection_settings import RuleGiven

    given = {"folder": folders or (), "tag": tags or (), "type": known_types(types or ())}
    return tuple(request_of(RuleGiven, kind=kind, value=value) for kind, values in given.items() for value in values)


def _update(out: Output, named: str, revision: int | None, **changes: Any) -> Exit:  # noqa: ANN401 - the request checks
    return _change(out, "update", "UpdateCollectionRequest", named, revision, **changes)


def _change(
    out: Output,
    method: str,
    request: str,
    named: str,
    revision: int | None,
    *,
    archived: bool = False,
    **values: Any,  # noqa: ANN401 - the request checks them
) -> Exit:
    from kb.app.named import collection_named
    from kb.app.requests import request_of
    from kb.contract import collection_requests

    with library(out, "kb collections") as facade:
        one = collection_named(facade, named, prefers_archived=archived)
        asked = request_of(
            getattr(collection_requests, request),
            collection=one.collection_id,
            revision=revision or one.revision,
            **values,
        )
        return _done(out, getattr(facade.collections, method)(asked))


def _done(out: Output, view: CollectionView) -> Exit:
    out.wire(view)
    _print(out, view.collection)
    return HIT


def _print(out: Output, one: Collection) -> None:
    held = f"  {counted(one.items, 'file')}" if one.items is not None else ""
    where = "archived" if one.archived else f"place {one.position + 1}"
    out.line(f"{typer.style(one.name, bold=True)}{held}  {where}  revision {one.revision}")
    for rule in one.rules:
        out.line(f"  {rule.kind}: {rule.value}")
    for what, settings in (("cut", one.chunking), ("searched", one.retrieval)):
        if settings is not None:
            given = settings.model_dump(exclude_none=True)
            out.line(f"  {what} with " + ", ".join(f"{key} {value}" for key, value in given.items()))
    _print_problems(out, one)


def _print_problems(out: Output, one: Collection) -> None:
    for problem in one.problems:
        out.line(f"  ! {problem}")
