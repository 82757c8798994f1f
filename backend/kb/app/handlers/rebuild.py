"""Jobs that build projections anew."""

from __future__ import annotations

from kb.app.bootstrap import Parts, now
from kb.app.facade.events import Events
from kb.domain.errors import KebabError
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, Progress
from kb.ingest.projections import rebuild
from kb.jobs.runner import Finished, JobContext


class RebuildHandler:
    """Builds indexes for a job; nothing is parsed or embedded."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Build what was asked for anew from the library."""
        parts = self._parts
        wants_text, wants_vectors = bool(job.payload.get("text")), bool(job.payload.get("vectors"))
        context.report(Progress("rebuilding the indexes"))
        started = now()
        embedder = parts.embedder

        def heed() -> None:
            if context.should_stop():
                raise Cancelled(
                    "the rebuild was stopped", hint="run `kb index rebuild` again; search goes on meanwhile"
                )

        context.give_way()
        heed()
        rebuilt = rebuild(
            parts.log,
            parts.vectors,
            parts.model if wants_vectors else None,
            parts.text_index if wants_text else None,
            parts.vector_indexes if wants_vectors else (),
            embeddings_made=lambda: embedder.passages if embedder else 0,
            heed=heed,
            between=context.give_way,
        )
        if rebuilt.lagging:
            first = rebuilt.lagging[0]
            raise _failed(first.name, first.error)
        self._events.changed("index")
        result: dict[str, Json] = {
            "text_entries": rebuilt.text_entries,
            "vectors": max(rebuilt.vectors.values(), default=0) if wants_vectors else None,
            "embedded": rebuilt.embeddings_made,
            "duration_ms": round((now() - started).total_seconds() * 1000),
            "vector_engines": dict(rebuilt.vectors) if wants_vectors else None,
        }
        return Finished(result)


def _failed(name: str, error: KebabError) -> StorageFailed:
    return StorageFailed(f"the {name} index could not be built: {error.message}", hint=error.hint)
