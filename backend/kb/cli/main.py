"""The command `kb`. Nothing heavy is imported here: `kb --help` must not wait."""

from __future__ import annotations

import difflib
import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import Abort, TyperException

from kb.cli import ask, doctor, documents, index, ingest, init, jobs, search, serve
from kb.cli.command import show_help
from kb.cli.output import ERROR, HIT, Output

_ORDER = ("init", "ingest", "search", "ask", "list", "show", "inspect", "index", "jobs", "doctor", "serve")
_COMMAND = re.compile(r"^No such command '(.+)'$")


class _Ordered(TyperGroup):
    """Lists commands in the order in which a newcomer needs them."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - the context type of typer is private
        """Return the names."""
        return sorted(super().list_commands(ctx), key=_ORDER.index)


app = typer.Typer(
    name="kb",
    cls=_Ordered,
    help="Kebab: a local knowledge base. A folder of notes in, cited answers out.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _kb(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from kb import __version__

        typer.echo(f"kb {__version__}")
        raise typer.Exit(HIT)
    show_help(context)


for module in (init, ingest, search, ask, documents, index, jobs, doctor, serve):
    module.add_to(app)


def main() -> None:
    """Run `kb` and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Windows consoles and the C locale cannot print every letter; a mark is better than a crash.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        Output().error(*_usage(error))
        code = ERROR
    except (Abort, KeyboardInterrupt):
        code = ERROR
    sys.exit(code)


def _usage(error: TyperException) -> tuple[str, str]:
    """Return what is wrong with a command line, and where help is."""
    message, _, _ = error.format_message().strip().rstrip(".").partition(" (Possible")
    context = getattr(error, "ctx", None)
    near = list(getattr(error, "possibilities", None) or [])
    found = _COMMAND.search(message)
    if context is not None and found:
        near = difflib.get_close_matches(found[1], context.command.list_commands(context), n=1)
    meant = f"did you mean {' or '.join(sorted(near))}? " if near else ""
    path = context.command_path if context is not None else "kb"
    return message[:1].lower() + message[1:], f"{meant}see `{path} --help`"


if __name__ == "__main__":
    main()
