"""Outcomes and runs for tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from kb.domain.ids import Json
from kb.evaluation.matching import Found
from kb.evaluation.outcomes import EvalRun, QueryOutcome, TargetOutcome
from kb.evaluation.suites import Target


def hit(rank: int, chunk: str, uri: str = "", doc: str = "") -> Found:
    path = uri.partition("#")[0] or f"{doc or chunk}.md"
    return Found(rank, chunk, doc or path, path, uri or f"{path}#L1", 0.5)


def outcome(
    query_id: str,
    found: tuple[Found, ...],
    targets: tuple[tuple[Target, int | None], ...] = (),
    *,
    refused: bool = False,
    metrics: Mapping[str, float] | None = None,
    milliseconds: float = 1.0,
) -> QueryOutcome:
    looked = tuple(TargetOutcome(target, rank, by_place=target.level == "span") for target, rank in targets)
    return QueryOutcome(
        query_id=query_id,
        query=f"question {query_id}",
        tags=(),
        should_refuse=not targets,
        refused=refused,
        targets=looked,
        found=found,
        milliseconds=milliseconds,
        metrics=metrics or {},
    )


def run(run_id: str, metrics: Mapping[str, float], **config: Json) -> EvalRun:
    made: dict[str, Json] = {
        "chunkers": ["structure-v1"],
        "policies": ["p1"],
        "embedding": None,
        "prompt": None,
        **config,
    }
    return EvalRun(run_id, "suite", "hash", made, metrics, {}, datetime(2026, 3, 5, tzinfo=UTC))
