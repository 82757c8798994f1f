"""Examples of evaluation on the wire, by the real comparison and gate."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from kb.app.wire.evaluation import comparison_to_wire, gate_to_wire, query_to_wire, run_to_wire
from kb.contract.base import Wire
from kb.contract.evaluation import EvalQueries, EvalRuns
from kb.contract.suites import EvalChanged, EvalSuite, EvalSuites
from kb.evaluation.compare import compare
from kb.evaluation.gate import gate
from kb.evaluation.matching import Found
from kb.evaluation.outcomes import EvalRun, QueryOutcome, TargetOutcome
from kb.evaluation.suites import Target


def evaluation_payloads(noon: datetime) -> dict[str, Wire]:
    """One example of each object."""
    target = Target("span", uri="notes/backup.md#L3-L6")
    found = Found(1, "c" * 32, "d" * 32, "notes/backup.md", "notes/backup.md#L1-L6", 0.91)
    right = QueryOutcome(
        query_id="backup-day",
        query="备份在哪一天运行？",
        tags=("zh",),
        should_refuse=False,
        refused=False,
        targets=(TargetOutcome(target, 1, by_place=True),),
        found=(found,),
        milliseconds=3.4,
        metrics={"recall@5": 1.0, "mrr": 1.0},
    )
    wrong = replace(
        right,
        targets=(TargetOutcome(target, None, by_place=True),),
        found=(replace(found, uri="notes/backup.md#L9", relevance=0.42),),
        metrics={"recall@5": 0.0, "mrr": 0.0},
    )
    before = EvalRun(
        run_id="20260305-120000-1a2b3c4d",
        suite="golden",
        suite_hash="5" * 32,
        config={
            "chunkers": ["structure-v1"],
            "policies": ["9" * 32],
            "embedding": None,
            "prompt": None,
            "provider": None,
            "settings": {"mode": "hybrid", "top_k": 10},
            "library": {"passages": 38, "vectors": 0, "unread_items": 0},
            "version": "0.1.0",
            "queries": 1,
            "failed": 0,
        },
        metrics={"recall@5": 1.0, "mrr": 1.0, "refusal_accuracy": 1.0, "latency_ms_mean": 3.4},
        tags={"zh": {"recall@5": 1.0}},
        created_at=noon,
        finished_at=noon,
    )
    now = replace(
        before,
        run_id="20260305-130000-5e6f7a8b",
        config={**before.config, "policies": ["8" * 32], "failed": 1},
        metrics={"recall@5": 0.0, "mrr": 0.0, "refusal_accuracy": 1.0, "latency_ms_mean": 2.9},
        tags={"zh": {"recall@5": 0.0}},
    )
    compared = compare(before, now, [right], [wrong])
    gated = gate(now, [wrong], minimums={}, drops={}, against=(before, [right], compared))
    return {
        "eval_suites": EvalSuites(suites=(EvalSuite(name="golden", queries=1, refusals=0),)),
        "eval_changed": EvalChanged(suite="golden", queries=1, last_id="backup-day"),
        "eval_run": run_to_wire(now),
        "eval_runs": EvalRuns(runs=(run_to_wire(now), run_to_wire(before))),
        "eval_queries": EvalQueries(run=run_to_wire(now), queries=(query_to_wire(wrong),), next=None),
        "eval_compare": comparison_to_wire(compared),
        "eval_gate": gate_to_wire(now.run_id, before.run_id, gated),
    }
