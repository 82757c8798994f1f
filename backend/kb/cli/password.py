"""`--password` with or without a value: asked for on a terminal, read from a pipe, kept nowhere."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

OPTION = "--password"
_ASK = "\0ask"


class AsksForPassword(TyperCommand):
    """A command whose `--password` needs no value: at the end of the line, or before another option, it asks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the context type of typer is private
        """Read the command line."""
        completed: list[str] = []
        for number, word in enumerate(args):
            completed.append(word)
            follows = args[number + 1] if number + 1 < len(args) else None
            if word == OPTION and (follows is None or (follows.startswith("-") and follows != "-")):
                completed.append(_ASK)
        return super().parse_args(ctx, completed)


def given_password(value: str | None, root: Path) -> str | None:
    """Return the password meant by what stands after `--password`: a value, `-` for stdin, nothing to be asked.

    Args:
        value: what stands there.
        root: the workspace.

    Raises:
        InvalidInput: nothing was given after all, or the value is the name of a file: its path was meant.
    """
    if value is None:
        return None
    from kb.app.requests import password_not_path, some_password

    if value == _ASK and sys.stdin.isatty():
        password = getpass.getpass("Password: ")
    elif value in {_ASK, "-"}:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = password_not_path(value, root, Path.cwd())
    return some_password(password)
