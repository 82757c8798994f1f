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
def library(out: Output, owner: str, settings: Configuration | None = None) -> Iterator[Facade]:
    """Open the library of this configuration.

    Args:
        out: where warnings about the configuration go.
        owner: the command as others see it while it holds the library, such as `kb ingest`.
        settings: the configuration, when the caller has read it already.

    Raises:
        NotFound: `kb init` has not been run.
        Busy: another process holds the library.
    """
    from kb.app.gateway import open_library

    with open_library(settings or configuration(out), owner=owner, on_wait=out.note) as facade:
        yield facade


def configuration(out: Output, *, mends: bool = False) -> Configuration:
    """Read the configuration and pass its warnings on; with `mends` a broken file counts as an empty one."""
    from kb.app.config_file import load_configuration

    found = load_configuration(tolerant=mends)
    for warning in found.warnings:
        out.note(f"warning: {warning}")
    return found
