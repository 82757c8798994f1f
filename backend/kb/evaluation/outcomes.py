"""What became of each question, and of a run as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from kb.domain.ids import Json
from kb.evaluation.matching import Found
from kb.evaluation.suites import Target


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """Something expected, and its rank (from 1); None when it was not among the hits.

    Attributes:
        by_place: it was looked for by document and place, since chunks of its cut are not there.
    """

    target: Target
    rank: int | None
    by_place: bool = False


@dataclass(frozen=True, slots=True)
class Cited:
    """Citations of an answer: how many there are, and which of the expected things they name."""

    count: int
    right: int
    named: int


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """What became of one question.

    Attributes:
        refused: nothing would be, or (in a run with answers) was answered.
        metrics: of its ranking; empty where a refusal is right.
        cited: None in a run without answers, and of refusals.
        milliseconds: of the search, or of search and answer.
    """

    query_id: str
    query: str
    tags: tuple[str, ...]
    should_refuse: bool
    refused: bool
    targets: tuple[TargetOutcome, ...]
    found: tuple[Found, ...]
    milliseconds: float
    degraded: tuple[str, ...] = ()
    refusal_reason: str | None = None
    cited: Cited | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def rank(self) -> int | None:
        """Return the best rank of anything expected."""
        return min((one.rank for one in self.targets if one.rank is not None), default=None)

    @property
    def is_right(self) -> bool:
        """Return whether something expected was found, or the refusal was right."""
        return self.refused if self.should_refuse else self.rank is not None

    def failure(self) -> str:
        """Return in words what is wrong; empty when nothing is."""
        if self.should_refuse:
            return "" if self.refused else "it should be refused, and is not"
        if self.rank is None:
            wanted = ", ".join(one.target.uri or one.target.key for one in self.targets)
            return f"expected {wanted}: not among {len(self.found)} hits"
        return f"found at rank {self.rank}, and refused all the same ({self.refusal_reason})" if self.refused else ""


@dataclass(frozen=True, slots=True)
class EvalRun:
    """A run: what was asked of what, and how good it was.

    Attributes:
        config: all it takes to run it again: library, cut, models, settings, versions.
        metrics: means over all questions, 4 decimals.
        tags: the same per tag.
    """

    run_id: str
    suite: str
    suite_hash: str
    config: Mapping[str, Json]
    metrics: Mapping[str, float]
    tags: Mapping[str, Mapping[str, float]]
    created_at: datetime
    finished_at: datetime | None = None


def outcome_to_json(outcome: QueryOutcome) -> dict[str, Any]:
    """Return a question as a line of `per_query.jsonl`."""
    return {**asdict(outcome), "rank": outcome.rank, "is_right": outcome.is_right}


def outcome_from_json(value: Mapping[str, Any]) -> QueryOutcome:
    """Return a question from a line of `per_query.jsonl`."""
    targets: Sequence[Mapping[str, Any]] = value["targets"]
    return QueryOutcome(
        query_id=value["query_id"],
        query=value["query"],
        tags=tuple(value["tags"]),
        should_refuse=value["should_refuse"],
        refused=value["refused"],
        targets=tuple(TargetOutcome(Target(**one["target"]), one["rank"], one["by_place"]) for one in targets),
        found=tuple(Found(**one) for one in value["found"]),
        milliseconds=value["milliseconds"],
        degraded=tuple(value["degraded"]),
        refusal_reason=value["refusal_reason"],
        cited=Cited(**value["cited"]) if value["cited"] else None,
        metrics=dict(value["metrics"]),
    )
