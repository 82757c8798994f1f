"""The gates before a model is asked: is there an index, is anything found, is it close enough."""

from __future__ import annotations

from kb.domain.answers import RefusalReason
from kb.retrieval.results import SearchResult


def top_score(result: SearchResult) -> float:
    """Return the best relevance (0 to 1) among the hits, 0 when there are none."""
    return max((hit.relevance for hit in result.hits), default=0.0)


def gate(result: SearchResult, score_gate: float) -> RefusalReason | None:
    """Return why `result` must not be answered from, None when it may.

    No passages or no channel that works is `no_index`; no hits is `no_chunks`; a best relevance under `score_gate`
    is `score_gate`, and so is a question without a letter or digit: every vector is near to something.
    """
    if result.hits:
        asks = any(letter.isalnum() for letter in result.query.text)
        return None if asks and top_score(result) >= score_gate else RefusalReason.SCORE_GATE
    if result.passages_searched == 0 or not result.diagnostics.used_channels:
        return RefusalReason.NO_INDEX
    return RefusalReason.NO_CHUNKS
