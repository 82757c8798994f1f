"""Whether a run is good enough: by figures of its own, or against an earlier run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.domain.errors import InvalidInput
from kb.evaluation.compare import Comparison
from kb.evaluation.metrics import DECIMALS
from kb.evaluation.outcomes import EvalRun, QueryOutcome

DEFAULT_DROPS: Mapping[str, float] = {"recall@5": 0.01, "mrr": 0.02, "refusal_accuracy": 0.01}
"""What a run may lose against its baseline where nothing else is said."""
_OF_TIME = "latency_ms"
_ROUNDING = 10**-DECIMALS / 2


@dataclass(frozen=True, slots=True)
class Check:
    """One figure against what is asked of it; of milliseconds `wanted` is the most, of all else the least."""

    metric: str
    value: float | None
    wanted: float
    baseline: float | None
    passed: bool


@dataclass(frozen=True, slots=True)
class FailedQuery:
    """A question that failed, and why."""

    query_id: str
    query: str
    why: str


@dataclass(frozen=True, slots=True)
class GateResult:
    """`queries`: what got worse or is not asked any more since the baseline; without one, all that is wrong."""

    passed: bool
    checks: tuple[Check, ...]
    queries: tuple[FailedQuery, ...]


def gate(
    run: EvalRun,
    outcomes: Sequence[QueryOutcome],
    *,
    minimums: Mapping[str, float],
    drops: Mapping[str, float],
    against: tuple[EvalRun, Sequence[QueryOutcome], Comparison] | None = None,
) -> GateResult:
    """Hold a run to what is asked of it.

    Args:
        run: the run.
        outcomes: its questions.
        minimums: the least of each figure (of `latency_ms_*` the most).
        drops: how far each figure may be below that of the baseline (of `latency_ms_*` above it).
        against: the baseline with its questions, compared with the run (a: baseline, b: run).

    Raises:
        InvalidInput: nothing is asked; a drop is, without a baseline; or a figure does not exist.
    """
    if drops and against is None:
        raise InvalidInput("a drop needs a run to drop from", hint="name a run with --baseline")
    if not minimums and against is None:
        raise InvalidInput("the gate has nothing to go by", hint="give --baseline RUN or --min recall@5=0.9")
    base = against[0].metrics if against else {}
    if against and not minimums and not drops:
        drops = {name: drop for name, drop in DEFAULT_DROPS.items() if name in base}
    unknown = sorted({*minimums, *drops} - {*run.metrics, *base})
    if unknown:
        raise InvalidInput(f"the run has no figure {unknown[0]!r}", hint=f"it has {', '.join(sorted(run.metrics))}")
    checks = [_check(name, run.metrics.get(name), wanted, base.get(name)) for name, wanted in minimums.items()]
    for name, drop in drops.items():
        if name not in base:
            raise InvalidInput(f"the baseline has no figure {name!r}", hint="run both with or without --answers")
        wanted = base[name] + drop if name.startswith(_OF_TIME) else base[name] - drop
        checks.append(_check(name, run.metrics.get(name), round(wanted, DECIMALS), base[name]))
    missing = () if against is None else _missing(against[1], against[2])
    named = _wrong(outcomes) if against is None else _worse(outcomes, against[1], against[2])
    return GateResult(all(one.passed for one in checks) and not missing, tuple(checks), (*missing, *named))


def _check(name: str, value: float | None, wanted: float, baseline: float | None) -> Check:
    if value is None:
        return Check(name, None, wanted, baseline, passed=False)
    passed = value <= wanted + _ROUNDING if name.startswith(_OF_TIME) else value >= wanted - _ROUNDING
    return Check(name, value, wanted, baseline, passed)


def _wrong(outcomes: Sequence[QueryOutcome]) -> tuple[FailedQuery, ...]:
    return tuple(FailedQuery(one.query_id, one.query, why) for one in outcomes if (why := one.failure()))


def _missing(before: Sequence[QueryOutcome], comparison: Comparison) -> tuple[FailedQuery, ...]:
    """Return what the baseline asked and the run did not: leaving out what fails is no way to pass."""
    gone = set(comparison.only_a)
    return tuple(FailedQuery(one.query_id, one.query, "not asked any more") for one in before if one.query_id in gone)


def _worse(
    outcomes: Sequence[QueryOutcome], before: Sequence[QueryOutcome], comparison: Comparison
) -> tuple[FailedQuery, ...]:
    earlier, verdicts = {one.query_id: one for one in before}, {one.query_id: one for one in comparison.queries}
    named = []
    for one in outcomes:
        was, compared = earlier.get(one.query_id), verdicts.get(one.query_id)
        if was is None or compared is None:
            continue
        why = one.failure()
        if compared.verdict == "worse_rank":
            why = why or f"rank {compared.rank_a} before, now {compared.rank_b}"
        elif compared.verdict == "loss":
            why = f"{why or 'not found'} (rank {compared.rank_a} before)" if not one.should_refuse else why
        elif compared.regressions:
            why = f"no longer found: {', '.join(compared.regressions)}"
        elif not why or was.failure():
            continue
        named.append(FailedQuery(one.query_id, one.query, why))
    return tuple(named)
