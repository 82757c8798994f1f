"""Runs of evaluation held against each other, and against what is asked of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Request, Wire

_Figures = Annotated[dict[str, float], Field(max_length=50)]


class EvalCompareRequest(Request):
    """Two runs; `latest` is the newest one."""

    a: str = Field(min_length=1, max_length=64)
    b: str = Field(min_length=1, max_length=64)
    strict_chunker_version: bool = False
    """Refuse runs over passages that were cut otherwise, instead of matching by document and place."""


class EvalGateRequest(Request):
    """A run and what is asked of it; with a baseline and nothing else the usual drops are allowed."""

    run_id: str = Field(default="latest", min_length=1, max_length=64)
    baseline: str | None = Field(default=None, min_length=1, max_length=64)
    minimums: _Figures = Field(default_factory=dict)
    """The least of each figure; of `latency_ms_*` the most."""
    drops: _Figures = Field(default_factory=dict)
    """How far each figure may be below the baseline's; of `latency_ms_*` above it."""


class EvalInterval(Wire):
    """A mean difference b - a over the same questions, and its 95 % bootstrap interval."""

    delta: float
    low: float
    high: float


class EvalQueryComparison(Wire):
    """One question in both runs; ranks from 1, null where nothing expected was found."""

    query_id: str
    query: str
    verdict: Annotated[Literal["win", "loss", "draw", "better_rank", "worse_rank"], Open]
    rank_a: int | None
    rank_b: int | None
    regressions: tuple[str, ...]
    """What was expected, found by a and missed by b."""


class EvalCompare(Wire):
    """Two runs, question by question; deltas are b - a, 4 decimals."""

    schema_version: Literal["eval_compare.v1"] = "eval_compare.v1"
    a: str
    b: str
    chunker_version_match: Annotated[Literal["exact", "fallback_doc_span"], Open]
    wins: int
    losses: int
    draws: int
    regressions: int
    deltas: dict[str, float]
    intervals: dict[str, EvalInterval]
    note: str
    """What differs between the runs; empty when nothing does."""
    queries: tuple[EvalQueryComparison, ...]
    """Those that are no draw."""
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()


class EvalCheck(Wire):
    """One figure against what is asked of it."""

    metric: str
    value: float | None
    wanted: float
    baseline: float | None
    passed: bool


class EvalFailedQuery(Wire):
    """A question that failed, and why."""

    query_id: str
    query: str
    why: str


class EvalGate(Wire):
    """Whether a run is good enough. `queries`: what got worse than in the baseline; without one, all that is wrong."""

    schema_version: Literal["eval_gate.v1"] = "eval_gate.v1"
    run_id: str
    baseline: str | None
    passed: bool
    checks: tuple[EvalCheck, ...]
    queries: tuple[EvalFailedQuery, ...]
