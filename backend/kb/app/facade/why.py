"""`search.why`: the step that dropped a passage that was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, Protocol, cast

from kb.app.wire.search import candidate_to_wire
from kb.contract.retrieval import DegradedChannel
from kb.contract.why import ChannelPlace, Why
from kb.domain.embeddings import ChunkKey
from kb.domain.expected import Expected
from kb.domain.search import SearchFilters
from kb.retrieval.results import Candidate, SearchResult
from kb.retrieval.results import ChannelPlace as Place
from kb.retrieval.values import SearchQuery

_RULES = {
    "deleted": "its file is gone",
    "removed": "it was taken out of the library",
    "archived": "it is archived",
    "masking": "secrets in it are being masked anew",
    "older_version": "it is of an earlier version of its document",
    "parent": "it only gives context: the small passages in it are searched",
    "disabled": "a person took the passage out",
    "not_ready": "its document is not shown yet",
}


class Explaining(Protocol):
    """The retriever, asked why."""

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the best hits for a question."""

    def places(self, query: SearchQuery, chosen: Mapping[ChunkKey, str]) -> tuple[Place, ...]:
        """Return where the best of chosen passages stands in each channel, without any limit."""

    def meeting(self, filters: SearchFilters) -> Sequence[ChunkKey]:
        """Return the passages that meet filters."""


class ExpectedPassages(Protocol):
    """What people name."""

    def look(self, what: str) -> Expected | None:
        """Return what a path or id means, None when nothing has this name."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Goes the way of a search step by step until the expected passage is lost, or shown."""

    expected: ExpectedPassages
    retriever: Callable[[], Explaining]

    def explain(self, query: SearchQuery, what: str) -> Why:
        """Return the step that dropped what was expected, or where it stands."""
        expected = self.expected.look(what)
        if expected is None:
            return Why(step="not_in_library", reason="nothing in the library has this path or id")
        path = expected.path
        if not expected.passages and expected.hidden_by in {None, "not_ready"}:
            reason = f"it has no passages: {expected.reason or expected.state}"
            return Why(step="not_read", reason=reason, detail=expected.reason or expected.state, doc_path=path)
        if expected.hidden_by is not None:
            reason = f"it may not be seen: {_RULES[expected.hidden_by]}"
            return Why(step="hidden", reason=reason, detail=expected.hidden_by, doc_path=path)
        retriever = self.retriever()
        names = _dropping(retriever, query.filters, set(expected.passages))
        if names is not None:
            reason = f"left out by the filter {names}" if names != "together" else "left out by the filters together"
            return Why(step="filtered", reason=reason, detail=names, doc_path=path)
        result = retriever.search(query)
        degraded = tuple(
            DegradedChannel(channel=lost.channel, reason=lost.reason, detail=lost.detail)
            for lost in result.diagnostics.degraded
        )
        ids = set(expected.passages.values())
        ways = [one for one in result.diagnostics.candidates if one.chunk_id in ids]
        if not ways:
            found = _outside(retriever.places(query, expected.passages), path)
        else:
            found = _way(min(ways, key=_furthest), result)
        return found.model_copy(update={"degraded": degraded})


def _dropping(retriever: Explaining, filters: SearchFilters, keys: set[ChunkKey]) -> str | None:
    """Return the names of the filters none of the passages meets, None when some passage meets all."""
    if filters.is_empty or keys.intersection(retriever.meeting(filters)):
        return None
    empty = SearchFilters()
    names = []
    for part in fields(SearchFilters):
        value = getattr(filters, part.name)
        if value != getattr(empty, part.name):
            alone = SearchFilters(**{part.name: value})
            if not keys.intersection(retriever.meeting(alone)):
                names.append(part.name)
    return ", ".join(names) or "together"


def _furthest(one: Candidate) -> tuple[int, int, int]:
    steps = {None: 0, "budget": 1, "top_k": 2, "threshold": 3}
    return steps[one.removed_by], one.rank or one.rerank_rank or one.fused_rank, one.fused_rank


def _outside(places: Sequence[Place], path: str) -> Why:
    """Say how far each channel would have had to go."""
    best = min((one for one in places if one.rank is not None), key=lambda one: one.rank or 0, default=None)
    if best is None:
        reason = "no channel finds it for this question: no word of it is asked for, and no vector of it is compared"
        return Why(step="no_channel", reason=reason, doc_path=path, channels=tuple(map(_place, places)))
    return Why(
        step="no_channel",
        reason=f"no channel gives it: in {best.channel} it is number {best.rank} of {best.of},"
        f" and the first {best.limit} go on",
        doc_path=path,
        chunk_id=best.chunk_id,
        rank=best.rank,
        score=best.score,
        needed_rank=best.limit,
        channels=tuple(map(_place, places)),
    )


def _way(way: Candidate, result: SearchResult) -> Why:
    """Say what became of a candidate."""
    settings, ways = result.query.settings, result.diagnostics.candidates
    rank, score = way.rank, way.fused_score if way.rerank_score is None else way.rerank_score
    needed_rank: int | None = None
    needed: float | None = None
    if way.removed_by == "threshold":
        needed, rank, score = settings.minimum_vector_similarity, way.fused_rank, way.scores.vector_similarity or 0.0
        step, reason = "threshold", f"its similarity of {score:.3f} is below the setting of {needed}"
    elif way.removed_by == "top_k":
        is_reranked = way.rerank_rank is not None
        step = "rerank" if is_reranked and way.fused_rank <= settings.top_k else "fusion"
        rank = way.rerank_rank or way.fused_rank
        last = max((one for one in ways if one.rank is not None), key=lambda one: one.rank or 0, default=None)
        needed = None if last is None else last.rerank_score if is_reranked else last.fused_score
        needed_rank = settings.top_k
        by = "reranking" if is_reranked else "fusion"
        reason = f"it is number {rank} after {by}, and the first {settings.top_k} are shown"
    elif way.removed_by == "budget":
        step = "budget"
        reason = f"it is shown as number {rank}, but the context of {settings.context_max_characters:,} is full before"
    else:
        step, reason = "found", f"it is there, as number {rank}"
    return Why(
        step=cast(Literal["threshold", "fusion", "rerank", "budget", "found"], step),
        reason=reason,
        doc_path=way.path,
        chunk_id=way.chunk_id,
        rank=rank,
        score=score,
        needed_rank=needed_rank,
        needed_score=needed,
        candidate=candidate_to_wire(way),
    )


def _place(place: Place) -> ChannelPlace:
    return ChannelPlace(
        channel=cast(Literal["lexical", "cjk", "vector"], place.channel),
        rank=place.rank,
        score=place.score,
        of=place.of,
        limit=place.limit,
    )
