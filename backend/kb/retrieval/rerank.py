"""Rerank: candidates ordered again by features of their words, or by a model (PRD section 8.2, ADR 0030)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey
from kb.domain.failures import ModelUnavailable
from kb.domain.text import fold
from kb.retrieval.ports import Reranker
from kb.retrieval.terms import Terms, matches, terms_of
from kb.retrieval.values import Fused

MOST_CANDIDATES = 100
"""Candidates ordered again (PRD section 8.2); those behind keep their order behind them."""

_WEIGHTS = {
    "rank": 0.60,
    "words": 0.08,
    "cjk": 0.08,
    "phrase": 0.10,
    "heading": 0.10,
    "similarity": 0.12,
}
_REPEAT = 0.02
_MOST_REPEATS = 3
_RANK_HALF = 8.0
_LONGEST = 8_000


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate in its place.

    Attributes:
        score: what the order is by, 0 to 1 after reranking.
        rank_before: the place from 1 that fusion gave it, None when nothing was ordered again.
        features: each from 0 to 1 as the score takes it; `repeat` is what was taken off.
    """

    fused: Fused
    score: float
    rank_before: int | None = None
    features: Mapping[str, float] | None = None


def as_fused(ranked: Sequence[Fused]) -> list[Placed]:
    """Return the candidates exactly as fusion ordered them."""
    return [Placed(one, one.score) for one in ranked]


def rerank_by_model(
    reranker: Reranker, question: str, ranked: Sequence[Fused], stored: Mapping[ChunkKey, StoredChunk], seconds: float
) -> list[Placed]:
    """Return the first 100 candidates as a model orders them, then the others; equal ones as fusion had them.

    Raises:
        ModelUnavailable: the model cannot be used, answered wrongly or not within `seconds`.
    """
    head = ranked[:MOST_CANDIDATES]
    texts = [stored[one.key].chunk.text[:_LONGEST] for one in head]
    scores = list(reranker.scores(question, texts, seconds)) if texts else []
    if len(scores) != len(texts) or not all(math.isfinite(score) for score in scores):
        raise ModelUnavailable(
            f"{reranker.name} did not give one number for each passage", hint="choose another model in `models.rerank`"
        )
    made = [
        Placed(one, round(min(1.0, max(0.0, score)), 6), rank, {"model": round(score, 6)})
        for rank, (one, score) in enumerate(zip(head, scores, strict=True), start=1)
    ]
    made.sort(key=lambda one: (-one.score, one.rank_before))
    return [*made, *_behind(ranked)]


def rerank_locally(question: str, ranked: Sequence[Fused], stored: Mapping[ChunkKey, StoredChunk]) -> list[Placed]:
    """Return the candidates in their new order, best first; equal ones as fusion had them.

    The score is the weighted mean of the features that the question has: the place fusion gave, the share of its
    words and of its CJK letter pairs in the passage, whether the whole question stands there, the share of its terms
    in title, headings and path, and the cosine among those of the candidates. From it .02 is taken for each better
    passage of the same document, at most three: here and nowhere else.
    """
    terms = terms_of(question)
    head = ranked[:MOST_CANDIDATES]
    cosines = [one.scores.vector_similarity for one in head if one.scores.vector_similarity is not None]
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
    whole = " ".join(fold(question).split())
    scored = []
    for rank, one in enumerate(head, start=1):
        found = _features(terms, whole, stored[one.key])
        found["rank"] = _RANK_HALF / (_RANK_HALF + rank - 1)
        if cosines:
            cosine = one.scores.vector_similarity
            found["similarity"] = (cosine - low) / (high - low) if cosine is not None and high > low else 0.0
        scored.append((_mean(found), rank, one, found))
    scored.sort(key=lambda row: (-row[0], row[1]))
    seen: Counter[str] = Counter()
    made = []
    for score, rank, one, found in scored:
        doc_id = stored[one.key].chunk.doc_id
        repeat = _REPEAT * min(seen[doc_id], _MOST_REPEATS)
        seen[doc_id] += 1
        features = {name: round(value, 4) for name, value in sorted(found.items())} | {"repeat": repeat}
        made.append(Placed(one, round(max(0.0, score - repeat), 6), rank, features))
    made.sort(key=lambda one: (-one.score, one.rank_before))
    return [*made, *_behind(ranked)]


def _behind(ranked: Sequence[Fused]) -> list[Placed]:
    rest = ranked[MOST_CANDIDATES:]
    return [Placed(one, 0.0, rank) for rank, one in enumerate(rest, start=MOST_CANDIDATES + 1)]


def _features(terms: Terms, whole: str, found: StoredChunk) -> dict[str, float]:
    text = found.chunk.text[:_LONGEST]
    held = {match.term for match in matches(terms, text)}
    place = " ".join((found.title, *found.chunk.heading_path, _as_words(found.path)))
    named = {match.term for match in matches(terms, place)}
    features = {"heading": len(named) / terms.count if terms.count else 0.0}
    if terms.words:
        features["words"] = len(held & terms.words) / len(terms.words)
    if terms.grams:
        features["cjk"] = len(held & terms.grams) / len(terms.grams)
    # One word is no phrase: that it stands there says what its coverage says.
    if terms.count > 1:
        features["phrase"] = float(whole in " ".join(fold(text).split()))
    return features


def _as_words(path: str) -> str:
    return path.replace("/", " ").replace("_", " ").replace("-", " ").replace(".", " ")


def _mean(features: Mapping[str, float]) -> float:
    weight = sum(_WEIGHTS[name] for name in features)
    return sum(_WEIGHTS[name] * value for name, value in sorted(features.items())) / weight
