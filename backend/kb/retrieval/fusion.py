"""Fusion: one order from several channels, and an absolute relevance (ADR 0008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.embeddings import ChunkKey
from kb.domain.search import SearchMode
from kb.retrieval.values import ChannelScores, Fused, RetrievalSettings

_COSINE_FLOOR, _COSINE_SPAN = 0.75, 0.15


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known about one candidate.

    Attributes:
        text_score: BM25 over all fields, None when the text index did not find it.
        cosine: exact cosine with the question, None when the chunk has no vector.
        tie: a fixed key of the chunk; equal scores are ordered by it.
    """

    key: ChunkKey
    text_score: float | None
    cosine: float | None
    scores: ChannelScores
    tie: tuple[str, int, str]


def fuse(evidence: Sequence[Evidence], mode: SearchMode, settings: RetrievalSettings, ceiling: float) -> list[Fused]:
    """Order candidates, best first; the same evidence gives the same order, always.

    Args:
        evidence: every visible candidate, once.
        mode: decides which channels count.
        settings: fusion, weights.
        ceiling: the best text score any chunk could get for this question.
    """
    score_of = _reciprocal_ranks if _is_rrf(mode, settings) else _scores
    scored = score_of(evidence, mode, settings, ceiling)
    order = sorted(range(len(evidence)), key=lambda i: (-scored[i], evidence[i].tie))
    return [
        Fused(
            key=evidence[i].key,
            score=round(scored[i], 6),
            relevance=round(_relevance(evidence[i], mode, settings, ceiling), 4),
            scores=evidence[i].scores,
        )
        for i in order
    ]


def _is_rrf(mode: SearchMode, settings: RetrievalSettings) -> bool:
    return mode is SearchMode.HYBRID and settings.fusion == "rrf"


def _reciprocal_ranks(
    evidence: Sequence[Evidence], mode: SearchMode, settings: RetrievalSettings, ceiling: float
) -> list[float]:
    """Sum weight / (k + rank) over the two channels (Cormack et al. 2009)."""
    del mode, ceiling
    by_text = _ranks([e.text_score for e in evidence], evidence)
    return [
        sum(
            weight / (settings.rrf_k + rank)
            for weight, rank in (
                (settings.fts_weight, text_rank),
                (settings.vector_weight, e.scores.vector_rank),
            )
            if rank is not None
        )
        for e, text_rank in zip(evidence, by_text, strict=True)
    ]


def _scores(evidence: Sequence[Evidence], mode: SearchMode, settings: RetrievalSettings, ceiling: float) -> list[float]:
    return [_relevance(e, mode, settings, ceiling) for e in evidence]


def _relevance(e: Evidence, mode: SearchMode, settings: RetrievalSettings, ceiling: float) -> float:
    share = min(1.0, (e.text_score or 0.0) / ceiling) if ceiling > 0 else 0.0
    closeness = max(0.0, min(1.0, ((e.cosine or 0.0) - _COSINE_FLOOR) / _COSINE_SPAN))
    if mode is SearchMode.LEXICAL:
        return share
    if mode is SearchMode.VECTOR:
        return closeness
    total = settings.fts_weight + settings.vector_weight
    return (settings.fts_weight * share + settings.vector_weight * closeness) / total


def _ranks(scores: Sequence[float | None], evidence: Sequence[Evidence]) -> list[int | None]:
    found = [i for i, score in enumerate(scores) if score is not None]
    found.sort(key=lambda i: (-(scores[i] or 0.0), evidence[i].tie))
    ranks: list[int | None] = [None] * len(scores)
    for rank, index in enumerate(found, start=1):
        ranks[index] = rank
    return ranks
