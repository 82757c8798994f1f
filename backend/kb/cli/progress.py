"""Progress of a job: one line rewritten on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import typer

from kb.cli.output import Output

if TYPE_CHECKING:
    from kb.contract.jobs import Job

_FIRST_AFTER_S = 0.5
_PLAIN_EVERY_S = 10.0


class ProgressLine:
    """Shows nothing for the first half second: short work needs no progress."""

    def __init__(self, out: Output) -> None:
        self._quiet = out.as_json
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._last_plain = self._started
        self._stage = ""
        self._drawn = False

    def show(self, job: Job) -> None:
        """Show how far a job is."""
        now = time.monotonic()
        if self._quiet or now - self._started < _FIRST_AFTER_S:
            return
        text = self._text(job, now)
        if self._terminal:
            typer.echo(f"\r\033[K{text}", err=True, nl=False)
            self._drawn = True
        elif job.progress.stage != self._stage or now - self._last_plain > _PLAIN_EVERY_S:
            typer.echo(text, err=True)
            self._last_plain, self._stage = now, job.progress.stage

    def close(self) -> None:
        """Clear the line."""
        if self._drawn:
            typer.echo("\r\033[K", err=True, nl=False)

    def _text(self, job: Job, now: float) -> str:
        progress = job.progress
        count = f" {progress.done} of {progress.total}" if progress.total else ""
        note = f"  {progress.note}" if progress.note else ""
        return f"{progress.percent:>3} %  {progress.stage}{count}  {now - self._started:.0f} s{note}"
