"""Rows of jobs."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest

JOB_COLUMNS = (
    "job_id, kind, status, payload_json, progress_json, attempts, error_json, result_json, created_at, updated_at,"
    " finished_at, subject, request_key, priority, fencing_token, owner, lease_expires_at, not_before, most_attempts,"
    " rest, dead, retry_of"
)


def moment_text(moment: datetime) -> str:
    """Return a time that compares as a text with others."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def one_job(connection: sqlite3.Connection, condition: str, values: Sequence[Any]) -> Job | None:
    """Return a job that meets `condition`, the oldest of several."""
    row = connection.execute(
        f"SELECT {JOB_COLUMNS} FROM jobs WHERE {condition} ORDER BY created_at, rowid LIMIT 1", values
    ).fetchone()
    return job_of(row) if row else None


def job_of(row: Sequence[Any]) -> Job:
    """Return a row of `JOB_COLUMNS` as a job."""
    error = json.loads(row[6]) if row[6] else None
    return Job(
        job_id=JobId(row[0]),
        kind=JobKind(row[1]),
        status=JobStatus(row[2]),
        payload=json.loads(row[3]),
        progress=Progress(**json.loads(row[4])),
        attempts=row[5],
        error_code=error["code"] if error else None,
        error_message=error["message"] if error else None,
        result=json.loads(row[7]) if row[7] else None,
        created_at=datetime.fromisoformat(row[8]),
        updated_at=datetime.fromisoformat(row[9]),
        finished_at=_moment(row[10]),
        subject=row[11],
        request_key=row[12],
        priority=row[13],
        fencing_token=row[14],
        owner=row[15],
        lease_expires_at=_moment(row[16]),
        not_before=_moment(row[17]),
        most_attempts=row[18],
        rest=Rest(row[19]) if row[19] else None,
        dead=bool(row[20]),
        retry_of=row[21],
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
