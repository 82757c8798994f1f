"""The line of progress fits its terminal and still says which file is read, and how far that is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import pytest

from kb.cli import progress
from kb.cli.layout import columns_of
from kb.cli.output import Output
from kb.cli.progress import ProgressLine
from kb.contract.jobs import Job, JobProgress

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def job_with(far: JobProgress, status: Literal["pending", "running"]) -> Job:
    return Job(
        id="job-1",
        kind="ingest",
        status=status,
        progress=far,
        attempts=1,
        error=None,
        created_at=NOW,
        updated_at=NOW,
        finished_at=None,
    )


def line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], note: str, columns: int) -> str:
    """Return what is drawn on a terminal for a run that is 40 files far."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "_FIRST_AFTER_S", -1.0)
    far = JobProgress(stage="read", done=40, total=68, percent=23, note=note)
    job = job_with(far, "running")
    ProgressLine(Output()).show(job)
    return capsys.readouterr().err.removeprefix("\r\033[K")


def test_a_short_note_stands_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = line(monkeypatch, capsys, "a.pdf: page 3 of 9", 80)
    assert drawn == " 23 %  reading files 40 of 68  0 s  a.pdf: page 3 of 9"


@pytest.mark.parametrize("columns", [60, 72, 100])
@pytest.mark.parametrize(
    "path", ["papers/" + "a-very-long-name-" * 8 + "v2.pdf", "논문/" + "아주긴이름" * 20 + "v2.pdf"]
)
def test_of_a_long_note_the_end_stands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str, columns: int
) -> None:
    drawn = line(monkeypatch, capsys, f"{path}: page 3 of 9", columns)
    assert drawn.startswith(" 23 %  reading files 40 of 68  0 s  …")
    assert drawn.endswith("v2.pdf: page 3 of 9")
    assert columns - 3 <= columns_of(drawn) <= columns - 1


def test_where_there_is_no_room_there_is_no_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line(monkeypatch, capsys, "a.pdf: page 3 of 9", 40) == " 23 %  reading files 40 of 68  0 s"


def test_a_job_that_has_not_begun_waits_for_the_one_before_it() -> None:
    waiting = JobProgress(stage="", done=0, total=0, percent=0)
    job = job_with(waiting, "pending")
    assert progress.how_far(job) == "  0 %  waiting for the job before it"
