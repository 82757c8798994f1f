"""`kb connections`: which models are used, where they run, whether they answer, and their keys."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kb.cli.command import command, group
from kb.cli.output import ERROR, HIT, NO_HIT, Exit, Output
from kb.cli.session import library

if TYPE_CHECKING:
    from kb.contract.connections import Connection, Connections

_Role = Annotated[
    Literal["embedding", "rerank", "caption", "answers"], typer.Argument(help="What the model is for, see `list`.")
]
_LONGEST = 4096


def add_to(app: typer.Typer) -> None:
    """Add the commands about connections."""
    commands = group(app, "connections", "Which models are used, where they run, and their keys.")
    _add_list(commands)
    _add_test(commands)
    keys = group(commands, "key", "Keep the key of a server in the system's key store, or forget it.")
    _add_set(keys)
    _add_remove(keys)


def _add_list(commands: typer.Typer) -> None:
    @command(commands, "list")
    def list_(out: Output) -> Exit:
        """List what each model is for, and where text and pictures go; asks no server."""
        from kb.contract.base import Empty

        with library(out, "kb connections list") as facade:
            _print(out, facade.connections.list(Empty()))
        return HIT


def _add_test(commands: typer.Typer) -> None:
    @command(commands)
    def test(out: Output, role: _Role = "embedding") -> Exit:
        """Send one harmless sentence to a model and say how it went; nothing of the library is sent."""
        from kb.contract.connections import ConnectionTestRequest

        with library(out, "kb connections test") as facade:
            found = facade.connections.test(ConnectionTestRequest(role=role))
        out.wire(found)
        size = f", {found.dimensions} dimensions" if found.dimensions else ""
        out.line(f"{'✓' if found.ok else '✗'} {role}: {found.detail} ({found.milliseconds:.0f} ms{size})")
        if found.hint:
            out.line(f"  {found.hint}")
        return HIT if found.ok else NO_HIT


def _add_set(commands: typer.Typer) -> None:
    @command(commands, "set")
    def set_(out: Output, role: _Role) -> Exit:
        """Keep a server's key: asked for on a terminal, else the first line of the standard input."""
        from kb.contract.connections import ConnectionKeyRequest

        key = _read_key(role)
        if not key:
            out.error("no key was given", "type it when asked, or pipe it in; never write it into a command line")
            return ERROR
        with library(out, "kb connections key set") as facade:
            _print(out, facade.connections.set_key(ConnectionKeyRequest(role=role, key=key)))
        return HIT


def _add_remove(commands: typer.Typer) -> None:
    @command(commands)
    def remove(out: Output, role: _Role) -> Exit:
        """Forget a server's key."""
        from kb.contract.connections import ConnectionKeyRemoveRequest

        with library(out, "kb connections key remove") as facade:
            _print(out, facade.connections.remove_key(ConnectionKeyRemoveRequest(role=role)))
        return HIT


def _read_key(role: str) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(f"Key of the {role} server", hide_input=True, default="", show_default=False)).strip()
    return sys.stdin.readline(_LONGEST + 2).strip()[:_LONGEST]


def _print(out: Output, found: Connections) -> None:
    out.wire(found)
    for one in found.connections:
        _print_one(out, one)
    if not found.key_store and any(one.key_variable for one in found.connections):
        out.line("this system has no key store: keys come from the environment variables named above")


def _print_one(out: Output, one: Connection) -> None:
    model = f" {one.model}" if one.model else ""
    out.line(f"{one.role}: {one.provider}{model}: {one.data_path}")
    if one.dimensions:
        fits = {True: ", fits the index", False: ", does not fit the index", None: ""}[one.fits_index]
        out.line(f"  {one.dimensions} dimensions{fits}")
    if one.key_variable:
        where = {"key_store": "in the key store", "environment": f"in {one.key_variable}"}.get(one.key, "none")
        out.line(f"  key: {where}")
    if one.problem:
        out.line(f"  {one.problem}" + (f"; {one.hint}" if one.hint else ""))
