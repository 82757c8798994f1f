"""The command `kb`. Nothing heavy is imported here: `kb --help` must not wait."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import Abort, TyperException

from kb.cli import (
    ask,
    backup,
    chunking,
    chunks,
    collections,
    connections,
    doctor,
    documents,
    evaluation,
    graph,
    index,
    ingest,
    init,
    jobs,
    remove,
    search,
    serve,
)
from kb.cli.command import show_help
from kb.cli.output import ERROR, HIT, Output

_ORDER = (
    *("init", "ingest", "search", "ask", "list", "show", "inspect", "collections", "chunks", "chunking"),
    *("graph", "index", "connections", "remove", "jobs", "eval", "backup", "doctor", "serve"),
)
# How typer begins its two kinds of suggestions.
_SUGGESTION = re.compile(r"\. Did you mean | \(Possible options: ")


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


for module in (
    init,
    ingest,
    search,
    ask,
    documents,
    collections,
    chunks,
    chunking,
    graph,
    index,
    connections,
    jobs,
    evaluation,
    remove,
    backup,
    doctor,
    serve,
):
    module.add_to(app)


def main() -> None:
    """Run `kb` and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Windows consoles and the C locale cannot print every letter; a mark is better than a crash.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = app(prog_name="kb", standalone_mode=False)
    except TyperException as error:
        Output().error(*_usage(error))
        code = ERROR
    except (Abort, KeyboardInterrupt):
        code = ERROR
    sys.exit(code)


def _usage(error: TyperException) -> tuple[str, str]:
    """Return what is wrong with a command line, and where help is."""
    message, _, rest = _SUGGESTION.sub("\n", error.format_message().strip()).partition("\n")
    meant = f"did you mean {rest.strip(' .?)')}? " if rest else ""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "kb"
    message = message[:1].lower() + message[1:].rstrip(".").replace(": Input should be", " must be", 1)
    return message, f"{meant}see `{path} --help`"


if __name__ == "__main__":
    main()
