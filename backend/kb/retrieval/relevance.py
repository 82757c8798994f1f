"""Relevance: how likely a chunk answers the question, 0 to 1, comparable across questions (ADR 0008).

A logistic model over four facts: the share of the best keyword score this question could get, how
much of its wording the library knows, whether it knows the language at all, and how far the similarity
stands above what unrelated chunks reach by chance. Fitted on XQuAD, KorQuAD and CMRC2018; figures in the ADR.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kb.domain.embeddings import EmbeddingModel

SAMPLE_SIZE = 256
"""Chunks whose cosines stand for unrelated ones; fewer make the gate refuse too much."""

_LARGE = 128
_FOREIGN, _NATIVE = 0.27, 0.65
_FULL_CEILING, _FULL_CEILING_GROWTH = 12.0, 4.0
_LINK = 1.0
"""Log-odds that the strongest link adds at weight 1: about what one more deviation of similarity does."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the logistic model for one embedding model.

    Attributes:
        fitted: False when the numbers come from another model and only the order can be trusted.
        prior_mean, prior_deviation, prior_weight: stand in for cosines of a small library.
    """

    fitted: bool = True
    hybrid_bias: float = -0.35
    hybrid_share: float = 15.7
    hybrid_seen: float = 3.0
    hybrid_language: float = 1.6
    hybrid_excess: float = 0.90
    lexical_bias: float = -2.40
    lexical_share: float = 21.3
    lexical_seen: float = 3.9
    vector_bias: float = -0.45
    vector_excess: float = 1.2
    prior_mean: float = 0.80
    prior_deviation: float = 0.025
    prior_weight: float = 8.0


_FITTED = frozenset({("multilingual-e5-small", 384)})


def calibration_of(model: EmbeddingModel | None) -> Calibration:
    """Return the weights for a model; those of an unknown one are marked as not fitted."""
    fitted = model is None or (model.id, model.dimensions) in _FITTED
    return Calibration(fitted=fitted)


@dataclass(frozen=True, slots=True)
class Background:
    """What cosines of unrelated chunks look like for this question.

    Attributes:
        chance: deviations above the mean that the best of all unrelated vectors reaches by chance,
            sqrt(2 ln n), the expected maximum of n normal values.
    """

    mean: float
    deviation: float
    chance: float

    def excess(self, cosine: float) -> float:
        """Return how many deviations a cosine is above chance."""
        return (cosine - self.mean) / self.deviation - self.chance


def background_of(cosines: Sequence[float], vectors: int, calibration: Calibration) -> Background:
    """Estimate the background from a fixed sample of chunks, drawn towards the prior when small."""
    weight, mean0, deviation0 = (
        calibration.prior_weight,
        calibration.prior_mean,
        calibration.prior_deviation,
    )
    total = len(cosines) + weight
    mean = (math.fsum(cosines) + weight * mean0) / total
    squares = math.fsum((c - mean) ** 2 for c in cosines) + weight * deviation0**2
    return Background(mean, math.sqrt(squares / total), math.sqrt(2 * math.log(max(vectors, 2))))


@dataclass(frozen=True, slots=True)
class Question:
    """What is the same for every candidate of one search.

    Attributes:
        ceiling: best text score any chunk could get; 0 without a text channel.
        seen: share of the ceiling made of terms the library has, 0 to 1.
        familiar: share of the words and CJK letters the library has, 0 to 1.
        chunks: how many the library has.
        background: None without a vector channel.
        fts_weight, vector_weight: as set; 1 and 1 keep relevance calibrated.
        graph_weight: moves the order, never the relevance: that something links to an answer makes it none.
    """

    ceiling: float
    seen: float
    background: Background | None
    calibration: Calibration
    fts_weight: float = 1.0
    vector_weight: float = 1.0
    familiar: float = 1.0
    chunks: int = SAMPLE_SIZE
    graph_weight: float = 0.0

    def linked(self, graph_score: float | None) -> float:
        """Return what links add to the log-odds that a candidate is ordered by, 0 without any."""
        return _LINK * self.graph_weight * (graph_score or 0.0)

    def _share(self, text_score: float) -> float:
        # One common word is no question: it does not get the full share.
        full = min(_FULL_CEILING, _FULL_CEILING_GROWTH * math.log(max(self.chunks, 1)))
        return min(1.0, text_score / self.ceiling) * (min(1.0, self.ceiling / full) if full > 0 else 1.0)

    def _against(self) -> float:
        """Return what the wording takes off before any chunk is looked at, at least 0."""
        # Few chunks hold few words: that they hold those of the question is no chance.
        size = min(1.0, math.log(max(self.chunks, 1)) / math.log(_LARGE))
        language = min(1.0, max(0.0, (self.familiar - _FOREIGN) / (_NATIVE - _FOREIGN)))
        c = self.calibration
        return c.hybrid_seen * size * self.seen * math.sqrt(self.seen) + c.hybrid_language * language

    def logit(self, text_score: float | None, cosine: float | None) -> float:
        """Return the log-odds that a chunk answers; rises with both scores."""
        c = self.calibration
        share = self._share(text_score or 0.0) if self.ceiling > 0 else 0.0
        if self.background is None or cosine is None:
            return c.lexical_bias + c.lexical_share * share - c.lexical_seen * self.seen * math.sqrt(self.seen)
        excess = self.background.excess(cosine)
        if self.ceiling <= 0:
            return c.vector_bias + c.vector_excess * excess
        total = self.fts_weight + self.vector_weight
        text, vector = 2 * self.fts_weight / total, 2 * self.vector_weight / total
        return c.hybrid_bias + text * (c.hybrid_share * share - self._against()) + vector * c.hybrid_excess * excess


def probability(logit: float) -> float:
    """Return 1 / (1 + e^-logit) without overflow."""
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    return math.exp(logit) / (1 + math.exp(logit))
