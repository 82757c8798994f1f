"""What evaluation needs from outside: measures of rankings, and where runs are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.evaluation.outcomes import EvalRun, QueryOutcome, outcome_from_json, outcome_to_json

__all__ = [
    "EvalRun",
    "EvalRuns",
    "QueryOutcome",
    "Ranking",
    "RankingMeasures",
    "RunFiles",
    "outcome_from_json",
    "outcome_to_json",
]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found for a question: names in order, best first, and those that are right."""

    query_id: str
    names: tuple[str, ...]
    right: frozenset[str]


class RankingMeasures(Protocol):
    """Measures of rankings, as the field computes them."""

    def measure(self, rankings: Sequence[Ranking]) -> Mapping[str, Mapping[str, float]]:
        """Return per question `recall@1`, `recall@3`, `recall@5`, `recall@10`, `mrr` and `ndcg@10`, each 0 to 1."""


class EvalRuns(Protocol):
    """Runs that are kept."""

    def save(self, run: EvalRun) -> None:
        """Keep a run, or keep it anew."""

    def get(self, run_id: str) -> EvalRun | None:
        """Return a run."""

    def recent(self, limit: int) -> Sequence[EvalRun]:
        """Return the newest first."""


class RunFiles(Protocol):
    """The folder of each run."""

    def write(self, run_id: str, outcomes: Sequence[QueryOutcome], reports: Mapping[str, str]) -> None:
        """Write the questions of a run, and its reports by file name."""

    def outcomes(self, run_id: str) -> Sequence[QueryOutcome]:
        """Return the questions of a run in order.

        Raises:
            NotFound: the folder is gone.
        """
