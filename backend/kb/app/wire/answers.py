"""Answers on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from kb.answering.ports import AnswerRecord
from kb.app.wire.citation import citation_to_wire
from kb.app.wire.search import channels_to_wire, mode_to_wire
from kb.contract import answer_parts as parts
from kb.contract import answers as wire
from kb.domain.answers import Answer, AnswerCitation, Claim, ModelRef, RetrievalSummary

_Refusal = Literal["score_gate", "llm_self_judge", "no_index", "no_chunks", "citation_check"]
_Support = Literal["supported", "weak", "unsupported"]


def answer_to_wire(kept: AnswerRecord | Answer, *, scope: Sequence[str] = (), with_trace: bool = False) -> wire.Answer:
    """Return an answer as `answer.v1`; `scope` names the collections, `with_trace` adds what a record keeps."""
    answer = kept.answer if isinstance(kept, AnswerRecord) else kept
    record = kept if isinstance(kept, AnswerRecord) and with_trace else None
    refusal = answer.refusal_reason.value if answer.refusal_reason else None
    return wire.Answer(
        answer=answer.text,
        citations=tuple(map(_citation, answer.citations)),
        grounded=answer.grounded,
        refusal_reason=cast(_Refusal | None, refusal),
        model=parts.Model(id=answer.model.id, provider=answer.model.provider),
        embedding=_embedding(answer.embedding),
        prompt_template_version=answer.prompt_template_version,
        retrieval=_retrieval(answer.retrieval),
        usage=parts.Usage(
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            latency_ms=answer.usage.latency_ms,
        ),
        created_at=answer.created_at,
        question=answer.question,
        claims=tuple(map(claim_to_wire, answer.claims)),
        searched=parts.Searched(
            queries=(answer.question,),
            scope=tuple(scope),
            passages=answer.retrieval.passages_searched,
            unread_items=answer.retrieval.unread_items,
        ),
        degraded=answer.retrieval.degraded,
        finish_reason=answer.finish_reason,
        trace=_trace(record) if record else None,
    )


def claim_to_wire(claim: Claim) -> parts.Claim:
    """Return one checked sentence, its markers as people see them."""
    return parts.Claim(
        text=claim.text,
        markers=tuple(f"[{number}]" for number in claim.markers),
        quote=claim.quote,
        support=cast(_Support | None, claim.support),
    )


def _citation(cited: AnswerCitation) -> parts.AnswerCitation:
    is_candidate = cited.marker is None
    return parts.AnswerCitation(
        marker=None if is_candidate else f"[{cited.marker}]",
        citation=citation_to_wire(cited.citation),
        chunk_id=cited.chunk_id,
        doc_id=cited.doc_id,
        relevance=cited.relevance,
        channels=channels_to_wire(cited.channels),
        quote=cited.quote or None,
        score=cited.relevance if is_candidate else None,
        edited=cited.is_edited or None,
    )


def _embedding(model: ModelRef | None) -> parts.EmbeddingRef | None:
    if model is None:
        return None
    return parts.EmbeddingRef(id=model.id, provider=model.provider, dimensions=model.dimensions or 0)


def _retrieval(summary: RetrievalSummary) -> parts.AnswerRetrieval:
    return parts.AnswerRetrieval(
        trace_id=summary.trace_id,
        mode=mode_to_wire(summary.mode),
        k=summary.k,
        score_gate=summary.score_gate,
        top_score=summary.top_score,
        chunks_returned=summary.chunks_returned,
        chunks_used=summary.chunks_used,
    )


def _trace(record: AnswerRecord) -> wire.AnswerTrace:
    return wire.AnswerTrace(
        packed=tuple(
            parts.PackedChunk(number=chunk.number, chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, text=chunk.text)
            for chunk in record.packed
        ),
        prompt_system=record.prompt_system,
        prompt_user=record.prompt_user,
        temperature=record.temperature,
        seed=record.seed,
    )
