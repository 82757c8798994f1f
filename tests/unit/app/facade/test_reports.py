"""Reports of jobs that have none yet, or never will."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kb.app.facade.generations import GenerationsGroup
from kb.app.facade.index import Index
from kb.app.facade.library import Library
from kb.contract.jobs import JobRequest
from kb.domain.errors import InvalidInput
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "hint"),
    [(JobStatus.RUNNING, "wait until it ends"), (JobStatus.CANCELED, "again")],
    ids=["under way", "over"],
)
@pytest.mark.parametrize("kind", [JobKind.INGEST, JobKind.REBUILD, JobKind.GENERATION, JobKind.SWITCH])
def test_a_job_without_a_report_says_what_to_do(kind: JobKind, status: JobStatus, hint: str) -> None:
    job = Job(JobId("j"), kind, status, {}, Progress(), 1, None, None, None, NOON, NOON, None)
    jobs, nothing = cast(Any, SimpleNamespace(get=lambda _id: job)), cast(Any, None)
    library = Library(nothing, nothing, nothing, nothing, jobs, nothing, model=lambda: None, workspace="w")
    index = Index(jobs, nothing, nothing)
    generations = GenerationsGroup(jobs, nothing, nothing)
    reports = {JobKind.INGEST: library.report, JobKind.REBUILD: index.report}
    report: Any = reports.get(kind, generations.built)
    with pytest.raises(InvalidInput, match=f"is {status.value} and has no report") as caught:
        report(JobRequest(job_id="j"))
    assert caught.value.hint.endswith(hint)
