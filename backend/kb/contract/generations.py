"""`generations.v1` and `generation_report.v1`: index data built beside the serving one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.base import Open, Request, Wire


class Generation(Wire):
    """One complete set of index data; `documents` of `documents_total` and `vectors` of `passages` are made so far."""

    id: int
    state: Annotated[Literal["building", "ready", "serving", "retired", "discarded"], Open]
    fingerprint: str
    embedding_model: str | None
    dimensions: int | None
    chunk_mode: str
    target_characters: int
    overlap_characters: int
    chunker_version: str
    created_at: AwareDatetime
    ready_at: AwareDatetime | None
    switched_at: AwareDatetime | None
    documents: int
    documents_total: int
    passages: int
    vectors: int


class Generations(Wire):
    """All that are kept, newest first; `pending` says in sentences how the settings differ from what serves."""

    schema_version: Literal["generations.v1"] = "generations.v1"
    serving: int
    pending: tuple[str, ...]
    generations: tuple[Generation, ...]


class BuildRequest(Request):
    """Build index data for the settings as they are, beside what serves; an unfinished build is gone on with."""


class GenerationRequest(Request):
    """One generation; null means the newest that is ready."""

    generation: int | None = Field(default=None, ge=1)


class SwitchRequest(GenerationRequest):
    """Serve another generation; `rollback` is a switch to the one that served before."""


class GenerationReport(Wire):
    """What a build, switch or rollback did; `embedded` counts runs of the model, `reused` texts that needed none."""

    schema_version: Literal["generation_report.v1"] = "generation_report.v1"
    generation: int
    serving: int
    documents: int
    passages: int
    distinct_texts: int
    embedded: int
    reused: int
    failed: int
    duration_ms: int
