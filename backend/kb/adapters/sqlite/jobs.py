"""Jobs: a queue that survives the process."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.job_rows import JOB_COLUMNS, job_of, moment_text, one_job
from kb.adapters.sqlite.json_text import compact, now_text
from kb.domain.errors import Conflict, ErrorCode
from kb.domain.ids import Json, canonical_json, uuid7
from kb.domain.jobs import Job, JobKind, JobStatus, Progress, Rest, Standing

KEPT_JOBS = 500
"""Older ones that are over are forgotten."""

MOST_INTERRUPTIONS = 5
"""So often may its process be killed before a job counts as the cause."""

_MOST_BEFORE_COMMIT = 99
_HELD = "job_id = ? AND status = 'running' AND fencing_token = ? AND lease_expires_at > ?"
_LIVE = "status IN ('pending','running')"
# A running job without a lease that holds is nobody's.
_FREE = "(status = 'pending' OR status = 'running' AND lease_expires_at <= :now)"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqliteJobStore:
    """Wraps the library file: the queue as the runner sees it.

    Args:
        library: the library file.
        now: the clock of the wall, which leases and back-off go by; read anew at every check.
    """

    def __init__(self, library: Library, now: Callable[[], datetime] = _utc_now) -> None:
        self._library = library
        self._now = now

    def enqueue(
        self,
        kind: JobKind,
        payload: Mapping[str, Json],
        *,
        subject: str = "",
        request_key: str | None = None,
        priority: int = 0,
        most_attempts: int = 5,
    ) -> Job:
        """Add a pending job; the same kind, subject and payload while one is live return that one.

        One that is live takes the higher priority of both.

        Raises:
            Conflict: other work of this kind and subject is under way and the kind does not queue, or `request_key`
                was used for another request.
        """
        text = canonical_json(payload).decode()
        with self._library.transaction() as connection:
            if request_key is not None:
                known = one_job(connection, "request_key = ?", (request_key,))
                if known is not None:
                    return _same_request(known, kind, text)
            return add_job(connection, kind, text, subject=subject, key=request_key, levels=(priority, most_attempts))

    def claim(self, owner: str, lease_s: float, *, above: int | None = None) -> Job | None:
        """Take the pending job of the highest priority, above `above`, oldest first, for `lease_s` seconds."""
        now = self._now()
        with self._library.transaction() as connection:
            row = connection.execute(
                "UPDATE jobs SET status = 'running', attempts = attempts + 1, fencing_token = fencing_token + 1,"
                " owner = :owner, lease_expires_at = :until, not_before = NULL, updated_at = :local WHERE job_id ="
                f" (SELECT job_id FROM jobs WHERE {_FREE} AND {_DUE} ORDER BY priority DESC, created_at, rowid LIMIT 1)"
                f" RETURNING {JOB_COLUMNS}",
                {
                    "owner": owner,
                    "until": moment_text(now + timedelta(seconds=lease_s)),
                    "now": moment_text(now),
                    "above": above,
                    "local": now_text(),
                },
            ).fetchone()
            return job_of(row) if row else None

    def heartbeat(self, job: Job, lease_s: float) -> bool:
        """Hold the job for `lease_s` seconds from now; False when the lease had run out or another has the job."""
        with self._library.transaction() as connection:
            # Asked inside: the wait for the writer may have been long.
            now = self._now()
            until = moment_text(now + timedelta(seconds=lease_s))
            return bool(
                connection.execute(
                    f"UPDATE jobs SET lease_expires_at = ? WHERE {_HELD}",
                    (until, job.job_id, job.fencing_token, moment_text(now)),
                ).rowcount
            )

    def reclaim(self, job: Job, lease_s: float) -> Job | None:
        """Take a job anew whose lease ran out, under a new token; None when another had it meanwhile.

        After a sleep of the computer: nobody else can have worked on it unless the token rose. It is the same attempt.
        """
        with self._library.transaction() as connection:
            row = connection.execute(
                "UPDATE jobs SET fencing_token = fencing_token + 1, lease_expires_at = ? WHERE job_id = ?"
                f" AND status = 'running' AND fencing_token = ? AND owner = ? RETURNING {JOB_COLUMNS}",
                (moment_text(self._now() + timedelta(seconds=lease_s)), job.job_id, job.fencing_token, job.owner),
            ).fetchone()
            return job_of(row) if row else None

    def look(self, job: Job) -> Standing:
        """Return how the job stands; only reads."""
        now = moment_text(self._now())
        row = self._library.row(
            "SELECT cancel_requested, rest, EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND rest IS NULL"
            " AND (not_before IS NULL OR not_before <= ?) AND priority > ?) FROM jobs"
            " WHERE job_id = ? AND status = 'running' AND fencing_token = ? AND lease_expires_at > ?",
            (now, job.priority, job.job_id, job.fencing_token, now),
        )
        if row is None:
            return Standing(is_held=False)
        return Standing(
            is_held=True, cancel_requested=bool(row[0]), rest=Rest(row[1]) if row[1] else None, urgent=bool(row[2])
        )

    def set_rest(self, job: Job, rest: Rest | None) -> None:
        """Say that the job rests by itself or goes on; what a person asked for stays."""
        with self._library.transaction() as connection:
            connection.execute(
                f"UPDATE jobs SET rest = ?, updated_at = ? WHERE rest IS NOT 'asked' AND {_HELD}",
                (rest, now_text(), *self._held(job)),
            )

    def report(self, job: Job, progress: Progress) -> bool:
        """Store progress, at most 99 %; return False when the job should stop: it is asked to, or no longer held."""
        shown = replace(progress, percent=min(progress.percent, _MOST_BEFORE_COMMIT))
        with self._library.transaction() as connection:
            row = connection.execute(
                f"UPDATE jobs SET progress_json = ?, updated_at = ? WHERE {_HELD} RETURNING cancel_requested",
                (compact(asdict(shown)), now_text(), *self._held(job)),
            ).fetchone()
            return row is not None and not row[0]

    def finish(
        self,
        job: Job,
        status: JobStatus,
        *,
        result: Mapping[str, Json] | None = None,
        error: tuple[str, str] | None = None,
        dead: bool = False,
    ) -> bool:
        """End a job; `error` is (code, message). False when it is no longer held, and nothing is written."""
        now = now_text()
        with self._library.transaction() as connection:
            held = one_job(connection, _HELD, self._held(job))
            if held is None:
                return False
            percent = 100 if status is JobStatus.SUCCEEDED else held.progress.percent
            connection.execute(
                "UPDATE jobs SET status = ?, progress_json = ?, result_json = ?, error_json = ?, updated_at = ?,"
                " finished_at = ?, dead = ?, rest = NULL, lease_expires_at = NULL WHERE job_id = ?",
                (
                    status.value,
                    compact(asdict(replace(held.progress, percent=percent))),
                    None if result is None else compact(dict(result)),
                    _error_text(error),
                    now,
                    now,
                    dead,
                    job.job_id,
                ),
            )
            connection.execute(
                "DELETE FROM jobs WHERE finished_at IS NOT NULL AND rowid NOT IN"
                " (SELECT rowid FROM jobs ORDER BY rowid DESC LIMIT ?)",
                (KEPT_JOBS,),
            )
            return True

    def put_back(
        self, job: Job, *, not_before: datetime | None = None, error: tuple[str, str] | None = None, counts: bool = True
    ) -> bool:
        """Let a job wait again, the attempt counted or not; False when it is no longer held."""
        with self._library.transaction() as connection:
            return bool(
                connection.execute(
                    "UPDATE jobs SET status = 'pending', not_before = ?, error_json = ?, attempts = attempts - ?,"
                    f" {_IDLE}, updated_at = ? WHERE {_HELD}",
                    (
                        moment_text(not_before) if not_before else None,
                        _error_text(error),
                        not counts,
                        now_text(),
                        *self._held(job),
                    ),
                ).rowcount
            )

    def requeue_orphans(self, owner: str) -> int:
        """At start, holding the library: put back what other processes left running; return how many.

        Those a person had asked to stop are canceled; those whose process was killed again and again have failed.
        """
        left = "status = 'running' AND owner IS NOT :owner"
        values = {"now": now_text(), "owner": owner, "least": MOST_INTERRUPTIONS, "error": _error_text(_INTERRUPTED)}
        over = f"updated_at = :now, finished_at = :now, {_IDLE}"
        with self._library.transaction() as connection:
            connection.execute(f"UPDATE jobs SET status = 'canceled', {over} WHERE {left} AND cancel_requested", values)
            connection.execute(
                f"UPDATE jobs SET status = 'failed', dead = 1, error_json = :error, {over}"
                f" WHERE {left} AND attempts >= max(most_attempts, :least)",
                values,
            )
            return connection.execute(
                f"UPDATE jobs SET status = 'pending', updated_at = :now, {_IDLE} WHERE {left}", values
            ).rowcount

    def _held(self, job: Job) -> tuple[str, int, str]:
        return job.job_id, job.fencing_token, moment_text(self._now())


_DUE = "rest IS NULL AND (not_before IS NULL OR not_before <= :now) AND (:above IS NULL OR priority > :above)"
# It rests by itself only while somebody works on it.
_IDLE = "lease_expires_at = NULL, rest = CASE rest WHEN 'battery' THEN NULL ELSE rest END"
_INTERRUPTED = (
    ErrorCode.INTERNAL.value,
    f"the program ended {MOST_INTERRUPTIONS} times while it ran\nsee the log, then try it with `kb jobs --retry ID`",
)


def add_job(
    connection: sqlite3.Connection,
    kind: JobKind,
    payload: str,
    *,
    subject: str,
    levels: tuple[int, int],
    key: str | None = None,
    retry_of: str | None = None,
) -> Job:
    """Add a pending job, or return the live one of the same request.

    Args:
        connection: in a transaction.
        kind: what it does.
        payload: canonical JSON.
        subject: what it works on.
        levels: (priority, most_attempts); one that is live takes the higher priority of both.
        key: of the request.
        retry_of: the job tried anew.

    Raises:
        Conflict: other work of this kind and subject is under way and the kind does not queue.
    """
    priority = levels[0]
    live = one_job(connection, f"kind = ? AND subject = ? AND payload_json = ? AND {_LIVE}", (kind, subject, payload))
    if live is not None:
        if priority > live.priority:
            connection.execute("UPDATE jobs SET priority = ? WHERE job_id = ?", (priority, live.job_id))
        return replace(live, priority=max(priority, live.priority))
    if not kind.queues and one_job(connection, f"kind = ? AND subject = ? AND {_LIVE}", (kind, subject)):
        hint = "wait until it ends, or stop it with `kb jobs --cancel ID`"
        raise Conflict(f"another {kind.value} is under way", hint=hint)
    now = now_text()
    row = connection.execute(
        "INSERT INTO jobs (job_id, kind, status, payload_json, progress_json, created_at, updated_at, subject,"
        " request_key, priority, most_attempts, retry_of)"
        f" VALUES (?,?,'pending',?,?,?,?,?,?,?,?,?) RETURNING {JOB_COLUMNS}",
        (
            uuid7(time.time_ns() // 1_000_000, os.urandom(10)),
            kind.value,
            payload,
            compact(asdict(Progress())),
            now,
            now,
            subject,
            key,
            *levels,
            retry_of,
        ),
    ).fetchone()
    return job_of(row)


def _same_request(known: Job, kind: JobKind, payload: str) -> Job:
    if known.kind is not kind or canonical_json(known.payload).decode() != payload:
        raise Conflict("this request key was used for another request", hint="choose a new key for a new request")
    return known


def _error_text(error: tuple[str, str] | None) -> str | None:
    return None if error is None else compact({"code": error[0], "message": error[1]})
