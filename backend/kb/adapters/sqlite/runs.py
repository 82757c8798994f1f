"""Runs of ingest, and settings a person changed."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import compact
from kb.domain.catalogue import IngestRun, Page
from kb.domain.ids import Json

_COLUMNS = (
    "run_id, scope_json, started_at, finished_at, scanned, new_count, updated_count, skipped_count, deleted_count,"
    " renamed_count, error_count, duration_ms"
)


KEPT_RUNS = 50
"""Older runs are forgotten with their lines."""


class SqliteIngestRuns:
    """Wraps the library file: what each run of ingest did, item by item."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def save(self, run: IngestRun, items: Sequence[Mapping[str, Json]] = ()) -> None:
        """Add or renew a run; `items` follow those saved before, so that a long run keeps none in memory."""
        values = (
            run.run_id,
            compact(dict(run.scope)),
            run.started_at.isoformat(),
            run.finished_at.isoformat() if run.finished_at else None,
            run.scanned,
            run.new,
            run.updated,
            run.skipped,
            run.deleted,
            run.renamed,
            run.errors,
            run.duration_ms,
        )
        marks = ",".join("?" * len(values))
        renew = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[1:])
        with self._library.transaction() as connection:
            connection.execute(
                f"INSERT INTO ingest_runs ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (run_id) DO UPDATE SET {renew}",
                values,
            )
            (first,) = connection.execute(
                "SELECT coalesce(max(ordinal), -1) + 1 FROM ingest_run_items WHERE run_id = ?", (run.run_id,)
            ).fetchone()
            connection.executemany(
                "INSERT INTO ingest_run_items VALUES (?,?,?)",
                ((run.run_id, ordinal, compact(dict(item))) for ordinal, item in enumerate(items, first)),
            )
            # A line a file and run would outgrow the notes themselves within a year of daily runs.
            connection.execute(
                "DELETE FROM ingest_runs WHERE rowid NOT IN"
                " (SELECT rowid FROM ingest_runs ORDER BY rowid DESC LIMIT ?)",
                (KEPT_RUNS,),
            )

    def get(self, run_id: str) -> IngestRun | None:
        """Return a run."""
        row = self._library.row(f"SELECT {_COLUMNS} FROM ingest_runs WHERE run_id = ?", (run_id,))
        return _run(row) if row else None

    def recent(self, limit: int) -> list[IngestRun]:
        """Return the newest runs first."""
        sql = f"SELECT {_COLUMNS} FROM ingest_runs ORDER BY rowid DESC LIMIT ?"
        return [_run(row) for row in self._library.rows(sql, (limit,))]

    def items(self, run_id: str, after: int = -1, limit: int = 1000) -> Page[Mapping[str, Json]]:
        """Return what a run did to each item, in its order, those after number `after`."""
        rows = self._library.rows(
            "SELECT ordinal, item_json FROM ingest_run_items WHERE run_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?",
            (run_id, after, limit + 1),
        )
        shown = rows[:limit]
        return Page(tuple(json.loads(text) for _, text in shown), str(shown[-1][0]) if len(rows) > limit else None)


class SqliteSettings:
    """Wraps the library file: settings that belong to the library, as JSON values by key."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def get(self, key: str) -> Json:
        """Return a setting, None when it was never set."""
        row = self._library.row("SELECT value FROM settings WHERE key = ?", (key,))
        value: Json = json.loads(row[0]) if row else None
        return value

    def set(self, key: str, value: Json) -> None:
        """Keep a setting; None forgets it."""
        with self._library.transaction() as connection:
            if value is None:
                connection.execute("DELETE FROM settings WHERE key = ?", (key,))
            else:
                connection.execute("INSERT OR REPLACE INTO settings VALUES (?,?)", (key, compact(value)))


def _run(row: Sequence[Any]) -> IngestRun:
    return IngestRun(
        row[0],
        json.loads(row[1]),
        datetime.fromisoformat(row[2]),
        datetime.fromisoformat(row[3]) if row[3] else None,
        *row[4:],
    )
