"""Two runs side by side, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kb.domain.errors import InvalidInput
from kb.evaluation.matching import rank_of
from kb.evaluation.metrics import DECIMALS
from kb.evaluation.outcomes import EvalRun, QueryOutcome, TargetOutcome
from kb.evaluation.resampling import Interval, paired_interval

Verdict = Literal["win", "loss", "draw", "better_rank", "worse_rank"]
Match = Literal["exact", "fallback_doc_span"]

_CUTS = ("chunkers", "policies")
_SAID = {
    "chunkers": "chunker",
    "policies": "chunking settings",
    "embedding": "embedding model",
    "prompt": "prompt",
    "settings": "retrieval settings",
    "library": "library",
    "version": "program",
}
_WITH_INTERVALS = ("recall@1", "recall@5", "mrr", "ndcg@10")


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """One question in both runs; ranks from 1, None where nothing expected was found.

    Attributes:
        verdict: `win`, b finds what is right and a did not; `loss`, the opposite; `draw`, the same rank (or refused
            alike); else b has it further up or down.
        regressions: what was expected, found by a and missed by b, by its key.
    """

    query_id: str
    query: str
    verdict: Verdict
    rank_a: int | None
    rank_b: int | None
    regressions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of one suite.

    Attributes:
        deltas: b - a of each figure both have, 4 decimals.
        intervals: of some of them, over the questions both runs have.
        note: what differs between the runs, in words; empty when nothing does.
        only_a, only_b: questions that the other run has not.
    """

    a: str
    b: str
    chunker_version_match: Match
    deltas: Mapping[str, float]
    intervals: Mapping[str, Interval]
    queries: tuple[QueryComparison, ...]
    note: str
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """Return how many questions have a verdict."""
        return sum(one.verdict == verdict for one in self.queries)

    @property
    def regressions(self) -> int:
        """Return how many expected things a found and b missed."""
        return sum(len(one.regressions) for one in self.queries)


def compare(
    a: EvalRun,
    b: EvalRun,
    of_a: Sequence[QueryOutcome],
    of_b: Sequence[QueryOutcome],
    *,
    strict_chunker_version: bool = False,
) -> Comparison:
    """Return b held against a.

    Raises:
        InvalidInput: the passages of the two were cut otherwise, and that was to be refused; or they share no question.
    """
    match: Match = "exact" if all(a.config.get(key) == b.config.get(key) for key in _CUTS) else "fallback_doc_span"
    if match != "exact" and strict_chunker_version:
        raise InvalidInput(
            f"the passages of the runs were cut otherwise: {_difference(a, b, _CUTS)}",
            hint="leave --strict-chunker-version out to match by document and place",
        )
    second = {one.query_id: one for one in of_b}
    both = [(one, second[one.query_id]) for one in of_a if one.query_id in second]
    if not both:
        raise InvalidInput("the two runs have no question in common", hint="compare runs of one suite")
    first = {one.query_id for one in of_a}
    return Comparison(
        a=a.run_id,
        b=b.run_id,
        chunker_version_match=match,
        deltas={key: round(b.metrics[key] - value, DECIMALS) for key, value in a.metrics.items() if key in b.metrics},
        intervals=_intervals(both),
        queries=tuple(_compared(one, other, by_place=match != "exact") for one, other in both),
        note=_difference(a, b, tuple(_SAID)),
        only_a=tuple(one.query_id for one in of_a if one.query_id not in second),
        only_b=tuple(one.query_id for one in of_b if one.query_id not in first),
    )


def _compared(a: QueryOutcome, b: QueryOutcome, *, by_place: bool) -> QueryComparison:
    if a.should_refuse or b.should_refuse:
        right_a, right_b = int(a.is_right) or None, int(b.is_right) or None
        return QueryComparison(b.query_id, b.query, _verdict(right_a, right_b), right_a, right_b, ())
    pairs = _ranks(a, b, by_place=by_place)
    rank_a = min((rank for _, rank, _ in pairs if rank is not None), default=None)
    rank_b = min((rank for _, _, rank in pairs if rank is not None), default=None)
    lost = tuple(key for key, before, now in pairs if before is not None and now is None)
    return QueryComparison(b.query_id, b.query, _verdict(rank_a, rank_b), rank_a, rank_b, lost)


def _ranks(a: QueryOutcome, b: QueryOutcome, *, by_place: bool) -> list[tuple[str, int | None, int | None]]:
    """Return what is expected with its rank in both runs.

    Across cuts a chunk is looked for by its place, which either run may know from a hit.
    """
    known = {hit.chunk_id: hit.uri for hit in (*b.found, *a.found)}
    others = {one.target.key: one for one in b.targets}
    found = []
    for one in a.targets:
        other = others.get(one.target.key)
        if other is None:
            continue
        uri = one.target.uri or other.target.uri or known.get(one.target.key)
        ranks = [
            _rank(run, looked, uri) if by_place and looked.rank is None else looked.rank
            for run, looked in ((a, one), (b, other))
        ]
        found.append((one.target.key, ranks[0], ranks[1]))
    return found


def _rank(run: QueryOutcome, looked: TargetOutcome, uri: str | None) -> int | None:
    return rank_of(replace(looked.target, uri=uri), run.found, by_place=True)


def _verdict(a: int | None, b: int | None) -> Verdict:
    if a == b:
        return "draw"
    if a is None:
        return "win"
    if b is None:
        return "loss"
    return "better_rank" if b < a else "worse_rank"


def _intervals(both: Sequence[tuple[QueryOutcome, QueryOutcome]]) -> dict[str, Interval]:
    found = {}
    for name in _WITH_INTERVALS:
        pairs = [(a.metrics[name], b.metrics[name]) for a, b in both if name in a.metrics and name in b.metrics]
        if pairs:
            found[name] = paired_interval([one for one, _ in pairs], [other for _, other in pairs])
    return found


def _difference(a: EvalRun, b: EvalRun, keys: Sequence[str]) -> str:
    said = [f"{_SAID[k]}: {_short(a.config.get(k))} → {_short(b.config.get(k))}" for k in keys if _differs(a, b, k)]
    if a.suite_hash != b.suite_hash and set(keys) != set(_CUTS):
        said.append("the suite changed between the runs")
    return "; ".join(said)


def _differs(a: EvalRun, b: EvalRun, key: str) -> bool:
    return a.config.get(key) != b.config.get(key)


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(str(entry)[:12] if len(str(entry)) >= 32 else str(entry) for entry in value) or "none"  # noqa: PLR2004 - the length of our ids
    return str(value)
