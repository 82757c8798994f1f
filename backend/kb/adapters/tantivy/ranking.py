"""The best hits of a query, as keys, in an order that depends on nothing but the texts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import tantivy

from kb.domain.embeddings import ChunkKey

Ranked = list[tuple[float, ChunkKey]]

_TIES = 32
_DIGITS = 4
_WIDENING = 8
_BROAD = 20
"""Where more than every twentieth chunk is allowed, hits that are not are left out: having Tantivy look for that many
keys takes longer. Tried twice, for the words of a question may keep to what is not allowed."""
_ATTEMPTS = 2


def ranked(searcher: Any, query: Any, limit: int) -> Ranked:  # noqa: ANN401 - untyped library
    """Return the best `limit` as (score, key); all that tie with the last are looked at before cutting."""
    wanted = limit + _TIES
    while True:
        hits = searcher.search(query, wanted, count=False).hits
        if len(hits) < wanted or round(hits[-1][0], _DIGITS) < round(hits[limit - 1][0], _DIGITS):
            return _in_order(_keyed(searcher, hits))[:limit]
        wanted *= _WIDENING


def ranked_among(searcher: Any, schema: Any, query: Any, limit: int, allowed: Sequence[ChunkKey]) -> Ranked:  # noqa: ANN401
    """Return the same among `allowed` (rising keys) only."""
    if not allowed:
        return []
    total = max(searcher.num_docs, 1)
    wanted = int((limit + _TIES) * max(1.0, total / len(allowed)) * 2)
    for _ in range(_ATTEMPTS if len(allowed) * _BROAD > total else 0):
        hits = searcher.search(query, wanted, count=False).hits
        kept = _in_order([row for row in _keyed(searcher, hits) if _holds(allowed, row[1])])
        is_all = len(hits) < wanted
        if is_all or (len(kept) >= limit and round(hits[-1][0], _DIGITS) < kept[limit - 1][0]):
            return kept[:limit]
        wanted *= _WIDENING
    return ranked(searcher, among(query, allowed, schema), limit)


def among(query: Any, keys: Sequence[ChunkKey], schema: Any) -> Any:  # noqa: ANN401
    """Return `query` among some chunks only; scores stay the same."""
    must = tantivy.Occur.Must
    return tantivy.Query.boolean_query(
        [(must, query), (must, tantivy.Query.const_score_query(_keys(keys, schema), 0.0))]
    )


def every_key(searcher: Any, query: Any) -> list[ChunkKey]:  # noqa: ANN401
    """Return the key of everything that meets `query`, in no order; one held twice comes twice."""
    hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
    return [key for _, key in _keyed(searcher, hits)]


def places(found: Ranked) -> dict[ChunkKey, tuple[int, float]]:
    """Return rank (from 1) and score of each key."""
    return {key: (rank, score) for rank, (score, key) in enumerate(found, start=1)}


def _keys(keys: Sequence[ChunkKey], schema: Any) -> Any:  # noqa: ANN401
    """Match any of the keys; a term set query takes ten times as long for a few, far less for many."""
    if len(keys) > _TIES * 2:
        return tantivy.Query.term_set_query(schema, "key", list(keys))
    exact = (tantivy.Query.term_query(schema, "key", key, "basic") for key in keys)
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in exact])


def _keyed(searcher: Any, hits: Sequence[tuple[float, Any]]) -> Ranked:  # noqa: ANN401
    keys = searcher.fast_field_values("key", [address for _, address in hits])
    return [(round(score, _DIGITS), ChunkKey(key)) for (score, _), key in zip(hits, keys, strict=True)]


def _in_order(rows: Ranked) -> Ranked:
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def _holds(rising: Sequence[ChunkKey], key: ChunkKey) -> bool:
    place = bisect_left(rising, key)
    return place < len(rising) and rising[place] == key
