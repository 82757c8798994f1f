"""Words that several commands share, and wrapping that knows wide letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.contract.chunks import SourceSpan
    from kb.contract.retrieval import DegradedChannel, Diagnostics

# What stays together on a line: one letter of a script without spaces, with the marks that may not begin a line, or a
# run of any others, or a gap.
_WIDE = r"\u2e80-\u30ff\u31c0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[{_WIDE}][、。，．：；！？）」』】》…]*|[^\s{_WIDE}]+|\s+")
_REASONS = {
    "no_embedding_model": "searching by keywords only: no embedding model",
    "query_embedding_failed": "searching by keywords only: the question could not be embedded",
    "index_incompatible": "searching by keywords only, the vector index is missing: run `kb index rebuild`",
    "partial_vectors": "some passages have no vectors yet: run `kb ingest`",
    "vector_engine_fallback": "the exact vector scan answered instead of Chroma",
    "lexical_unavailable": "searching by meaning only, the text index is missing: run `kb index rebuild`",
    "below_threshold": "hits below the similarity threshold were left out",
    "over_budget": "not every hit fits into the context",
}
# Their detail says nothing more.
_SAY_ALL = frozenset({"no_embedding_model", "index_incompatible", "lexical_unavailable", "over_budget"})


def degraded_lines(degraded: Iterable[DegradedChannel]) -> list[str]:
    """Return a line for each thing that did less than was asked."""
    lines = []
    for item in degraded:
        words = _REASONS.get(item.reason, item.reason)
        detail = f" ({item.detail})" if item.detail and item.reason not in _SAY_ALL else ""
        lines.append(f"degraded: {words}{detail}")
    return lines


def channel_names(diagnostics: Diagnostics) -> str:
    """Return the channels and the fusion in short, such as `bm25+cjk+vector/score`."""
    names = "+".join("bm25" if name == "lexical" else name for name in diagnostics.used_channels) or "no channel"
    fusion = diagnostics.fusion
    return names if fusion == "none" else f"{names}/{fusion}"


def place_label(uri: str) -> str:
    """Return a citation URI as people read it."""
    from kb.app.labels import citation_label

    return citation_label(uri)


def quoted(text: str, columns: int) -> str:
    """Return a quote on one line, cut to columns."""
    line = " ".join(text.split())
    if columns_of(line) > columns - 4:
        line = wrapped(line, columns - 5)[0] + "…"
    return f"「{line}」"


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


def wrapped(text: str, columns: int) -> list[str]:
    """Return the lines of a plain text wrapped to columns."""
    plain = spaced(text)
    return [plain[start:end] for start, end in line_ranges(plain, columns)]


def spaced(text: str) -> str:
    """Return a text with each line end or tab as a space: as long as before, so that places in it stay."""
    return re.sub(r"\s", " ", text)


def line_ranges(text: str, columns: int) -> list[tuple[int, int]]:
    """Return where each line of a wrapped text begins and ends: white space between lines belongs to none.

    Latin and Korean break between words, Chinese and Japanese between any letters; a longer word is cut.
    """
    ranges: list[tuple[int, int]] = []
    start = end = used = 0
    for at, to in _pieces(text, columns):
        size = columns_of(text[at:to])
        if text[at:to].isspace():
            used += size if used else 0
        elif used and used + size > columns:
            ranges.append((start, end))
            start, end, used = at, to, size
        else:
            start = start if used else at
            end, used = to, used + size
    return [*ranges, (start, end)] if end > start else ranges


def columns_of(text: str) -> int:
    """Return how many terminal columns a plain text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, columns: int) -> str:
    """Return a text filled with spaces up to `columns`, wide letters counted as two."""
    return text + " " * (columns - columns_of(text))


def _pieces(text: str, columns: int) -> Iterator[tuple[int, int]]:
    for found in _PIECE.finditer(text):
        longest = columns if found[0].isascii() else max(columns // 2, 1)
        for at in range(found.start(), found.end(), longest):
            yield at, min(at + longest, found.end())
