"""Jobs: a queue that survives the process."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import compact, now_text
from kb.domain.errors import NotFound
from kb.domain.ids import Json, canonical_json, uuid7
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress

_COLUMNS = (
    "job_id, kind, status, payload_json, progress_json, attempts, error_json, result_json, created_at, updated_at,"
    " finished_at"
)
_MOST_BEFORE_COMMIT = 99
_ORDER = "ORDER BY created_at, rowid"


KEPT_JOBS = 500
"""Older ones that are over are forgotten."""


class SqliteJobStore:
    """Wraps the library file: the queue as the runner sees it."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def enqueue(self, kind: JobKind, payload: Mapping[str, Json]) -> Job:
        """Add a pending job; the same kind and payload while one is live return that one."""
        now = now_text()
        job_id = uuid7(time.time_ns() // 1_000_000, os.urandom(10))
        text = canonical_json(payload).decode()
        with self._library.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO jobs (job_id, kind, status, payload_json, progress_json, created_at, updated_at)"
                " VALUES (?,?,'pending',?,?,?,?)",
                (job_id, kind.value, text, compact(asdict(Progress())), now, now),
            )
            live = "kind = ? AND payload_json = ? AND status IN ('pending','running')"
            return _one(connection, live, (kind.value, text))

    def claim(self) -> Job | None:
        """Take the oldest pending job and mark it running."""
        with self._library.transaction() as connection:
            row = connection.execute(
                "UPDATE jobs SET status = 'running', attempts = attempts + 1, updated_at = ? WHERE job_id ="
                f" (SELECT job_id FROM jobs WHERE status = 'pending' {_ORDER} LIMIT 1) RETURNING {_COLUMNS}",
                (now_text(),),
            ).fetchone()
            return _job(row) if row else None

    def report(self, job_id: JobId, progress: Progress) -> bool:
        """Store progress; return False when the job should stop."""
        shown = replace(progress, percent=min(progress.percent, _MOST_BEFORE_COMMIT))
        with self._library.transaction() as connection:
            row = connection.execute(
                "UPDATE jobs SET progress_json = ?, updated_at = ? WHERE job_id = ? AND status = 'running'"
                " RETURNING cancel_requested",
                (compact(asdict(shown)), now_text(), job_id),
            ).fetchone()
            return row is not None and not row[0]

    def finish(
        self,
        job_id: JobId,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
    ) -> None:
        """End a job; `error` is (code, message). A job that is over stays as it is.

        Raises:
            NotFound: there is no such job.
        """
        now = now_text()
        with self._library.transaction() as connection:
            job = _one(connection, "job_id = ?", (job_id,))
            percent = 100 if status is JobStatus.SUCCEEDED else job.progress.percent
            connection.execute(
                "UPDATE jobs SET status = ?, progress_json = ?, result_json = ?, error_json = ?, updated_at = ?,"
                " finished_at = ? WHERE job_id = ? AND status IN ('pending','running')",
                (
                    status.value,
                    compact(asdict(replace(job.progress, percent=percent))),
                    None if result is None else compact(dict(result)),
                    None if error is None else compact({"code": error[0], "message": error[1]}),
                    now,
                    now,
                    job_id,
                ),
            )
            connection.execute(
                "DELETE FROM jobs WHERE finished_at IS NOT NULL AND rowid NOT IN"
                " (SELECT rowid FROM jobs ORDER BY rowid DESC LIMIT ?)",
                (KEPT_JOBS,),
            )


class SqliteJobControl:
    """Wraps the library file: looking at jobs and stopping them."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def get(self, job_id: JobId) -> Job | None:
        """Return a job."""
        row = self._library.row(f"SELECT {_COLUMNS} FROM jobs WHERE job_id = ?", (job_id,))
        return _job(row) if row else None

    def recent(self, limit: int) -> list[Job]:
        """Return the newest jobs first."""
        rows = self._library.rows(
            f"SELECT {_COLUMNS} FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT ?",
            (limit,),
        )
        return [_job(row) for row in rows]

    def request_cancel(self, job_id: JobId) -> Job | None:
        """Ask a live job to stop: a pending one is canceled at once."""
        now = now_text()
        with self._library.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET cancel_requested = 1, updated_at = ?1,"
                " finished_at = CASE status WHEN 'pending' THEN ?1 END,"
                " status = CASE status WHEN 'pending' THEN 'canceled' ELSE status END"
                " WHERE job_id = ?2 AND status IN ('pending','running')",
                (now, job_id),
            )
            row = connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE job_id = ?", (job_id,)).fetchone()
            return _job(row) if row else None

    def requeue_orphans(self) -> int:
        """At start: put back what a dead process left running; return how many.

        Those a person had asked to stop are canceled instead.
        """
        now = now_text()
        with self._library.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET status = 'canceled', updated_at = ?1, finished_at = ?1"
                " WHERE status = 'running' AND cancel_requested = 1",
                (now,),
            )
            return connection.execute(
                "UPDATE jobs SET status = 'pending', updated_at = ? WHERE status = 'running'", (now,)
            ).rowcount


def _one(connection: sqlite3.Connection, condition: str, values: Sequence[str]) -> Job:
    row = connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE {condition}", values).fetchone()
    if row is None:
        raise NotFound("there is no such job", hint="`kb jobs` lists the jobs")
    return _job(row)


def _job(row: Sequence[Any]) -> Job:
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
        finished_at=datetime.fromisoformat(row[10]) if row[10] else None,
    )
