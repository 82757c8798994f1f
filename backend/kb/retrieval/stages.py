"""The steps after the channels: evidence and its question, the threshold, hits ready to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.domain.chunks import StoredChunk
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.search import Degradation, SearchMode
from kb.retrieval.candidates import Found
from kb.retrieval.fusion import Evidence, fuse_ranks, fuse_scores
from kb.retrieval.ports import LibraryFacts
from kb.retrieval.relevance import Question, calibration_of
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


def hits_of(query: SearchQuery, ranked: Sequence[Fused], stored: Mapping[ChunkKey, StoredChunk]) -> tuple[Hit, ...]:
    """Return hits with snippet and citation, ranks from 1."""
    terms = terms_of(query.text)
    hits = []
    for rank, one in enumerate(ranked, start=1):
        found = stored[one.key]
        begin = own_start(found.chunk.text, found.chunk.segments)
        snippet = snippet_of(found.chunk.text, terms, query.settings.snippet_chars, begin)
        hits.append(
            Hit(
                rank=rank,
                score=one.score,
                relevance=one.relevance,
                scores=one.scores,
                stored=found,
                citation=narrowed_citation(found.path, found.chunk, snippet, terms),
                snippet=snippet.text,
                snippet_is_full_text=snippet.is_full_text,
                highlights=snippet.highlights,
            )
        )
    return tuple(hits)


def _evidence(found: Found, stored: Mapping[ChunkKey, StoredChunk]) -> list[Evidence]:
    by_text = {c.key: c for c in found.text.candidates} if found.text else {}
    nearest = found.vector.reply.candidates if found.vector else ()
    by_vector = {key: rank for rank, (key, _) in enumerate(nearest, start=1)}
    evidence = []
    for key in found.candidates():
        if key not in stored:
            continue
        text, chunk = by_text.get(key), stored[key].chunk
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
                ),
                tie=(stored[key].path, chunk.ordinal, chunk.chunk_id),
            )
        )
    return evidence
