"""Jobs that read the links of documents."""

from __future__ import annotations

from kb.app.bootstrap import Parts, now
from kb.app.facade.events import Events
from kb.domain.failures import Cancelled
from kb.domain.ids import Json
from kb.domain.jobs import Job, Progress
from kb.ingest.links import LINKS_VERSION, read_links
from kb.jobs.runner import Finished, JobContext


class LinksHandler:
    """Reads links for a job; a stop or a kill leaves what is done, and the next time goes on from there."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Read what is not read yet; what is to be read anew was forgotten before the job was added."""
        del job
        parts, started = self._parts, now()
        context.report(Progress("reading links"))
        total = parts.edges.counts(LINKS_VERSION).documents

        def heed() -> None:
            context.give_way()
            if context.should_stop():
                raise Cancelled("stopped; what is read stays", hint="run `kb graph rebuild` again: it goes on")

        def progress(stage: str, done: int) -> None:
            share = min(99, done * 99 // max(total, done, 1))
            context.report(Progress(stage, done, max(total, done), percent=share))

        read = read_links(parts.links, heed=heed, progress=progress)
        counts = parts.edges.counts(LINKS_VERSION)
        self._events.changed("index")
        result: dict[str, Json] = {
            "documents": read,
            "links": {kind.value: count for kind, count in counts.active.items()},
            "ambiguous": counts.ambiguous,
            "unresolved": counts.unresolved,
            "duration_ms": round((now() - started).total_seconds() * 1000),
        }
        return Finished(result)
