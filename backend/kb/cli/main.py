"""The command `kb`. Nothing heavy is imported here: `kb --help` must not wait."""

from __future__ import annotations

import sys

import typer

from kb.cli import ask, doctor, documents, index, ingest, init, jobs, search, serve
from kb.cli.output import ERROR

app = typer.Typer(
    name="kb",
    help="Kebab: a local knowledge base. A folder of notes in, cited answers out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (init, ingest, search, ask, documents, index, jobs, doctor, serve):
    module.add_to(app)


def main() -> None:
    """Run `kb` and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Windows consoles and the C locale cannot print every letter; a mark is better than a crash.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(ERROR)


if __name__ == "__main__":
    main()
