"""Fusion: one order from several channels (ADR 0008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.embeddings import ChunkKey
from kb.retrieval.relevance import Question, probability
from kb.retrieval.values import ChannelScores, Fused


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known about one candidate.

    Attributes:
        text_score: exact BM25 over all fields, None when the text index does not have it.
        cosine: exact cosine with the question, None when the chunk has no vector.
        tie: a fixed key of the chunk; equal scores are ordered by it.
    """

    key: ChunkKey
    text_score: float | None
    cosine: float | None
    scores: ChannelScores
    tie: tuple[str, int, str]


def fuse_scores(evidence: Sequence[Evidence], question: Question) -> list[Fused]:
    """Order candidates by their relevance and links, best first; ties by the fixed key.

    Without links the score is the relevance with more decimals.
    """
    logits = [question.logit(e.text_score, e.cosine) for e in evidence]
    ordering = [logits[i] + question.linked(e.scores.graph_score) for i, e in enumerate(evidence)]
    order = sorted(range(len(evidence)), key=lambda i: (-ordering[i], evidence[i].tie))
    return [
        Fused(
            key=evidence[i].key,
            score=round(probability(ordering[i]), 6),
            relevance=round(probability(logits[i]), 4),
            scores=evidence[i].scores,
        )
        for i in order
    ]


def fuse_ranks(evidence: Sequence[Evidence], question: Question, rrf_k: int) -> list[Fused]:
    """Order by reciprocal rank fusion: the sum of weight / (k + rank) (Cormack et al. 2009).

    The rank in the text channel counts both its fields; relevance is the same as in `fuse_scores`.
    """
    found = [e for e in evidence if e.scores.lexical_rank is not None or e.scores.cjk_rank is not None]
    found.sort(key=lambda e: (-(e.text_score or 0.0), e.tie))
    text_rank = {e.key: rank for rank, e in enumerate(found, start=1)}
    scored: list[tuple[float, Evidence]] = []
    for e in evidence:
        ranks = (
            (question.fts_weight, text_rank.get(e.key)),
            (question.vector_weight, e.scores.vector_rank),
            (question.graph_weight, e.scores.graph_rank),
        )
        scored.append((sum(weight / (rrf_k + rank) for weight, rank in ranks if rank is not None), e))
    scored.sort(key=lambda pair: (-pair[0], pair[1].tie))
    return [
        Fused(e.key, round(score, 6), round(probability(question.logit(e.text_score, e.cosine)), 4), e.scores)
        for score, e in scored
    ]
