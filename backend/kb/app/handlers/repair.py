"""Jobs that mend what is derived from the library."""

from __future__ import annotations

import logging

from kb.app.bootstrap import Parts
from kb.app.facade.events import Events
from kb.app.health.repairing import Repaired, Repairs
from kb.domain.ids import Json
from kb.domain.jobs import Job, JobKind, JobStatus, Progress
from kb.jobs.runner import Finished, JobContext

_RECENT = 50
_log = logging.getLogger(__name__)


class RepairHandler:
    """Repairs for a job; nothing is parsed or embedded."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Mend what is wrong; say what was mended and what is left."""
        parts = self._parts
        context.report(Progress("repairing the indexes"))
        embedder = parts.embedder
        before = embedder.passages if embedder else 0
        repairs = Repairs(parts, alone=self._is_alone(job), should_stop=context.should_stop)
        done = repairs.run(deep=bool(job.payload.get("deep")), everything=bool(job.payload.get("everything")))
        reading = self._read_again(done)
        for name, said in done.fixed.items():
            _log.info("repaired %s: %s", name, said)
        for name, said in done.left.items():
            _log.warning("could not repair %s: %s", name, said)
        self._events.changed("index")
        result: dict[str, Json] = {
            "fixed": dict(done.fixed),
            "left": dict(done.left),
            "embedded": (embedder.passages if embedder else 0) - before,
        }
        if reading is not None:
            result["read_again_by"] = str(reading.job_id)
        return Finished(result, canceled=context.should_stop())

    def _is_alone(self, job: Job) -> bool:
        """Return whether no other job is half done: one that gives way to this may have files not yet referred to."""
        recent = self._parts.job_control.recent(_RECENT)
        return not any(one.status is JobStatus.RUNNING and one.job_id != job.job_id for one in recent)

    def _read_again(self, done: Repaired) -> Job | None:
        if not done.read_again:
            return None
        paths: list[Json] = [str(path) for path in done.read_again]
        payload: dict[str, Json] = {"paths": paths, "retry": False, "summary_only": True}
        return self._parts.job_store.enqueue(JobKind.INGEST, payload)
