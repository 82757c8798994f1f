"""Runs, comparisons and gates as wire objects."""

from __future__ import annotations

from typing import Any

from kb.contract.comparing import (
    EvalCheck,
    EvalCompare,
    EvalFailedQuery,
    EvalGate,
    EvalInterval,
    EvalQueryComparison,
)
from kb.contract.evaluation import EvalHit, EvalQuery, EvalRun, EvalTarget
from kb.evaluation.compare import Comparison
from kb.evaluation.gate import GateResult
from kb.evaluation.outcomes import EvalRun as Run
from kb.evaluation.outcomes import QueryOutcome


def run_to_wire(run: Run) -> EvalRun:
    """Convert a run; how many questions it had and how many failed stand in its settings."""
    config: dict[str, Any] = dict(run.config)
    queries, failed = config.pop("queries", 0), config.pop("failed", 0)
    return EvalRun(
        run_id=run.run_id,
        suite=run.suite,
        suite_hash=run.suite_hash,
        created_at=run.created_at,
        finished_at=run.finished_at,
        queries=queries,
        failed=failed,
        metrics=dict(run.metrics),
        tags={tag: dict(figures) for tag, figures in run.tags.items()},
        config=config,
        folder=f"runs/{run.run_id}",
    )


def query_to_wire(outcome: QueryOutcome) -> EvalQuery:
    """Convert a question of a run."""
    return EvalQuery(
        query_id=outcome.query_id,
        query=outcome.query,
        tags=outcome.tags,
        should_refuse=outcome.should_refuse,
        refused=outcome.refused,
        rank=outcome.rank,
        failure=outcome.failure(),
        targets=tuple(
            EvalTarget(
                level=one.target.level,
                expected=one.target.key,
                uri=one.target.uri,
                rank=one.rank,
                by_place=one.by_place,
            )
            for one in outcome.targets
        ),
        hits=tuple(
            EvalHit(
                rank=one.rank,
                chunk_id=one.chunk_id,
                doc_id=one.doc_id,
                path=one.path,
                uri=one.uri,
                relevance=one.relevance,
            )
            for one in outcome.found
        ),
        degraded=outcome.degraded,
        milliseconds=outcome.milliseconds,
        metrics=dict(outcome.metrics),
    )


def comparison_to_wire(found: Comparison) -> EvalCompare:
    """Convert a comparison; draws are counted, not listed."""
    return EvalCompare(
        a=found.a,
        b=found.b,
        chunker_version_match=found.chunker_version_match,
        wins=found.count("win"),
        losses=found.count("loss"),
        draws=found.count("draw"),
        regressions=found.regressions,
        deltas=dict(found.deltas),
        intervals={
            name: EvalInterval(delta=one.delta, low=one.low, high=one.high) for name, one in found.intervals.items()
        },
        note=found.note,
        queries=tuple(
            EvalQueryComparison(
                query_id=one.query_id,
                query=one.query,
                verdict=one.verdict,
                rank_a=one.rank_a,
                rank_b=one.rank_b,
                regressions=one.regressions,
            )
            for one in found.queries
            if one.verdict != "draw" or one.regressions
        ),
        only_a=found.only_a,
        only_b=found.only_b,
    )


def gate_to_wire(run_id: str, baseline: str | None, found: GateResult) -> EvalGate:
    """Convert what a gate says."""
    return EvalGate(
        run_id=run_id,
        baseline=baseline,
        passed=found.passed,
        checks=tuple(
            EvalCheck(metric=one.metric, value=one.value, wanted=one.wanted, baseline=one.baseline, passed=one.passed)
            for one in found.checks
        ),
        queries=tuple(EvalFailedQuery(query_id=one.query_id, query=one.query, why=one.why) for one in found.queries),
    )
