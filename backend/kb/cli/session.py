"""The library behind a command: a running server's, or opened here for the time of the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kb.cli.output import Output

if TYPE_CHECKING:
    from kb.app.config_file import Configuration
    from kb.contract.facade import Facade


@contextmanager
def library(out: Output, owner: str) -> Iterator[Facade]:
    """Open the library of this configuration.

    Args:
        out: where warnings about the configuration go.
        owner: the command as others see it while it holds the library, such as `kb ingest`.

    Raises:
        NotFound: `kb init` has not been run.
        Busy: another process holds the library.
    """
    from kb.app.gateway import open_library

    with open_library(configuration(out), owner=owner) as facade:
        yield facade


def configuration(out: Output) -> Configuration:
    """Read the configuration and pass its warnings on."""
    from kb.app.config_file import load_configuration

    found = load_configuration()
    for warning in found.warnings:
        out.note(f"warning: {warning}")
    return found
