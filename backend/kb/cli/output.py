"""How commands speak: one wire object for programs, or words for people; errors with a remedy."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from kb.contract.base import Wire
    from kb.domain.errors import KebabError

Exit = Literal[0, 1, 2, 3]
HIT: Exit = 0
NO_HIT: Exit = 1
ERROR: Exit = 2
UNHEALTHY: Exit = 3


@dataclass(frozen=True, slots=True)
class Output:
    """Where and how one command prints.

    Attributes:
        as_json: exactly one wire object (or one a line) on stdout, nothing else.
        verbose: errors carry the chain of causes.
        debug: log records go to stderr.
    """

    as_json: bool = False
    verbose: bool = False
    debug: bool = False

    def line(self, text: str = "") -> None:
        """Print a line for people; a pipe gets it without styles."""
        if not self.as_json:
            typer.echo(text, color=colours())

    def piece(self, text: str) -> None:
        """Print a piece of a line at once."""
        if not self.as_json:
            typer.echo(text, nl=False, color=colours())
            sys.stdout.flush()

    def wire(self, value: Wire) -> None:
        """Print a wire object on one line."""
        if self.as_json:
            typer.echo(value.model_dump_json())

    def note(self, text: str) -> None:
        """Tell people something beside the result, on stderr."""
        if not self.as_json:
            typer.echo(text, err=True, color=colours())

    def error(self, error: KebabError) -> None:
        """Print the fact and the remedy on stderr."""
        typer.echo(f"error: {error.message}", err=True)
        if error.hint:
            typer.echo(f"hint: {error.hint}", err=True)
        if self.verbose:
            for cause in causes(error):
                typer.echo(f"caused by: {cause}", err=True)


def causes(error: BaseException) -> list[str]:
    """Return what led to an error, nearest first."""
    found = []
    cause = error.__cause__ or error.__context__
    while cause is not None:
        found.append(f"{type(cause).__name__}: {cause}")
        cause = cause.__cause__ or cause.__context__
    return found


def colours() -> bool | None:
    """Return False when styles are not wanted, else None: typer looks for a terminal itself."""
    return False if os.environ.get("NO_COLOR") else None


def width() -> int:
    """Return the columns to use: those of the terminal, at most 100."""
    return min(shutil.get_terminal_size((80, 24)).columns, 100)
