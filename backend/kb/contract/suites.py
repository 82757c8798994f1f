"""Evaluation: suites asked, added to, and made of sets of others."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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
