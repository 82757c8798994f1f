"""Progress of a job: one line rewritten on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import typer

from kb.cli.layout import columns_of, spaced, wrapped
from kb.cli.output import Output, counted, width

if TYPE_CHECKING:
    from kb.contract.jobs import Job

# Short work needs no progress; a log wants few lines.
_FIRST_AFTER_S = 1.0
_PLAIN_EVERY_S = 10.0
_SHORTEST_NOTE = 8
_MINUTE = 60
STAGES = {
    "scan": "looking through the workspace",
    "read": "reading files",
    "embed": "making vectors",
    "index": "writing the indexes",
}


class ProgressLine:
    """Shows how far a job is, on stderr."""

    def __init__(self, out: Output) -> None:
        self._quiet = out.as_json
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._last_plain = self._started
        self._drawn = ""

    def show(self, job: Job) -> None:
        """Show how far a job is."""
        now = time.monotonic()
        if self._quiet or now - self._started < _FIRST_AFTER_S or job.finished_at is not None:
            return
        if self._terminal:
            text = self._text(job, now)
            if text != self._drawn:
                typer.echo(f"\r\033[K{text}", err=True, nl=False)
                self._drawn = text
        elif now - self._last_plain >= _PLAIN_EVERY_S:
            typer.echo(self._text(job, now), err=True)
            self._last_plain = now

    def close(self) -> None:
        """Clear the line."""
        if self._drawn:
            typer.echo("\r\033[K", err=True, nl=False)

    def _text(self, job: Job, now: float) -> str:
        if job.paused:
            return f"{job.progress.percent:>3} %  {rest_text(job)}"
        text = f"{how_far(job)}  {now - self._started:.0f} s"
        # A line that wraps could not be rewritten.
        room = width() - 1
        left = f", {left_text(job.progress.seconds_left)}" if job.progress.seconds_left else ""
        if columns_of(text + left) <= room:
            text += left
        if columns_of(text) > room:
            text = wrapped(text, room)[0]
        return text + _note(job.progress.note, room - columns_of(text))


def how_far(job: Job) -> str:
    """Return how far a job is, in a few words."""
    progress = job.progress
    count = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    waits = "waiting for the job before it" if job.status == "pending" else job.status
    stage = STAGES.get(progress.stage, progress.stage or waits)
    return f"{progress.percent:>3} %  {stage}{count}"


def rate_text(job: Job) -> str:
    """Return how fast a job goes and what it has read so far; empty when nothing is known."""
    progress = job.progress
    said = []
    if progress.rate:
        said.append(f"{progress.rate:,.1f} a second")
    if progress.seconds_left:
        said.append(left_text(progress.seconds_left))
    if progress.files_total and progress.stage != "read":
        said.append(f"{progress.files:,} of {counted(progress.files_total, 'file')}")
    if progress.pages:
        said.append(counted(progress.pages, "page"))
    if progress.sound_seconds:
        said.append(f"{duration(progress.sound_seconds)} of sound")
    return ", ".join(said)


def rest_text(job: Job) -> str:
    """Return why a job rests."""
    why = "the computer runs on its battery" if job.pause_reason == "battery" else f"`kb jobs --resume {job.id}`"
    return f"resting: {why}" if job.pause_reason == "battery" else f"paused: {why} lets it go on"


def left_text(seconds: float) -> str:
    """Return the time left, as exact as it deserves."""
    return f"{duration(seconds)} left"


def duration(seconds: float) -> str:
    """Return seconds as a person says them."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < 60 * _MINUTE:
        return f"{whole // _MINUTE} min"
    return f"{whole // (60 * _MINUTE)} h {whole % (60 * _MINUTE) // _MINUTE} min"


def _note(note: str, room: int) -> str:
    """Return what is being read in `room` columns: its end says which file, and how far it is."""
    plain = spaced(note)
    start, used = len(plain), columns_of("  …")
    while start and used + columns_of(plain[start - 1]) <= room:
        start -= 1
        used += columns_of(plain[start])
    if not start or columns_of(plain) + 2 <= room:
        return f"  {plain}" if plain else ""
    return f"  …{plain[start:]}" if len(plain) - start >= _SHORTEST_NOTE else ""
