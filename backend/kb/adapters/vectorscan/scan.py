"""Comparing a query with rows: coarse int8 dot products page by page, then exact cosines of the best."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

PAGE = 65_536
"""Rows compared at a time: bounds the memory of a search whatever the size of the index."""

_Scores = NDArray[np.float32]


class Best(NamedTuple):
    """The best rows so far: their numbers and scores, in no order."""

    rows: NDArray[np.int64]
    scores: _Scores


def empty() -> Best:
    """Return no rows."""
    return Best(np.empty(0, np.int64), np.empty(0, np.float32))


def coarse_dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> _Scores:
    """Return the exact integer dot product of `query` with each of `rows`, as floats."""
    products = _numkong_dots(query, rows) if _NUMKONG is not None else None
    if products is None:
        # Products of int8 sum exactly in float32 below 1,040 dimensions, and beyond that to 24 bits.
        return np.asarray(rows.astype(np.float32) @ query.astype(np.float32), np.float32)
    return products


def coarse_query(query: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return the query as int8; its scale changes no order."""
    top = float(np.abs(query).max()) or 1.0
    return np.asarray(np.rint(query * (127 / top)), np.int8)


def keep_best(best: Best, page: Best, keys: NDArray[np.uint64], wanted: int) -> Best:
    """Return the `wanted` best of both, lower keys first among equals; `keys` are by row number."""
    if len(best.rows) >= wanted:
        good = np.flatnonzero(page.scores >= best.scores.min())
        page = Best(page.rows[good], page.scores[good])
    rows = np.concatenate((best.rows, page.rows))
    scores = np.concatenate((best.scores, page.scores))
    if len(rows) <= wanted:
        return Best(rows, scores)
    edge = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
    above = np.flatnonzero(scores > edge)
    equal = np.flatnonzero(scores == edge)
    equal = equal[np.argsort(keys[rows[equal]], kind="stable")][: wanted - len(above)]
    kept = np.concatenate((above, equal))
    return Best(rows[kept], scores[kept])


def cosines(query: NDArray[np.float32], fine: NDArray[np.float16]) -> NDArray[np.float64]:
    """Return the cosine of `query` (of length one) with each row; rounded, so that equal texts tie."""
    return dots(query, directions(fine))


def directions(fine: NDArray[np.float16]) -> NDArray[np.float64]:
    """Return rows made of length one."""
    exact = fine.astype(np.float64)
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", exact, exact)), 1e-12)
    return np.asarray(exact / lengths[:, np.newaxis], np.float64)


def dots(query: NDArray[np.float32], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the dot product of `query` with each row; rounded, so that equal texts tie."""
    # One row at a time through the same kernel: a matrix product may differ in the last bit with the row count.
    return np.asarray(np.round(np.einsum("ij,j->i", rows, query.astype(np.float64)), 9), np.float64)


def _load_numkong() -> Callable[..., object] | None:
    try:
        from numkong import cdist
    except ImportError:
        return None
    return cast(Callable[..., object], cdist)


_NUMKONG = _load_numkong()


def _numkong_dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> _Scores | None:
    if _NUMKONG is None or not len(rows):
        return None
    return np.asarray(_NUMKONG(query[None], rows, "dot"), np.float32).reshape(-1)
