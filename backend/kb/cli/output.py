"""How commands speak: one wire object for programs, or words for people; errors with a remedy."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from kb.contract.base import Wire

Exit = Literal[0, 1, 2, 3]
HIT: Exit = 0
NO_HIT: Exit = 1
ERROR: Exit = 2
UNHEALTHY: Exit = 3

_WIDEST = 100
# Notes and file names may hold anything; a terminal must be given nothing but text and our styles.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;]*m)")


@dataclass(frozen=True, slots=True)
class Output:
    """Where and how one command prints.

    Attributes:
        as_json: exactly one wire object (or one a line) on stdout, nothing else.
        verbose: errors carry the chain of causes.
        debug: log records and tracebacks go to stderr.
    """

    as_json: bool = False
    verbose: bool = False
    debug: bool = False

    def line(self, text: str = "") -> None:
        """Print a line for people; a pipe gets it without styles."""
        if not self.as_json:
            typer.echo(safe(text), color=colours())

    def piece(self, text: str) -> None:
        """Print a piece of a line at once."""
        if not self.as_json:
            typer.echo(safe(text), nl=False, color=colours())
            sys.stdout.flush()

    def wire(self, value: Wire) -> None:
        """Print a wire object on one line."""
        if self.as_json:
            typer.echo(value.model_dump_json())

    def note(self, text: str) -> None:
        """Tell people something beside the result, on stderr."""
        if not self.as_json:
            typer.echo(safe(text), err=True, color=colours())

    def error(self, message: str, hint: str = "", cause: BaseException | None = None) -> None:
        """Print the fact and the remedy on stderr, one line each; `verbose` adds what led to `cause`."""
        typer.echo(f"error: {one_line(message)}", err=True)
        if hint:
            typer.echo(f"hint: {one_line(hint)}", err=True)
        if self.verbose and cause is not None:
            for reason in causes(cause):
                typer.echo(f"caused by: {reason}", err=True)

    @property
    def streams(self) -> bool:
        """Return whether a person watches: only then is text printed piece by piece."""
        return not self.as_json and sys.stdout.isatty()


def safe(text: str) -> str:
    """Return a text without controls that would steer a terminal; line ends, tabs and styles stay."""
    return _UNSAFE.sub("\ufffd", text)


def causes(error: BaseException) -> list[str]:
    """Return what led to an error, nearest first."""
    found: list[str] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and len(found) < _WIDEST:
        found.append(one_line(f"{type(cause).__name__}: {cause}"))
        cause = cause.__cause__ or cause.__context__
    return found


def one_line(text: str) -> str:
    """Return a text with line breaks and controls as spaces: a file name must not forge a second line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split(" ")).strip()


def colours() -> bool | None:
    """Return False when styles are not wanted (NO_COLOR, a dumb terminal), else None: typer looks itself."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def width() -> int:
    """Return the columns to use: those of the terminal, at most 100."""
    return min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 passage` or `1,200 passages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
