"""What `kb search --explain` and `--why` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.cli.layout import padded
from kb.cli.output import Output

if TYPE_CHECKING:
    from kb.contract.retrieval import Candidate, RetrievalResponse
    from kb.contract.why import Why

_MOST = 10
_REMOVED = {"threshold": "below the threshold", "top_k": "not among the first", "budget": "no room in the context"}


def print_steps(out: Output, response: RetrievalResponse) -> None:
    """Print how many candidates each step left, and the first of those that are not shown."""
    found = response.diagnostics
    counts = "  ".join(f"{name} {count}" for name, count in found.candidate_counts.items())
    if counts:
        out.line(f"candidates  {counts}")
    steps = "  ".join(f"{one.name} {one.before}→{one.after}" for one in found.stages)
    if steps:
        out.line(f"steps  {steps}")
    if found.rerank:
        out.line(f"reranked by {found.rerank}")
    left = [one for one in found.candidates or () if one.rank is None]
    for one in left[:_MOST]:
        out.line(f"  {padded(f'{one.fused_rank}.', 4)}{one.fused_score:.3f}  {one.doc_path}  {_way(one)}")
    if len(left) > _MOST:
        out.line(f"  and {len(left) - _MOST} more")


def print_why(out: Output, found: Why, expected: str) -> None:
    """Print the step that dropped what was expected, with ranks and scores."""
    out.line(f"{found.doc_path or expected}: {found.reason}")
    if found.score is not None and found.needed_score is not None:
        out.line(f"  score {found.score:.4f}, needed {found.needed_score:.4f}")
    for place in found.channels:
        where = f"number {place.rank}" if place.rank is not None else "not found"
        score = f", score {place.score:.3f}" if place.score is not None else ""
        out.line(f"  {padded(place.channel, 9)}{where} of {place.of}{score}; the first {place.limit} go on")
    if found.candidate is not None:
        out.line(f"  {_channels(found.candidate)}")
        out.line(f"  fused: number {found.candidate.fused_rank}, score {found.candidate.fused_score:.4f}")
        if found.candidate.rerank_rank is not None:
            out.line(f"  reranked: number {found.candidate.rerank_rank}, score {found.candidate.rerank_score:.4f}")
    if found.chunk_id:
        out.line(f"  chunk_id {found.chunk_id}")


def print_features(out: Output, features: dict[str, float] | None, before: int | None) -> None:
    """Print what reranking went by for one hit."""
    if before is None:
        return
    told = "  ".join(f"{name} {value:.2f}" for name, value in sorted((features or {}).items()))
    out.line(f"   number {before} before reranking   {told}".rstrip())


def _way(one: Candidate) -> str:
    return f"{_channels(one)}; {_REMOVED.get(one.removed_by or '', one.removed_by or '')}"


def _channels(one: Candidate) -> str:
    ranks = (
        ("lexical", one.lexical_rank),
        ("cjk", one.cjk_rank),
        ("vector", one.vector_rank),
        ("graph", one.graph_rank),
    )
    return ", ".join(f"{name} {rank}" for name, rank in ranks if rank is not None) or "no channel"
