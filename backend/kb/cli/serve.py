"""`kb serve`: the local HTTP interface."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.command import command
from kb.cli.output import HIT, Exit, Output
from kb.cli.session import configuration


def add_to(app: typer.Typer) -> None:
    """Add `serve`."""

    @command(app)
    def serve(
        out: Output,
        *,
        port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 0,
    ) -> Exit:
        """Serve the library on this computer until Ctrl-C."""
        from kb.app.gateway import announce, open_own_library
        from kb.bridge.server import serve_facade
        from kb.contract.system import Server

        settings = configuration(out)
        with open_own_library(settings, owner="kb serve", serving=True) as facade:

            def ready(url: str, token: str, code: str) -> None:
                announce(settings, url, token)
                out.wire(Server(url=url, token=token))
                out.line(f"Kebab is ready at {url}/#k={code}  (Ctrl-C stops it; other `kb` commands work through it)")

            serve_facade(facade, port=port, on_ready=ready)
        return HIT
