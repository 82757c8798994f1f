"""`kb doctor`."""

from __future__ import annotations

import typer

from kb.cli.command import command
from kb.cli.output import HIT, UNHEALTHY, Exit, Output


def add_to(app: typer.Typer) -> None:
    """Add `doctor`."""

    @command(app)
    def doctor(out: Output) -> Exit:
        """Check that everything Kebab needs is in order."""
        from kb.app.gateway import examine

        report = examine()
        out.wire(report)
        for check in report.checks:
            out.line(f"{'✓' if check.ok else '✗'} {check.name:<20}{check.detail}")
            if check.hint and not check.ok:
                out.line(f"  {'':<20}hint: {check.hint}")
        failed = sum(not check.ok for check in report.checks)
        out.line()
        out.line(f"{failed} check{'s' if failed != 1 else ''} failed." if failed else "everything is in order")
        return HIT if report.ok else UNHEALTHY
