"""Evaluation: runs and the questions in them."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field, JsonValue

from kb.contract.base import Request, Wire


class EvalRunsRequest(Request):
    """The newest runs."""

    limit: int = Field(default=20, ge=1, le=200)


class EvalGetRequest(Request):
    """A page of the questions of a run; `latest` is the newest run."""

    run_id: str = Field(min_length=1, max_length=64)
    only_failed: bool = False
    cursor: str | None = Field(default=None, max_length=20, pattern=r"^\d+$")
    limit: int = Field(default=100, ge=1, le=200)


class EvalRun(Wire):
    """A run: what was asked of what, and how good it was."""

    schema_version: Literal["eval_run.v1"] = "eval_run.v1"
    run_id: str
    suite: str
    suite_hash: str
    created_at: AwareDatetime
    finished_at: AwareDatetime | None
    queries: int
    failed: int
    metrics: dict[str, float]
    """Means over all questions, 4 decimals: `recall@1`, `@3`, `@5`, `@10`, `mrr`, `ndcg@10`, `refusal_accuracy`,
    `latency_ms_*`; with answers `citation_precision` and `citation_recall`."""
    tags: dict[str, dict[str, float]]
    config: dict[str, JsonValue]
    """What it takes to run it again: chunkers, policies, embedding, prompt, settings, library, version."""
    folder: str
    """Of the reports, within the data folder."""


class EvalRuns(Wire):
    """Runs, newest first."""

    schema_version: Literal["eval_runs.v1"] = "eval_runs.v1"
    runs: tuple[EvalRun, ...]


class EvalTarget(Wire):
    """Something expected, and its rank (from 1)."""

    level: str
    expected: str
    uri: str | None
    rank: int | None
    by_place: bool


class EvalHit(Wire):
    """A hit of a run."""

    rank: int
    chunk_id: str
    doc_id: str
    path: str
    uri: str
    relevance: float


class EvalQuery(Wire):
    """What became of one question; `failure` says what is wrong, empty when nothing is."""

    query_id: str
    query: str
    tags: tuple[str, ...]
    should_refuse: bool
    refused: bool
    rank: int | None
    failure: str
    targets: tuple[EvalTarget, ...]
    hits: tuple[EvalHit, ...]
    degraded: tuple[str, ...]
    milliseconds: float
    metrics: dict[str, float]


class EvalQueries(Wire):
    """A page of the questions of a run in the order of the suite."""

    schema_version: Literal["eval_queries.v1"] = "eval_queries.v1"
    run: EvalRun
    queries: tuple[EvalQuery, ...]
    next: str | None
