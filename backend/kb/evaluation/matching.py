"""Whether a passage is the one that was expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb.domain.citations import Citation
from kb.domain.errors import KebabError
from kb.domain.places import LinePlace, PagePlace, Place, RegionPlace, SheetPlace, TimePlace
from kb.evaluation.suites import Target

ENOUGH = 0.5
"""Share of the shorter of two places that both have to have in common."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit as a run keeps it; `uri` is the place of the whole passage."""

    rank: int
    chunk_id: str
    doc_id: str
    path: str
    uri: str
    relevance: float


def overlap(one: Place, other: Place) -> float:
    """Return what two places of one document have in common, 0 to 1 of the shorter one.

    The shorter, so that neither cutting smaller nor cutting larger makes every passage another one.
    """
    match one, other:
        case (LinePlace(a, b), LinePlace(c, d)) | (PagePlace(a, b), PagePlace(c, d)):
            return _common((a, b + 1), (c, d + 1))
        case TimePlace(), TimePlace():
            return _common((one.start_ms, one.end_ms), (other.start_ms, other.end_ms))
        case RegionPlace(), RegionPlace():
            return _area(one, other) if one.page == other.page else 0.0
        case (PagePlace() as pages, RegionPlace(page=int(page))) | (RegionPlace(page=int(page)), PagePlace() as pages):
            return float(pages.start <= page <= pages.end)
        case SheetPlace(), SheetPlace():
            return float(one.name == other.name)
        case _:
            return float(one == other)


def is_same_place(one: str, other: str) -> bool:
    """Return whether two citation URIs name one document and places that have at least half in common."""
    try:
        first, second = Citation.parse(one), Citation.parse(other)
    except KebabError:
        return one == other
    return first.path == second.path and overlap(first.place, second.place) >= ENOUGH


def answers(target: Target, found: Found, *, by_place: bool = False) -> bool:
    """Return whether a hit is what was expected.

    Args:
        target: what was expected.
        found: the hit.
        by_place: a chunk is looked for by its place, since chunks of its cut are not there; without a known place it
            cannot be found.
    """
    if target.level == "doc":
        return target.doc in {found.doc_id, found.path}
    if target.level == "chunk" and not by_place:
        return target.chunk_id == found.chunk_id
    return target.uri is not None and is_same_place(target.uri, found.uri)


def rank_of(target: Target, found: Sequence[Found], *, by_place: bool = False) -> int | None:
    """Return the rank of the first hit that is what was expected; of documents the rank among documents."""
    hits = documents_of(found) if target.level == "doc" else found
    return next((hit.rank for hit in hits if answers(target, hit, by_place=by_place)), None)


def documents_of(found: Sequence[Found]) -> tuple[Found, ...]:
    """Return the first hit of each document, with ranks among those."""
    first: dict[str, Found] = {}
    for hit in found:
        first.setdefault(hit.doc_id, hit)
    return tuple(replace(hit, rank=number) for number, hit in enumerate(first.values(), 1))


def _common(one: tuple[int, int], other: tuple[int, int]) -> float:
    shared = min(one[1], other[1]) - max(one[0], other[0])
    shorter = min(one[1] - one[0], other[1] - other[0])
    if shorter <= 0:
        return float(shared >= 0)
    return max(0.0, shared / shorter)


def _area(one: RegionPlace, other: RegionPlace) -> float:
    wide = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    high = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    smaller = min(one.w * one.h, other.w * other.h)
    return wide * high / smaller if wide > 0 and high > 0 and smaller > 0 else 0.0
