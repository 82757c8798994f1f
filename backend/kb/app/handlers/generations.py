"""Jobs that build a generation beside the serving one, and switch to one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import cast

from kb.app.bootstrap import Parts, now
from kb.app.facade.events import Events
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.failures import Cancelled
from kb.domain.generations import Generation, GenerationId, GenerationState
from kb.domain.ids import Json
from kb.domain.jobs import Job, Progress
from kb.ingest.generations import BringUp, Made
from kb.jobs.runner import Finished, JobContext


class GenerationHandler:
    """Builds a generation for the settings as they are; nothing of it is shown."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Build what is lacking; an unfinished build is gone on with."""
        del job
        parts, started = self._parts, now()
        if not parts.pending:
            raise nothing_to_build()
        generation = parts.generations.begin(parts.wanted)
        parts.remove_discarded()
        parts.work_off_removals()
        self._events.changed("index")
        made = _brought_up(parts, generation, context, is_new=True)
        self._events.changed("index")
        return Finished(_result(parts, generation, made, (now() - started).total_seconds()))


class SwitchHandler:
    """Lets another generation serve, after bringing it up to what is shown now."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self._parts = parts
        self._events = events

    def __call__(self, job: Job, context: JobContext) -> Finished:
        """Catch up, then exchange everything that serves at once."""
        parts, started = self._parts, now()
        target = _target(parts, job.payload)
        if target.state is GenerationState.SERVING:
            # A kill came after the commit: what was asked for is done.
            parts.remove_discarded()
            return Finished(_result(parts, target, None, (now() - started).total_seconds()))
        made = _brought_up(parts, target, context, is_new=target.state is GenerationState.READY)
        context.report(Progress("switch", percent=99))
        if context.should_stop():
            raise Cancelled("the switch was stopped", hint="what served goes on; `kb index switch` tries again")
        parts.switch(target)
        parts.remove_discarded()
        parts.work_off_removals()
        self._events.changed("documents", "items", "index")
        return Finished(_result(parts, target, made, (now() - started).total_seconds()))


def switch_target(parts: Parts, generation: int | None, *, rolls_back: bool) -> Generation:
    """Return the generation that a switch means.

    Raises:
        NotFound: there is none.
        InvalidInput: it is not made yet, or serves already.
    """
    kept = parts.generations.all()
    if generation is not None:
        found = parts.generations.get(GenerationId(generation))
    else:
        wanted = GenerationState.RETIRED if rolls_back else GenerationState.READY
        match = next((one for one in kept if one.state is wanted), None)
        if match is None and rolls_back:
            raise NotFound("no generation served before", hint="`kb index generations` lists those that are kept")
        if match is None:
            raise NotFound("no generation is ready", hint="run `kb index build` first")
        found = match
    if found.state is GenerationState.BUILDING:
        raise InvalidInput(
            f"generation {found.generation_id} is not made yet", hint="run `kb index build`, which goes on with it"
        )
    if found.state is GenerationState.SERVING:
        raise InvalidInput(f"generation {found.generation_id} serves already", hint="`kb index generations` lists all")
    return found


def nothing_to_build() -> InvalidInput:
    """Return the error for settings that say what serves."""
    return InvalidInput(
        "the settings say what serves already: there is nothing to build",
        hint="change the model or the chunking in the settings first; `kb index rebuild` makes lost indexes anew",
    )


def _target(parts: Parts, payload: Mapping[str, Json]) -> Generation:
    # The number was found when the job was asked for: after a restart it means the same one.
    return parts.generations.get(GenerationId(cast("int", payload["generation"])))


def _brought_up(parts: Parts, generation: Generation, context: JobContext, *, is_new: bool) -> Made:
    workers = parts.embedding_workers
    parts.forget_masked_otherwise()
    with parts.generation_ports(generation, parts.workspace_files(), is_new=is_new) as ports:
        made = BringUp(
            ports,
            generation,
            workers=workers,
            report=context.report,
            should_stop=context.should_stop,
            give_way=context.give_way,
        ).run()
    parts.generations.make_ready(generation.generation_id)
    return made


def _result(parts: Parts, generation: Generation, made: Made | None, seconds: float) -> dict[str, Json]:
    counts = made.counts if made else parts.generations.counts(generation)
    embedded = made.embedded if made else 0
    has_model = generation.recipe is not None and generation.recipe.model is not None
    numbers = asdict(counts)
    return {
        "generation": int(generation.generation_id),
        "serving": int(parts.generations.serving().generation_id),
        "documents": numbers["documents"],
        "passages": numbers["passages"],
        "distinct_texts": numbers["distinct_texts"],
        "embedded": embedded,
        "reused": max(numbers["distinct_texts"] - embedded, 0) if has_model else 0,
        "failed": numbers["failed"],
        "duration_ms": round(seconds * 1000),
    }
