"""Why a passage is not among the results: the step that dropped it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.contract.base import Open, Wire
from kb.contract.retrieval import Candidate, DegradedChannel
from kb.contract.search import FindRequest

Step = Annotated[
    Literal[
        "not_in_library",
        "not_read",
        "hidden",
        "filtered",
        "no_channel",
        "threshold",
        "fusion",
        "rerank",
        "budget",
        "found",
    ],
    Open,
]


class WhyRequest(FindRequest):
    """A question, and what was expected among its results."""

    expected: str = Field(min_length=1, max_length=4_096)
    """A path, an item id, a document id or a chunk id."""


class ChannelPlace(Wire):
    """Where one passage stands in one channel when nothing limits how many it gives."""

    channel: Annotated[Literal["lexical", "cjk", "vector"], Open]
    rank: int | None
    """From 1; null when the channel does not find it at all."""
    score: float | None
    of: int
    """How many passages the channel finds."""
    limit: int
    """How many it may give to the next step."""


class Why(Wire):
    """The step that dropped what was expected, or where it stands."""

    schema_version: Literal["why.v1"] = "why.v1"
    step: Step
    reason: str
    """A sentence for people."""
    detail: str | None = None
    """Which rule of the gate, which filter, or why a file could not be read: a stable word."""
    doc_path: str | None = None
    chunk_id: str | None = None
    """The expected passage that came furthest."""
    rank: int | None = None
    """Where it stands in that step, from 1."""
    score: float | None = None
    needed_rank: int | None = None
    needed_score: float | None = None
    """Of the last one that came further."""
    channels: tuple[ChannelPlace, ...] = ()
    candidate: Candidate | None = None
    degraded: tuple[DegradedChannel, ...] = ()
