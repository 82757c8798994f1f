"""Search results on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, cast

from kb.app.wire.citation import citation_to_wire
from kb.contract import retrieval as wire
from kb.contract.context import Context as WireContext
from kb.contract.context import ContextGroup
from kb.contract.search import Highlight, HitScores, SearchHit
from kb.domain.search import SearchMode
from kb.retrieval.results import Candidate, Context, SearchResult
from kb.retrieval.values import Hit, SearchQuery

INDEX_VERSION = "v1.0"
"""The form of the indexes, as shown with every hit."""

Channel = Literal["lexical", "cjk", "vector", "graph"]
Mode = Literal["lexical", "vector", "hybrid"]
_Removal = Literal["threshold", "top_k", "budget"]


def result_to_wire(result: SearchResult, *, query: str | None = None, explain: bool = False) -> wire.RetrievalResponse:
    """Return a whole search as `retrieval_response.v1`.

    Args:
        result: what was found.
        query: the question as it was typed, when that is not what was looked for.
        explain: with the way of every candidate through the steps.
    """
    groups = {rank: index for index, group in enumerate(result.context.groups) for rank in group.numbers}
    model = result.model.id if result.model else None
    return wire.RetrievalResponse(
        query=result.query.text if query is None else query,
        duration_ms=result.duration_ms,
        settings=_settings(result.query),
        diagnostics=_diagnostics(result, explain=explain),
        results=tuple(_hit(hit, result.query.mode, model, groups) for hit in result.hits),
        context=_context(result.context),
        trace_id=result.trace_id,
        passages_searched=result.passages_searched,
    )


def channels_to_wire(names: Iterable[str]) -> tuple[Channel, ...]:
    """Return channel names as the wire has them; the model checks each."""
    return cast(tuple[Channel, ...], tuple(names))


def mode_to_wire(mode: SearchMode) -> Mode:
    """Return a search mode as the wire has it."""
    return mode.value


def _hit(hit: Hit, mode: SearchMode, model: str | None, groups: Mapping[int, int]) -> SearchHit:
    chunk, scores = hit.stored.chunk, hit.scores
    return SearchHit(
        rank=hit.rank,
        score=hit.score,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        doc_path=hit.stored.path,
        heading_path=chunk.heading_path,
        section_label=chunk.section_label,
        snippet=hit.snippet,
        snippet_full_text=hit.snippet_is_full_text,
        citation=citation_to_wire(hit.citation),
        retrieval=HitScores(
            method=mode_to_wire(mode),
            lexical_score=scores.lexical_score,
            vector_score=scores.vector_similarity,
            fusion_score=hit.score if mode is SearchMode.HYBRID else None,
            lexical_rank=scores.lexical_rank,
            vector_rank=scores.vector_rank,
        ),
        index_version=INDEX_VERSION,
        embedding_model=model,
        chunker_version=chunk.chunker_version,
        relevance=hit.relevance,
        channels=channels_to_wire(scores.channels),
        cjk_rank=scores.cjk_rank,
        cjk_score=scores.cjk_score,
        graph_rank=scores.graph_rank,
        graph_score=scores.graph_score,
        vector_similarity=scores.vector_similarity,
        rank_before_rerank=hit.rank_before_rerank,
        features=dict(hit.features) if hit.features is not None else None,
        edited=hit.stored.is_edited or None,
        context_group=groups.get(hit.rank),
        highlights=tuple(Highlight(start=mark.start, end=mark.end) for mark in hit.highlights),
        item_id=hit.stored.item_id,
        title=hit.stored.title,
        lang=hit.stored.lang,
        media=hit.stored.media,
        stale=hit.stored.is_stale or None,
    )


def _settings(query: SearchQuery) -> wire.AppliedSettings:
    settings = query.settings
    return wire.AppliedSettings(
        top_k=settings.top_k,
        minimum_vector_similarity=settings.minimum_vector_similarity,
        fts_weight=settings.fts_weight,
        vector_weight=settings.vector_weight,
        graph_weight=settings.graph_weight,
        candidate_multiplier=settings.candidate_multiplier,
        context_max_characters=settings.context_max_characters,
        adjacent_chunk_count=settings.adjacent_chunk_count,
        local_rerank_enabled=settings.rerank == "local",
        rerank=settings.rerank,
        fusion=settings.fusion,
        rrf_k=settings.rrf_k,
        mode=mode_to_wire(query.mode),
    )


def _diagnostics(result: SearchResult, *, explain: bool) -> wire.Diagnostics:
    found = result.diagnostics
    return wire.Diagnostics(
        requested_channels=channels_to_wire(found.requested_channels),
        used_channels=channels_to_wire(found.used_channels),
        degraded_channels=tuple(
            wire.DegradedChannel(channel=lost.channel, reason=lost.reason, detail=lost.detail)
            for lost in found.degraded
        ),
        candidate_counts=dict(found.candidate_counts),
        milliseconds=dict(found.milliseconds),
        fusion=found.fusion,
        vector_engine=found.vector_engine,
        vectors_scanned=found.vectors_scanned,
        removed=wire.Removed(
            gate=found.removed_by_gate,
            threshold=found.removed_by_threshold,
            budget=found.removed_by_budget,
        ),
        rerank=found.rerank,
        collections=result.query.filters.collections,
        stages=tuple(wire.Stage(name=one.name, before=one.before, after=one.after) for one in found.stages),
        candidates=tuple(map(candidate_to_wire, found.candidates)) if explain else None,
    )


def candidate_to_wire(found: Candidate) -> wire.Candidate:
    """Return the way of one candidate."""
    scores = found.scores
    return wire.Candidate(
        chunk_id=found.chunk_id,
        doc_path=found.path,
        lexical_rank=scores.lexical_rank,
        lexical_score=scores.lexical_score,
        cjk_rank=scores.cjk_rank,
        cjk_score=scores.cjk_score,
        vector_rank=scores.vector_rank,
        vector_similarity=scores.vector_similarity,
        graph_rank=scores.graph_rank,
        graph_score=scores.graph_score,
        fused_rank=found.fused_rank,
        fused_score=found.fused_score,
        relevance=found.relevance,
        rerank_rank=found.rerank_rank,
        rerank_score=found.rerank_score,
        rank=found.rank,
        removed_by=cast(_Removal | None, found.removed_by),
    )


def _context(context: Context) -> WireContext:
    return WireContext(
        character_count=context.character_count,
        truncated=context.truncated,
        groups=tuple(
            ContextGroup(doc_id=group.doc_id, numbers=group.numbers, text=group.text, truncated=group.truncated)
            for group in context.groups
        ),
    )
