"""Runs and jobs of long ago are forgotten; what is live never is."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from kb.adapters.sqlite import jobs as jobs_module
from kb.adapters.sqlite import runs as runs_module
from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.job_control import SqliteJobControl
from kb.adapters.sqlite.jobs import SqliteJobStore
from kb.adapters.sqlite.runs import SqliteIngestRuns
from kb.domain.catalogue import IngestRun
from kb.domain.jobs import JobKind, JobStatus
from tests.builders import NOON


def test_only_the_newest_runs_keep_their_lines(tmp_path: Path) -> None:
    library = Library(tmp_path)
    runs = SqliteIngestRuns(library)
    for number in range(runs_module.KEPT_RUNS + 3):
        runs.save(IngestRun(f"run {number}", {}, NOON + timedelta(minutes=number)), [{"doc_path": "a.md"}])
    assert runs.get("run 2") is None
    assert runs.get("run 3") is not None
    assert library.row("SELECT count(*) FROM ingest_run_items") == (runs_module.KEPT_RUNS,)
    library.close()


def test_a_job_that_waits_outlives_many_that_are_over(tmp_path: Path) -> None:
    library = Library(tmp_path)
    store, control = SqliteJobStore(library), SqliteJobControl(library)
    waiting = store.enqueue(JobKind.INGEST, {"number": -1})
    control.pause(waiting.job_id)
    with library.transaction():
        for number in range(jobs_module.KEPT_JOBS + 2):
            store.enqueue(JobKind.REBUILD, {"number": number})
            over = store.claim("us", 60.0)
            assert over is not None
            assert store.finish(over, JobStatus.SUCCEEDED)
    kept = control.get(waiting.job_id)
    assert kept is not None
    assert kept.status is JobStatus.PENDING
    assert library.row("SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL") == (jobs_module.KEPT_JOBS,)
    library.close()
