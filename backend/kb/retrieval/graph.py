"""The graph channel: from the items of the best passages one step along their links, to passages of linked items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kb.domain.embeddings import ChunkKey
from kb.domain.links import WEIGHTS, folded
from kb.domain.recipes import ItemId
from kb.retrieval.graph_ports import LinkGraph, Neighbour
from kb.retrieval.ports import GraphReply

_SEEDS = 10
_LINKS_A_SEED = 50
_CHUNKS_AN_ITEM = 3
_LATER = 0.7
"""What the next passage of a linked item has of the one before: an answer need not stand in its first one."""


class LinkedPassages:
    """A `GraphSearch` over the links of a library.

    A link counts its kind's weight times the seed's rank weight, divided by the root of the product of both degrees
    (the symmetric normalisation of graphs: a page that links to everything says little about each). Several links to
    one item add up as chances do, so that scores stay below 1.
    """

    def __init__(self, graph: LinkGraph) -> None:
        self._graph = graph

    def related(self, seeds: Sequence[ChunkKey], limit: int, allowed: Sequence[ChunkKey] | None) -> GraphReply:
        """Return chunks of linked items, best first, among `allowed` (rising keys) if given; none without links.

        Args:
            seeds: the best candidates of the other channels, best first; those of the first ten items count.
            limit: how many at most.
            allowed: which chunks count.
        """
        ranks = self._ranks(seeds)
        links = self._graph.neighbours(list(ranks), _LINKS_A_SEED)
        if not links or limit < 1:
            return GraphReply((), 0)
        scores = self._scores(ranks, links)
        wanted: dict[ItemId, list[str]] = {}
        for link in links:
            wanted.setdefault(link.item, []).append(link.fragment)
        among = None if allowed is None else frozenset(allowed)
        known = frozenset(seeds)
        found: dict[ChunkKey, float] = {}
        for item in sorted(scores, key=lambda item: (-scores[item], item))[:limit]:
            score = scores[item]
            for key in self._chosen(item, {folded(f) for f in wanted[item] if f}, among, known):
                found[key] = max(found.get(key, 0.0), score)
                score *= _LATER
        best = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit]
        return GraphReply(tuple(best), len(links))

    def _ranks(self, seeds: Sequence[ChunkKey]) -> dict[ItemId, int]:
        """Return the first items of the seeds with their ranks, from 1."""
        items = self._graph.items_of(list(seeds))
        ranks: dict[ItemId, int] = {}
        for key in seeds:
            item = items.get(key)
            if item is not None and item not in ranks and len(ranks) < _SEEDS:
                ranks[item] = len(ranks) + 1
        return ranks

    def _scores(self, ranks: Mapping[ItemId, int], links: Sequence[Neighbour]) -> dict[ItemId, float]:
        degrees = self._graph.degrees(sorted({*ranks, *(link.item for link in links)}))
        missing: dict[ItemId, float] = {}
        for link in links:
            degree = max(1, degrees.get(link.seed, 1)) * max(1, degrees.get(link.item, 1))
            rank_weight = 1 / (1 + math.log2(ranks[link.seed]))
            chance = WEIGHTS[link.kind] * rank_weight / math.sqrt(degree)
            missing[link.item] = missing.get(link.item, 1.0) * (1 - min(chance, 0.999))
        return {item: round(1 - rest, 9) for item, rest in missing.items()}

    def _chosen(
        self, item: ItemId, fragments: set[str], allowed: frozenset[ChunkKey] | None, known: frozenset[ChunkKey]
    ) -> list[ChunkKey]:
        """Return passages of an item: those under a heading that links name, those found already, then the first."""
        passages = self._graph.passages(item, everything=bool(fragments) or allowed is not None)
        seen = [passage for passage in passages if allowed is None or passage.key in allowed]
        named = [p.key for p in seen if fragments and fragments & {folded(name) for name in p.heading_path}]
        found = [p.key for p in seen if p.key in known]
        return list(dict.fromkeys([*named, *found, *(p.key for p in seen)]))[:_CHUNKS_AN_ITEM]
