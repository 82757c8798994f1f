"""The steps after the channels: evidence and its question, the threshold, hits ready to show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.errors import KebabError
from kb.domain.search import Degradation, SearchMode
from kb.retrieval.candidates import Found
from kb.retrieval.fusion import Evidence, fuse_ranks, fuse_scores
from kb.retrieval.ports import LibraryFacts, Reranker
from kb.retrieval.relevance import Question, calibration_of
from kb.retrieval.rerank import Placed, as_fused, rerank_by_model, rerank_locally
from kb.retrieval.results import Candidate
from kb.retrieval.snippets import narrowed_citation, own_start, snippet_of
from kb.retrieval.terms import terms_of
from kb.retrieval.trace import Trace
from kb.retrieval.values import ChannelScores, Fused, Hit, SearchQuery


def fused(
    query: SearchQuery,
    found: Found,
    stored: Mapping[ChunkKey, StoredChunk],
    facts: LibraryFacts,
    model: EmbeddingModel | None,
) -> list[Fused]:
    """Return the candidates that may be seen in one order, best first."""
    question = Question(
        ceiling=found.text.ceiling if found.text else 0.0,
        seen=found.text.seen if found.text else 0.0,
        familiar=found.text.familiar if found.text else 0.0,
        chunks=facts.chunks,
        background=found.background,
        calibration=calibration_of(model),
        fts_weight=query.settings.fts_weight,
        vector_weight=query.settings.vector_weight,
        graph_weight=query.settings.graph_weight if found.graph else 0.0,
    )
    evidence = _evidence(found, stored)
    if query.mode is SearchMode.HYBRID and query.settings.fusion == "rrf":
        return fuse_ranks(evidence, question, query.settings.rrf_k)
    return fuse_scores(evidence, question)


def above_threshold(query: SearchQuery, ranked: Sequence[Fused], trace: Trace) -> list[Fused]:
    """Drop hits that only the vector channel found and whose cosine is below the setting."""
    floor = query.settings.minimum_vector_similarity
    kept = [hit for hit in ranked if hit.scores.channels != ("vector",) or (hit.scores.vector_similarity or 0) >= floor]
    trace.below = len(ranked) - len(kept)
    if trace.below:
        trace.degrade("vector", Degradation.BELOW_THRESHOLD, f"{trace.below} hits below {floor}")
    return kept


def reordered(
    query: SearchQuery,
    ranked: Sequence[Fused],
    stored: Mapping[ChunkKey, StoredChunk],
    reranker: Reranker | None,
    trace: Trace,
) -> list[Placed]:
    """Return the candidates in the order that reranking gives them; exactly as fused when it is off or fails."""
    settings = query.settings
    if settings.rerank == "local":
        trace.rerank = "local"
        return trace.timed("rerank", lambda: rerank_locally(query.text, ranked, stored))
    if settings.rerank == "model":
        if reranker is None:
            trace.degrade("rerank", Degradation.RERANK_FAILED, "no model is chosen in `models.rerank`")
            return as_fused(ranked)
        try:
            seconds = settings.rerank_seconds
            made = trace.timed("rerank", lambda: rerank_by_model(reranker, query.text, ranked, stored, seconds))
        except KebabError as error:
            trace.degrade("rerank", Degradation.RERANK_FAILED, error.message)
            return as_fused(ranked)
        trace.rerank = reranker.name
        return made
    return as_fused(ranked)


def candidates_of(
    ranked: Sequence[Fused],
    kept: Sequence[Fused],
    placed: Sequence[Placed],
    stored: Mapping[ChunkKey, StoredChunk],
    *,
    top_k: int,
    in_context: Collection[int],
) -> tuple[Candidate, ...]:
    """Return the way of every candidate through the steps, as fusion ordered them."""
    above = {one.key for one in kept}
    places = {one.fused.key: (rank, one) for rank, one in enumerate(placed, start=1)}

    def candidate(fused_rank: int, one: Fused) -> Candidate:
        rank, place = places.get(one.key, (None, None))
        is_reranked = place is not None and place.rank_before is not None
        is_hit = rank is not None and rank <= top_k
        removed = "threshold" if one.key not in above else None if is_hit else "top_k"
        if is_hit and rank not in in_context:
            removed = "budget"
        return Candidate(
            chunk_id=stored[one.key].chunk.chunk_id,
            path=stored[one.key].path,
            scores=one.scores,
            fused_rank=fused_rank,
            fused_score=one.score,
            relevance=one.relevance,
            rerank_rank=rank if is_reranked else None,
            rerank_score=place.score if place is not None and is_reranked else None,
            rank=rank if is_hit else None,
            removed_by=removed,
        )

    return tuple(candidate(rank, one) for rank, one in enumerate(ranked, start=1))


def hits_of(query: SearchQuery, placed: Sequence[Placed], stored: Mapping[ChunkKey, StoredChunk]) -> tuple[Hit, ...]:
    """Return hits with snippet and citation, ranks from 1."""
    terms = terms_of(query.text)
    hits = []
    for rank, one in enumerate(placed, start=1):
        found = stored[one.fused.key]
        begin = own_start(found.chunk.text, found.chunk.segments)
        snippet = snippet_of(found.chunk.text, terms, query.settings.snippet_chars, begin)
        hits.append(
            Hit(
                rank=rank,
                score=one.score,
                relevance=one.fused.relevance,
                scores=one.fused.scores,
                stored=found,
                citation=narrowed_citation(found.path, found.chunk, snippet, terms),
                snippet=snippet.text,
                snippet_is_full_text=snippet.is_full_text,
                highlights=snippet.highlights,
                rank_before_rerank=one.rank_before,
                features=one.features,
            )
        )
    return tuple(hits)


def _evidence(found: Found, stored: Mapping[ChunkKey, StoredChunk]) -> list[Evidence]:
    by_text = {c.key: c for c in found.text.candidates} if found.text else {}
    nearest = found.vector.reply.candidates if found.vector else ()
    by_vector = {key: rank for rank, (key, _) in enumerate(nearest, start=1)}
    linked = found.graph.candidates if found.graph else ()
    by_graph = {key: (rank, round(score, 6)) for rank, (key, score) in enumerate(linked, start=1)}
    evidence = []
    for key in found.candidates():
        if key not in stored:
            continue
        text, chunk = by_text.get(key), stored[key].chunk
        graph_rank, graph_score = by_graph.get(key, (None, None))
        evidence.append(
            Evidence(
                key=key,
                text_score=found.text_scores.get(key),
                cosine=found.cosines.get(key),
                scores=ChannelScores(
                    lexical_rank=text.lexical_rank if text else None,
                    lexical_score=text.lexical_score if text else None,
                    cjk_rank=text.cjk_rank if text else None,
                    cjk_score=text.cjk_score if text else None,
                    vector_rank=by_vector.get(key),
                    vector_similarity=found.cosines.get(key),
                    graph_rank=graph_rank,
                    graph_score=graph_score,
                ),
                tie=(stored[key].path, chunk.ordinal, chunk.chunk_id),
            )
        )
    return evidence
