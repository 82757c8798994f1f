"""`kb init`."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, Exit, Output
from kb.cli.session import configuration


def add_to(app: typer.Typer) -> None:
    """Add `init`."""

    @command(app)
    def init(
        out: Output,
        *,
        force: Annotated[
            bool, typer.Option("--force", help="Write the config file anew; the old one is kept beside it.")
        ] = False,
    ) -> Exit:
        """Make the config file, the library and the workspace."""
        from kb.app.gateway import open_library
        from kb.app.workspace_setup import completed, initialise

        settings = configuration(out, mends=force)
        report = initialise(settings, force=force)
        with open_library(settings, owner="kb init", creates=True, on_wait=out.note) as facade:
            report = completed(report, settings, facade)
        for step in report.steps:
            out.line(f"{step.action:<9}{step.detail}")
        out.wire(report)
        return HIT
