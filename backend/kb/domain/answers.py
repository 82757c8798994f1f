"""Answers: cited text or a refusal, with everything needed to check it later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from kb.domain.citations import Citation
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.search import SearchMode

TraceId = NewType("TraceId", str)


class RefusalReason(StrEnum):
    """Why nothing was answered; `citation_check` is our addition to the frozen four."""

    NO_INDEX = "no_index"
    NO_CHUNKS = "no_chunks"
    SCORE_GATE = "score_gate"
    LLM_SELF_JUDGE = "llm_self_judge"
    CITATION_CHECK = "citation_check"


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Which model spoke, and through which provider; `dimensions` for embedding models."""

    id: str
    provider: str
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerCitation:
    """A checked `[n]` and its place; a refusal's nearest candidates have no marker but a score."""

    marker: int | None
    citation: Citation
    chunk_id: ChunkId
    doc_id: DocumentId
    quote: str
    relevance: float
    channels: tuple[str, ...]
    is_edited: bool = False
    """A person had changed the passage when it was cited."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, the numbers it cites, and the best quote for it."""

    text: str
    markers: tuple[int, ...]
    quote: str | None
    support: str | None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens read and written, and the wall time."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_ms: int = 0


@dataclass(frozen=True, slots=True)
class RetrievalSummary:
    """What retrieval did for an answer, in numbers; `unread_items` could not be searched."""

    trace_id: TraceId
    mode: SearchMode
    k: int
    score_gate: float
    top_score: float
    chunks_returned: int
    chunks_used: int
    passages_searched: int
    unread_items: int
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` gives: grounded text with citations, or a refusal with the nearest places."""

    question: str
    text: str
    grounded: bool
    refusal_reason: RefusalReason | None
    citations: tuple[AnswerCitation, ...]
    claims: tuple[Claim, ...]
    model: ModelRef
    embedding: ModelRef | None
    prompt_template_version: str
    retrieval: RetrievalSummary
    usage: TokenUsage
    finish_reason: str
    created_at: datetime
