"""Jobs that let go of old versions, and that give disk space back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from kb.app.bootstrap import Parts, now
from kb.app.bootstrap.sizes import is_chroma_loose, sizes_of
from kb.app.facade.events import Events
from kb.app.wire.versions import purged_to_json
from kb.domain.failures import Cancelled, StorageFailed
from kb.domain.ids import Json
from kb.domain.jobs import Job, Progress
from kb.ingest.projections import catch_up_text, catch_up_vectors
from kb.jobs.runner import Finished, JobContext


class PurgeHandler:
    """Lets go of versions for a job; a stop leaves the rest to the next one."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Purge, then remove from disk what the library no longer holds."""
        parts, storage = self._parts, self._parts.settings.storage
        asked = job.payload.get("keep_versions")
        keep = asked if isinstance(asked, int) else storage.kept_versions
        context.report(Progress("purging earlier versions"))
        found = parts.purge(_heed(context)).purge(keep, storage.keep_deleted_days)
        parts.work_off_removals()
        self._events.changed("documents", "index")
        return Finished(purged_to_json(found))


class CompactHandler:
    """Gives disk space back for a job: of the library file, of every index, of files that nothing needs."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Purge what the settings let go of, then make the files as small as what they hold."""
        del job
        parts, storage, started = self._parts, self._parts.settings.storage, now()
        before = sizes_of(parts.configuration.data_dir)
        heed = _heed(context)
        steps: tuple[tuple[str, Callable[[], object]], ...] = (
            ("purging earlier versions", lambda: self._purge(heed, storage.kept_versions, storage.keep_deleted_days)),
            ("removing files that nothing needs", parts.work_off_removals),
            ("compacting the text index", self._compact_text),
            ("compacting the vector indexes", self._compact_vectors),
            ("compacting the library file", parts.library.vacuum),
        )
        for number, (stage, step) in enumerate(steps):
            heed()
            context.report(Progress(stage, number, len(steps), percent=number * 99 // len(steps)))
            step()
        self._events.changed("index")
        after = sizes_of(parts.configuration.data_dir)
        result: dict[str, Json] = {
            "before": dict(before),
            "after": dict(after),
            "duration_ms": round((now() - started).total_seconds() * 1000),
        }
        return Finished(result)

    def _purge(self, heed: Callable[[], object], keep_versions: int, keep_deleted_days: int) -> None:
        purge = self._parts.purge(heed)
        purge.purge(keep_versions, keep_deleted_days)
        purge.remove_unused_copies()
        purge.remove_unused_vectors()

    def _compact_text(self) -> None:
        parts = self._parts
        catch_up_text(parts.log, parts.text_index)
        if parts.text_index.is_loose():
            parts.text_index.rebuild(parts.log.text_snapshot())

    def _compact_vectors(self) -> None:
        parts, model = self._parts, self._parts.model
        if model is None:
            return
        catch_up_vectors(parts.log, parts.vectors, model, parts.vector_indexes)
        # Not from a snapshot: one that nobody reads keeps its view open, and the log from shrinking.
        count = parts.chunks.facts(model).vectors
        # The exact index keeps itself small.
        if parts.chroma is not None and is_chroma_loose(parts.index_folder, model, count):
            # Search goes on without it if that fails, and the next ingest makes it.
            with contextlib.suppress(StorageFailed):
                parts.chroma.rebuild(model, parts.log.vector_snapshot(model))


def _heed(context: JobContext) -> Callable[[], None]:
    def heed() -> None:
        if context.should_stop():
            raise Cancelled("stopped; what is done stays", hint="run it again: it goes on from there")

    return heed
