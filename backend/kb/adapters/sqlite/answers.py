"""Answers: kept whole, with what was in front of the model."""

# ruff: noqa: S608 - only fragments of our own are put together; values are always bound

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.json_text import compact
from kb.answering.ports import AnswerRecord, PackedChunk
from kb.domain.answers import (
    Answer,
    AnswerCitation,
    Claim,
    ModelRef,
    RefusalReason,
    RetrievalSummary,
    TokenUsage,
    TraceId,
)
from kb.domain.citations import Citation
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.search import SearchMode

_COLUMNS = (
    "trace_id, query, answer, grounded, refusal_reason, model_id, model_provider, embedding_model_id,"
    " embedding_provider, embedding_dimensions, prompt_template_version, retrieval_mode, retrieval_k, score_gate,"
    " top_score, chunks_returned, chunks_used, passages_searched, unread_items, degraded_json, citations_json,"
    " claims_json, packed_chunks_json, prompt_system, prompt_user, temperature, seed, prompt_tokens,"
    " completion_tokens, latency_ms, finish_reason, created_at"
)
_NAMES = tuple(name.strip() for name in _COLUMNS.split(","))


class SqliteAnswerStore:
    """Wraps the library file: kept answers."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def keep(self, record: AnswerRecord) -> None:
        """Store an answer for good, in one transaction; the documents it shows are not purged."""
        values = _values(record)
        trace_id = record.answer.retrieval.trace_id
        sources = [c.doc_id for c in record.answer.citations] + [p.doc_id for p in record.packed]
        marks = ",".join("?" * len(_NAMES))
        with self._library.transaction() as connection:
            connection.execute("DELETE FROM answers WHERE trace_id = ?", (trace_id,))
            connection.execute(f"INSERT INTO answers ({_COLUMNS}) VALUES ({marks})", [values[n] for n in _NAMES])
            connection.executemany(
                "INSERT INTO answer_sources VALUES (?,?)", ((trace_id, doc_id) for doc_id in dict.fromkeys(sources))
            )

    def get(self, trace_id: str) -> AnswerRecord | None:
        """Return a kept answer."""
        row = self._library.row(f"SELECT {_COLUMNS} FROM answers WHERE trace_id = ?", (trace_id,))
        return _record(row) if row else None

    def recent(self, limit: int) -> list[AnswerRecord]:
        """Return the newest answers first."""
        sql = f"SELECT {_COLUMNS} FROM answers ORDER BY rowid DESC LIMIT ?"
        return [_record(row) for row in self._library.rows(sql, (limit,))]


def _values(record: AnswerRecord) -> dict[str, Any]:
    answer = record.answer
    retrieval = answer.retrieval
    embedding = answer.embedding
    return {
        "trace_id": retrieval.trace_id,
        "query": answer.question,
        "answer": answer.text,
        "grounded": int(answer.grounded),
        "refusal_reason": answer.refusal_reason.value if answer.refusal_reason else None,
        "model_id": answer.model.id,
        "model_provider": answer.model.provider,
        "embedding_model_id": embedding.id if embedding else None,
        "embedding_provider": embedding.provider if embedding else None,
        "embedding_dimensions": embedding.dimensions if embedding else None,
        "prompt_template_version": answer.prompt_template_version,
        "retrieval_mode": retrieval.mode.value,
        "retrieval_k": retrieval.k,
        "score_gate": retrieval.score_gate,
        "top_score": retrieval.top_score,
        "chunks_returned": retrieval.chunks_returned,
        "chunks_used": retrieval.chunks_used,
        "passages_searched": retrieval.passages_searched,
        "unread_items": retrieval.unread_items,
        "degraded_json": compact(retrieval.degraded),
        "citations_json": compact([_citation_object(c) for c in answer.citations]),
        "claims_json": compact([asdict(claim) for claim in answer.claims]),
        "packed_chunks_json": compact([asdict(chunk) for chunk in record.packed]),
        "prompt_system": record.prompt_system,
        "prompt_user": record.prompt_user,
        "temperature": record.temperature,
        "seed": record.seed,
        "prompt_tokens": answer.usage.prompt_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "latency_ms": answer.usage.latency_ms,
        "finish_reason": answer.finish_reason,
        "created_at": answer.created_at.isoformat(),
    }


def _citation_object(cited: AnswerCitation) -> dict[str, object]:
    return {
        "marker": cited.marker,
        "citation": cited.citation.to_uri(),
        "section": cited.citation.section,
        "speaker": cited.citation.speaker,
        "chunk_id": cited.chunk_id,
        "doc_id": cited.doc_id,
        "quote": cited.quote,
        "relevance": cited.relevance,
        "channels": cited.channels,
        **({"edited": True} if cited.is_edited else {}),
    }


def _citation(value: dict[str, Any]) -> AnswerCitation:
    parsed = Citation.parse(value["citation"])
    return AnswerCitation(
        marker=value["marker"],
        citation=Citation(parsed.path, parsed.place, section=value["section"], speaker=value["speaker"]),
        chunk_id=ChunkId(value["chunk_id"]),
        doc_id=DocumentId(value["doc_id"]),
        quote=value["quote"],
        relevance=value["relevance"],
        channels=tuple(value["channels"]),
        is_edited=bool(value.get("edited")),
    )


def _claim(value: dict[str, Any]) -> Claim:
    return Claim(value["text"], tuple(value["markers"]), value["quote"], value["support"])


def _record(row: Sequence[Any]) -> AnswerRecord:
    v = dict(zip(_NAMES, row, strict=True))
    embedding = None
    if v["embedding_model_id"] is not None:
        embedding = ModelRef(v["embedding_model_id"], v["embedding_provider"], v["embedding_dimensions"])
    answer = Answer(
        question=v["query"],
        text=v["answer"],
        grounded=bool(v["grounded"]),
        refusal_reason=RefusalReason(v["refusal_reason"]) if v["refusal_reason"] else None,
        citations=tuple(map(_citation, json.loads(v["citations_json"]))),
        claims=tuple(map(_claim, json.loads(v["claims_json"]))),
        model=ModelRef(v["model_id"], v["model_provider"]),
        embedding=embedding,
        prompt_template_version=v["prompt_template_version"],
        retrieval=RetrievalSummary(
            trace_id=TraceId(v["trace_id"]),
            mode=SearchMode(v["retrieval_mode"]),
            k=v["retrieval_k"],
            score_gate=v["score_gate"],
            top_score=v["top_score"],
            chunks_returned=v["chunks_returned"],
            chunks_used=v["chunks_used"],
            passages_searched=v["passages_searched"],
            unread_items=v["unread_items"],
            degraded=tuple(json.loads(v["degraded_json"])),
        ),
        usage=TokenUsage(v["prompt_tokens"], v["completion_tokens"], v["latency_ms"]),
        finish_reason=v["finish_reason"],
        created_at=datetime.fromisoformat(v["created_at"]),
    )
    return AnswerRecord(
        answer=answer,
        packed=tuple(PackedChunk(**chunk) for chunk in json.loads(v["packed_chunks_json"])),
        prompt_system=v["prompt_system"],
        prompt_user=v["prompt_user"],
        temperature=v["temperature"],
        seed=v["seed"],
    )
