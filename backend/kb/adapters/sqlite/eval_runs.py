"""Runs of evaluation: by what they were made, and how good they were."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.gate import VISIBLE_DOCUMENTS
from kb.adapters.sqlite.json_text import compact
from kb.evaluation.ports import EvalRun

_COLUMNS = "run_id, suite, suite_hash, config_json, metrics_json, created_at, finished_at"


class SqliteEvalRuns:
    """Wraps the library file: the runs of evaluation."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def save(self, run: EvalRun) -> None:
        """Keep a run, or keep it anew."""
        values = (
            run.run_id,
            run.suite,
            run.suite_hash,
            compact(dict(run.config)),
            compact({"all": dict(run.metrics), "tags": {tag: dict(one) for tag, one in run.tags.items()}}),
            run.created_at.isoformat(),
            run.finished_at.isoformat() if run.finished_at else None,
        )
        with self._library.transaction() as connection:
            connection.execute(f"INSERT OR REPLACE INTO eval_runs ({_COLUMNS}) VALUES (?,?,?,?,?,?,?)", values)

    def get(self, run_id: str) -> EvalRun | None:
        """Return a run."""
        row = self._library.row(f"SELECT {_COLUMNS} FROM eval_runs WHERE run_id = ?", (run_id,))
        return _run(row) if row else None

    def recent(self, limit: int) -> Sequence[EvalRun]:
        """Return the newest first."""
        sql = f"SELECT {_COLUMNS} FROM eval_runs ORDER BY created_at DESC, run_id DESC LIMIT ?"
        return [_run(row) for row in self._library.rows(sql, (limit,))]

    def cuts(self) -> Sequence[tuple[str, str]]:
        """Return by which chunkers and policies (as hash) what can be found was cut, each once."""
        sql = (
            "SELECT DISTINCT k.chunker_version, k.policy_hash FROM chunkings k"
            f" WHERE k.chunking_key IN (SELECT v.chunking_key FROM {VISIBLE_DOCUMENTS}) ORDER BY 1, 2"
        )
        return [(str(chunker), str(policy)) for chunker, policy in self._library.rows(sql)]


def _run(row: Sequence[Any]) -> EvalRun:
    run_id, suite, suite_hash, config, metrics, created, finished = row
    figures = json.loads(metrics)
    return EvalRun(
        run_id,
        suite,
        suite_hash,
        json.loads(config),
        figures["all"],
        figures["tags"],
        datetime.fromisoformat(created),
        datetime.fromisoformat(finished) if finished else None,
    )
