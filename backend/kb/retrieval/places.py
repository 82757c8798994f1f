"""Where chosen passages stand in each channel when nothing limits how many a channel gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kb.domain.embeddings import ChunkKey
from kb.retrieval.candidates import Ask, Channels
from kb.retrieval.results import ChannelPlace

_Row = tuple[ChunkKey, int, float | None]


def places_of(channels: Channels, ask: Ask, chosen: Mapping[ChunkKey, str]) -> tuple[ChannelPlace, ...]:
    """Return, for each channel that is asked, where the best of the chosen passages stands.

    Args:
        channels: those of the library.
        ask: the question.
        chosen: the ids of passages by their keys.

    Raises:
        Cancelled: nobody waits for it any more.
    """
    text, vector = channels.everything(ask)
    limit = ask.query.settings.top_k * ask.query.settings.candidate_multiplier
    found: list[ChannelPlace] = []
    if text is not None and text.lexical_terms:
        rows = ((c.key, c.lexical_rank, c.lexical_score) for c in text.candidates if c.lexical_rank is not None)
        found.append(_place("lexical", rows, chosen, limit))
    if text is not None and text.cjk_terms:
        rows = ((c.key, c.cjk_rank, c.cjk_score) for c in text.candidates if c.cjk_rank is not None)
        found.append(_place("cjk", rows, chosen, limit))
    if vector is not None and vector.engine is not None:
        near = vector.reply.candidates
        found.append(_place("vector", ((key, rank, cos) for rank, (key, cos) in enumerate(near, 1)), chosen, limit))
    return tuple(found)


def _place(name: str, rows: Iterable[_Row], chosen: Mapping[ChunkKey, str], limit: int) -> ChannelPlace:
    count, best = 0, None
    for key, rank, score in rows:
        count += 1
        if key in chosen and (best is None or rank < best[1]):
            best = key, rank, score
    if best is None:
        return ChannelPlace(name, None, None, count, limit)
    return ChannelPlace(name, best[1], best[2], count, limit, chosen[best[0]])
