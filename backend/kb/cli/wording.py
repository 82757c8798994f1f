"""Words that several commands share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.contract.retrieval import DegradedChannel, Diagnostics

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_REASONS = {
    "no_embedding_model": "searching by keywords only: no embedding model",
    "query_embedding_failed": "searching by keywords only: the question could not be embedded",
    "index_incompatible": "the vector index cannot be read: run `kb index rebuild`",
    "partial_vectors": "some passages have no vectors yet: run `kb ingest`",
    "vector_engine_fallback": "the exact vector scan answered instead of Chroma",
    "lexical_unavailable": "searching by meaning only, the text index is missing: run `kb index rebuild`",
    "below_threshold": "hits below the similarity threshold were left out",
    "over_budget": "not every hit fits into the context",
}


def degraded_lines(degraded: Iterable[DegradedChannel]) -> list[str]:
    """Return a line for each thing that did less than was asked."""
    lines = []
    for item in degraded:
        words = _REASONS.get(item.reason, item.reason)
        detail = f" ({item.detail})" if item.detail and item.detail not in words else ""
        lines.append(f"degraded: {words}{detail}")
    return lines


def channel_names(diagnostics: Diagnostics) -> str:
    """Return the channels and the fusion in short, such as `bm25+cjk+vector/score`."""
    short = {"lexical": "bm25", "cjk": "cjk", "vector": "vector"}
    names = "+".join(short.get(name, name) for name in diagnostics.used_channels) or "no channel"
    fusion = diagnostics.fusion
    return names if fusion == "none" else f"{names}/{fusion}"


def wrapped(text: str, columns: int) -> list[str]:
    """Wrap a text to columns; wide letters take two, and CJK may break between any two letters."""
    lines: list[str] = []
    line, used = "", 0
    for word in re.findall(r"\x1b\[[0-9;]*m|\s+|[^\s\x1b]+", text):
        for piece in _pieces(word, columns):
            size = columns_of(piece)
            if used + size > columns and not piece.isspace():
                lines.append(line.rstrip())
                line, used = "", 0
            if piece.isspace() and not used:
                continue
            line += piece
            used += size
    return [*lines, line.rstrip()] if line.strip() else lines


def columns_of(text: str) -> int:
    """Return how many terminal columns a text takes."""
    plain = _STYLE.sub("", text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in plain)


def _pieces(word: str, columns: int) -> list[str]:
    if _STYLE.fullmatch(word) or (word.isascii() and len(word) <= columns):
        return [word]
    return (
        re.findall(r"[\u0021-\u2e7f]+|.", word)
        if not word.isascii()
        else [word[i : i + columns] for i in range(0, len(word), columns)]
    )
