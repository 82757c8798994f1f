"""Words that several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kb.cli.output import counted

if TYPE_CHECKING:
    from kb.contract.chunks import SourceSpan
    from kb.contract.retrieval import DegradedChannel, Diagnostics

_REASONS = {
    "no_embedding_model": "searching by keywords only: no embedding model",
    "query_embedding_failed": "searching by keywords only: the question could not be embedded",
    "index_incompatible": "searching by keywords only, the vector index is missing: run `kb index rebuild`",
    "partial_vectors": "some passages have no vectors yet: run `kb ingest`",
    "vector_engine_fallback": "the exact vector scan answered instead of Chroma",
    "lexical_unavailable": "searching by meaning only, the text index is missing: run `kb index rebuild`",
    "below_threshold": "hits below the similarity threshold were left out",
    "empty_scope": "nothing to search in",
    "over_budget": "not every hit fits into the context",
    "rough_relevance": "order and relevance are rougher than usual: run `kb index rebuild`",
    "graph_off": "links between documents are not followed: graph.enabled is off",
    "graph_no_evidence": "no linked document had anything to add",
    "rerank_failed": "the order is that of the search itself: ordering again failed",
    "embedding_endpoint_unreachable": "searching by keywords only: the server that embeds questions does not answer",
}
_ANSWER_REASONS = {
    "model_unavailable": "the language model could not be used: these are sentences of the sources",
    "model_failed": "the language model failed in the middle: these are sentences of the sources",
    "question_too_long": "the question does not fit into the model's window: these are sentences of the sources",
    "evidence_dropped": "not every passage fitted into the model's window",
    "evidence_cut": "a passage was cut to fit into the model's window",
    "repetition_cut": "the model began to repeat itself and was stopped",
}
_WITHDRAWN = {
    "model_failed": "the language model failed",
    "citation_check": "it cited none of the passages found",
    "llm_self_judge": "the passages found do not answer it",
}
# Their detail says nothing more.
_SAY_ALL = frozenset({"no_embedding_model", "index_incompatible", "lexical_unavailable", "over_budget", "graph_off"})


def degraded_lines(degraded: Iterable[DegradedChannel]) -> list[str]:
    """Return a line for each thing that did less than was asked."""
    lines = []
    for item in degraded:
        words = _REASONS.get(item.reason, item.reason)
        detail = f" ({item.detail})" if item.detail and item.reason not in _SAY_ALL else ""
        lines.append(f"degraded: {words}{detail}")
    return lines


def answer_lines(reasons: Iterable[str]) -> list[str]:
    """Return a line for each thing that went less well while an answer was written."""
    return [f"degraded: {_ANSWER_REASONS[reason]}" for reason in reasons if reason in _ANSWER_REASONS]


def withdrawal(reason: str) -> str:
    """Return why text that was shown counts no longer."""
    return _WITHDRAWN.get(reason, reason)


def channel_names(diagnostics: Diagnostics) -> str:
    """Return the channels and the fusion in short, such as `bm25+cjk+vector/score`."""
    names = "+".join("bm25" if name == "lexical" else name for name in diagnostics.used_channels) or "no channel"
    fusion = diagnostics.fusion
    return names if fusion == "none" else f"{names}/{fusion}"


def place_label(uri: str) -> str:
    """Return a citation URI as people read it."""
    from kb.app.labels import citation_label

    return citation_label(uri)


def places_label(spans: Sequence[SourceSpan]) -> str:
    """Return the places of a passage, such as `L5-L12`, `pages 3-4`, `0:10-0:12` or `sheet Load A1:B3`."""
    kinds = list(dict.fromkeys(span.kind for span in spans))
    return ", ".join(_places(kind, [span for span in spans if span.kind == kind]) for kind in kinds)


def _places(kind: str, spans: Sequence[SourceSpan]) -> str:
    first = spans[0]
    if kind == "line":
        return lines_label(spans)
    if kind == "page":
        pages = [span.page or 0 for span in spans]
        return f"page {min(pages)}" if min(pages) == max(pages) else f"pages {min(pages)}-{max(pages)}"
    if kind == "time":
        ends = max(span.end_ms or 0 for span in spans)
        return f"{_clock(min(span.start_ms or 0 for span in spans))}-{_clock(ends)}"
    if kind == "part":
        return " ".join(str(word) for word in (first.part, first.name or first.number, first.cells) if word)
    return f"caption by {first.model}" if kind == "caption" else counted(len(spans), kind)


def _clock(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes}:{seconds:02}"


def lines_label(spans: Iterable[SourceSpan]) -> str:
    """Return the lines of spans, neighbours joined over blank lines: `L5-L12, L20`."""
    joined: list[list[int]] = []
    for start, end in sorted((s.start, s.end) for s in spans if s.start is not None and s.end is not None):
        # one blank line between two blocks is no gap to a reader
        if joined and start <= joined[-1][1] + 2:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return ", ".join(f"L{start}" if start == end else f"L{start}-L{end}" for start, end in joined)
