"""Jobs that make items anew, each as its settings, its collection's or the workspace's say now."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from kb.app.bootstrap import Parts, now
from kb.app.chunking_state import ChunkingState
from kb.app.facade.events import Events
from kb.domain.ids import Json
from kb.domain.jobs import Job
from kb.ingest.reprocess import Reprocessed, ReprocessPorts, ReprocessRun, in_turn
from kb.jobs.runner import Finished, JobContext

_NAMED = 100


class ReprocessHandler:
    """Makes one item, some, those of a collection, those that wait for it, or all anew."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Replace one after the other; a stop leaves those that are replaced."""
        parts, started = self._parts, now()
        parts.settle_recipe(is_whole=False)
        item_ids = _chosen(parts, job.payload)
        ports = ReprocessPorts(parts.ingest_ports(), parts.makers_anew, parts.copy_of, parts.item_chunking.forget_built)
        run = ReprocessRun(
            ports,
            workers=parts.settings.indexing.max_parallel_embeddings or os.cpu_count() or 1,
            report=context.report,
            should_stop=context.should_stop,
            give_way=context.give_way,
        )
        done = run.run(len(item_ids), in_turn(parts.generation_build.shown_item, item_ids))
        parts.settle_chunking()
        if done.replaced:
            self._events.changed("documents", "items", "index")
        seconds = (now() - started).total_seconds()
        return Finished(_result(parts, done, len(item_ids), seconds), canceled=done.canceled)


def _chosen(parts: Parts, payload: Mapping[str, Json]) -> Sequence[str]:
    given, collection = payload.get("items"), payload.get("collection")
    if isinstance(given, list):
        return [str(item_id) for item_id in given]
    store = parts.item_chunking
    within = store.in_collection(str(collection)) if collection is not None else None
    if payload.get("all"):
        chosen = None if within is None else set(within)
        return [one.item_id for one in store.shown() if chosen is None or one.item_id in chosen]
    return [one.item_id for one in ChunkingState(parts).pending(within)]


def _result(parts: Parts, done: Reprocessed, asked: int, seconds: float) -> dict[str, Json]:
    failed: list[Json] = [
        {"item_id": one.shown.item.item_id, "path": one.shown.item.path, "reason": one.reason, "message": one.message}
        for one in done.failed[:_NAMED]
    ]
    return {
        "asked": asked,
        "replaced": done.replaced,
        "failed": len(done.failed),
        "failures": failed,
        "left": asked - done.replaced - len(done.failed),
        "pending": len(ChunkingState(parts).pending()),
        "passages": done.passages,
        "embedded": done.embedded,
        "lagging": list(done.lagging),
        "canceled": done.canceled,
        "duration_ms": round(seconds * 1000),
    }
