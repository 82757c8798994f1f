"""`answer.v1`, and what may be asked about answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from kb.contract.answer_parts import (
    AnswerCitation,
    AnswerRetrieval,
    Claim,
    EmbeddingRef,
    Model,
    PackedChunk,
    Searched,
    Usage,
)
from kb.contract.base import Open, Request, Wire
from kb.contract.search import Question, RetrievalOptions


class AnswerTrace(Wire):
    """Everything needed to look at an answer again."""

    packed: tuple[PackedChunk, ...]
    prompt_system: str
    prompt_user: str
    temperature: float
    seed: int


class Answer(Wire):
    """Cited text, or a refusal with the nearest places. Fields after `created_at` are optional."""

    schema_version: Literal["answer.v1"] = "answer.v1"
    answer: str
    citations: tuple[AnswerCitation, ...]
    grounded: bool
    refusal_reason: (
        Annotated[Literal["score_gate", "llm_self_judge", "no_index", "no_chunks", "citation_check"], Open] | None
    )
    model: Model
    embedding: EmbeddingRef | None
    prompt_template_version: str
    retrieval: AnswerRetrieval
    usage: Usage
    created_at: AwareDatetime
    question: str | None = None
    claims: tuple[Claim, ...] = ()
    searched: Searched | None = None
    degraded: tuple[str, ...] = ()
    finish_reason: str | None = None
    conversation_id: str | None = None
    trace: AnswerTrace | None = None


class AnswersPage(Wire):
    """Kept answers, newest first."""

    schema_version: Literal["answers.v1"] = "answers.v1"
    answers: tuple[Answer, ...]


class AskRequest(RetrievalOptions):
    """A question to be answered from the workspace."""

    question: Question
    mode: Literal["lexical", "vector", "hybrid"] = "hybrid"
    retrieval_mode: Literal["always", "auto"] = "always"
    conversation_id: str | None = Field(default=None, min_length=1, max_length=100)
    temperature: float | None = Field(default=None, ge=0, le=2)
    seed: int | None = Field(default=None, ge=0, le=2**32 - 1)
    provider: Literal["extractive", "llama_cpp", "openai_compatible"] | None = None


class AnswerRequest(Request):
    """One kept answer, by the `trace_id` of its retrieval."""

    trace_id: str = Field(min_length=1, max_length=100)


class StopRequest(Request):
    """The answer being written after the search `trace_id`, as its `retrieval` event has it."""

    trace_id: str = Field(min_length=1, max_length=100)


class AnswerStop(Wire):
    """`stopping` is false when no such answer is being written: it is finished, or was never asked for."""

    schema_version: Literal["answer_stop.v1"] = "answer_stop.v1"
    trace_id: str
    stopping: bool


class AnswersRequest(Request):
    """The newest answers."""

    limit: int = Field(default=20, ge=1, le=200)
