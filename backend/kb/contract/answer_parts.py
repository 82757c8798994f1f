"""The parts of an answer: citations, claims, models, numbers."""

from __future__ import annotations

from typing import Annotated, Literal

from kb.contract.base import Open, Wire, absent_when_none
from kb.contract.citation import Citation


class AnswerCitation(Wire):
    """`marker` is `[1]`; null on the nearest candidates of a refusal, which have a `score`."""

    marker: str | None
    citation: Citation
    chunk_id: str | None = None
    doc_id: str | None = None
    relevance: float | None = None
    channels: tuple[Annotated[Literal["lexical", "cjk", "vector", "graph"], Open], ...] = ()
    quote: str | None = None
    score: float | None = None
    edited: bool | None = absent_when_none
    """True when a person had changed the passage: the quote is theirs, the place that of what the file says."""


class Claim(Wire):
    """One sentence, the markers it carries, and the best quote for it."""

    text: str
    markers: tuple[str, ...]
    quote: str | None
    support: Annotated[Literal["supported", "weak", "unsupported"], Open] | None


class Searched(Wire):
    """What was looked through; an empty `scope` is the whole workspace."""

    queries: tuple[str, ...]
    scope: tuple[str, ...]
    passages: int
    unread_items: int


class Model(Wire):
    """Which model spoke, and through which provider."""

    id: str
    provider: str


class EmbeddingRef(Wire):
    """Which model made the vectors."""

    id: str
    provider: str
    dimensions: int


class AnswerRetrieval(Wire):
    """What retrieval did for an answer, in numbers."""

    trace_id: str
    mode: Annotated[Literal["lexical", "vector", "hybrid"], Open]
    k: int
    score_gate: float
    top_score: float
    chunks_returned: int
    chunks_used: int


class Usage(Wire):
    """Tokens read and written, and the wall time."""

    prompt_tokens: int
    completion_tokens: int
    latency_ms: int


class PackedChunk(Wire):
    """A passage as it stood before the model."""

    number: int
    chunk_id: str
    doc_id: str
    text: str
