"""Evaluation: suites, runs and the questions in them."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field, JsonValue

from kb.contract.base import Request, Wire
from kb.contract.search import MAX_QUERY

_Name = Field(min_length=1, max_length=4_000)
"""A suite: `NAME` is `suites/NAME.yaml` of the data folder, anything else the path of a YAML file."""


class EvalRunRequest(Request):
    """A suite to be asked; what is left out comes from the configuration."""

    suite: str = _Name
    mode: Literal["lexical", "vector", "hybrid"] = "hybrid"
    """Of questions that name none."""
    answers: bool = False
    """Also answer, by quoting unless `provider` says otherwise: for refusals and citations. Nothing of it is kept."""
    provider: str | None = Field(default=None, max_length=64)
    top_k: int = Field(default=10, ge=1, le=20)
    rerank: Literal["off", "local", "model"] | None = None


class EvalRunsRequest(Request):
    """The newest runs."""

    limit: int = Field(default=20, ge=1, le=200)


class EvalGetRequest(Request):
    """A page of the questions of a run; `latest` is the newest run."""

    run_id: str = Field(min_length=1, max_length=64)
    only_failed: bool = False
    cursor: str | None = Field(default=None, max_length=20, pattern=r"^\d+$")
    limit: int = Field(default=100, ge=1, le=200)


class EvalAddRequest(Request):
    """A golden query: a question, or the question of a kept answer, and what is right.

    `expected` has paths, doc_ids, chunk_ids and citations; empty with `refuse`, or with an answer, whose citations (or
    refusal) are then right.
    """

    suite: str = _Name
    query: str | None = Field(default=None, min_length=1, max_length=MAX_QUERY, pattern=r"\S")
    trace_id: str | None = Field(default=None, min_length=1, max_length=64)
    expected: tuple[str, ...] = Field(default=(), max_length=100)
    refuse: bool = False
    query_id: str | None = Field(default=None, min_length=1, max_length=200)
    lang: str | None = Field(default=None, min_length=1, max_length=20)
    tags: tuple[str, ...] = Field(default=(), max_length=50)
    note: str = Field(default="", max_length=4_000)


class EvalImportRequest(Request):
    """A suite made of questions and judgements of others.

    `folder`: BEIR, with `queries.jsonl` and `qrels/*.tsv`; or `topics` and `qrels`: TREC. Ids of documents become
    paths by `path`, in which `{id}` stands for them.
    """

    suite: str = _Name
    folder: str | None = Field(default=None, min_length=1, max_length=4_000)
    split: str = Field(default="test", min_length=1, max_length=100, pattern=r"^[\w.-]+$")
    topics: str | None = Field(default=None, min_length=1, max_length=4_000)
    qrels: str | None = Field(default=None, min_length=1, max_length=4_000)
    path: str = Field(default="{id}", min_length=1, max_length=1_000)


class EvalSuite(Wire):
    """A suite in the data folder; `problem` when it cannot be read."""

    name: str
    queries: int
    refusals: int
    problem: str | None = None


class EvalSuites(Wire):
    """The suites in the data folder, by name."""

    schema_version: Literal["eval_suites.v1"] = "eval_suites.v1"
    suites: tuple[EvalSuite, ...]


class EvalChanged(Wire):
    """A suite that was added to or made: how many questions it has now, and the id of the last."""

    schema_version: Literal["eval_changed.v1"] = "eval_changed.v1"
    suite: str
    queries: int
    last_id: str | None
    left_out: int = 0
    """Questions of an import that nothing is judged for."""


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
