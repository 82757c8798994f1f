"""Jobs that ask a suite of questions and keep how well they were answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.app.bootstrap import Parts, now
from kb.app.evaluation.keeping import EvalKeeping
from kb.app.evaluation.reports import html_report, markdown_report
from kb.app.handlers.asking import config_of, library_of, settings_of
from kb.domain.ids import Json, id_from
from kb.domain.jobs import Job, Progress
from kb.evaluation.metrics import measured, summary
from kb.evaluation.outcomes import EvalRun, QueryOutcome
from kb.evaluation.running import run_suite
from kb.jobs.runner import Finished, JobContext


class EvaluationHandler:
    """Runs a suite for a job; one that is stopped keeps nothing."""

    def __init__(self, parts: Parts, keeping: EvalKeeping) -> None:
        self._parts = parts
        self._keeping = keeping

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Ask every question, then write the reports and the row of the run."""
        keeping, payload = self._keeping, job.payload
        suite = keeping.suite(str(payload["suite"]))
        provider = str(payload.get("provider") or "extractive") if payload.get("answers") else None
        settings, started = settings_of(self._parts, payload), now()
        total = len(suite.queries)

        def each(done: int) -> bool:
            context.report(Progress("asking", done, total, done * 99 // total))
            context.give_way()
            return not context.should_stop()

        asked = run_suite(suite, library_of(self._parts, provider=provider), settings, each=each)
        if asked is None:
            return Finished(canceled=True)
        outcomes = measured(asked, keeping.measures)
        suite_hash = suite.hash()
        made = id_from({"kind": "eval_run", "suite": suite_hash, "job": str(job.job_id)})
        run = EvalRun(
            run_id=f"{started:%Y%m%d-%H%M%S}-{made[:8]}",
            suite=suite.name,
            suite_hash=suite_hash,
            config={
                **config_of(self._parts, keeping, settings, provider),
                "queries": total,
                "failed": sum(bool(one.failure()) for one in outcomes),
            },
            metrics=summary(outcomes),
            tags=_by_tag(outcomes),
            created_at=started,
            finished_at=now(),
        )
        reports = {"report.md": markdown_report(run, outcomes), "report.html": html_report(run, outcomes)}
        keeping.files.write(run.run_id, outcomes, reports)
        keeping.runs.save(run)
        result: Mapping[str, Json] = {"run_id": run.run_id}
        return Finished(result)


def _by_tag(outcomes: Sequence[QueryOutcome]) -> dict[str, dict[str, float]]:
    tags = sorted({tag for one in outcomes for tag in one.tags})
    return {tag: summary([one for one in outcomes if tag in one.tags]) for tag in tags}
