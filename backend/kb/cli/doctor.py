"""`kb doctor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.command import command
from kb.cli.layout import padded
from kb.cli.output import HIT, UNHEALTHY, Exit, Output, counted

if TYPE_CHECKING:
    from kb.contract.index import IndexCheck
    from kb.contract.system import DoctorCheck

_NAME_COLUMNS = 20


def add_to(app: typer.Typer) -> None:
    """Add `doctor`."""

    @command(app)
    def doctor(
        out: Output,
        *,
        fix: Annotated[
            bool, typer.Option("--fix", help="Mend what is made from the library; nothing is embedded again.")
        ] = False,
        deep: Annotated[
            bool, typer.Option("--deep", help="Read every stored vector and every entry of each index.")
        ] = False,
    ) -> Exit:
        """Check that everything Kebab needs is in order."""
        from kb.app.gateway import examine

        report = examine(fix=fix, deep=deep)
        out.wire(report)
        print_checks(out, report.checks)
        failed = sum(not check.ok for check in report.checks)
        out.line()
        out.line(f"{counted(failed, 'check')} failed." if failed else "everything is in order")
        return HIT if report.ok else UNHEALTHY


def print_checks(out: Output, checks: Iterable[DoctorCheck | IndexCheck]) -> None:
    """Print a line for each check, and what to do below those with a hint."""
    for check in checks:
        out.line(f"{'✓' if check.ok else '✗'} {padded(check.name, _NAME_COLUMNS)}{check.detail}")
        fixed = getattr(check, "fixed", None)
        if fixed:
            out.line(f"  {'':<{_NAME_COLUMNS}}fixed: {fixed}")
        if check.hint:
            out.line(f"  {'':<{_NAME_COLUMNS}}hint: {check.hint}")
