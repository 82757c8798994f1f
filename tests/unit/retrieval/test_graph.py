"""The graph channel over links that stand in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kb.domain.embeddings import ChunkKey
from kb.domain.links import LinkKind
from kb.domain.recipes import ItemId
from kb.retrieval.graph import LinkedPassages
from kb.retrieval.graph_ports import Neighbour, Passage
from kb.retrieval.ports import GraphReply


@dataclass
class FakeGraph:
    """Items are letters; the passages of the n-th letter are n * 10, n * 10 + 1, ..."""

    links: list[tuple[str, str, LinkKind, str]] = field(default_factory=list)
    headings: dict[int, tuple[str, ...]] = field(default_factory=dict)
    count: int = 4

    def items_of(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, ItemId]:
        return {key: ItemId(chr(ord("a") + key // 10)) for key in keys}

    def neighbours(self, items: Sequence[ItemId], most: int) -> Sequence[Neighbour]:
        found = []
        for item in items:
            own = [Neighbour(item, ItemId(b), kind, to) for a, b, kind, to in self.links if a == item]
            own += [Neighbour(item, ItemId(a), kind) for a, b, kind, _ in self.links if b == item]
            found += own[:most]
        return found

    def degrees(self, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
        return {item: sum(item in link[:2] for link in self.links) for item in items}

    def passages(self, item: ItemId, *, everything: bool) -> Sequence[Passage]:
        first = (ord(item) - ord("a")) * 10
        keys = [ChunkKey(first + n) for n in range(self.count if everything else min(3, self.count))]
        return [Passage(key, self.headings.get(key, ())) for key in keys]


def related(graph: FakeGraph, *seeds: int, limit: int = 10, allowed: Sequence[int] | None = None) -> GraphReply:
    among = None if allowed is None else [ChunkKey(key) for key in allowed]
    return LinkedPassages(graph).related([ChunkKey(key) for key in seeds], limit, among)


WIKI, TAG, MANUAL = LinkKind.WIKI, LinkKind.TAG, LinkKind.MANUAL


def test_without_links_there_are_no_candidates() -> None:
    assert related(FakeGraph(), 0) == GraphReply((), 0)


def test_the_first_passages_of_a_linked_item_are_candidates_each_worth_less_than_the_one_before() -> None:
    reply = related(FakeGraph([("a", "b", WIKI, "")]), 0)
    assert [key for key, _ in reply.candidates] == [10, 11, 12]
    scores = [score for _, score in reply.candidates]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert reply.links == 1


def test_a_link_is_followed_against_its_direction_too() -> None:
    assert [key for key, _ in related(FakeGraph([("a", "b", WIKI, "")]), 10).candidates] == [0, 1, 2]


def test_the_heading_that_a_link_names_goes_first() -> None:
    graph = FakeGraph([("a", "b", WIKI, "Fuel")], {13: ("Pad", "fuel")})
    assert related(graph, 0).candidates[0][0] == 13


def test_a_passage_that_was_found_goes_before_the_first_of_its_item() -> None:
    assert related(FakeGraph([("a", "b", WIKI, "")], count=2), 0, 11).candidates[0][0] == 11


def test_what_a_person_wrote_says_more_than_a_shared_tag() -> None:
    reply = related(FakeGraph([("a", "b", TAG, ""), ("a", "c", MANUAL, "")], count=1), 0)
    assert [key for key, _ in reply.candidates] == [20, 10]


def test_a_page_that_links_to_everything_says_little_about_each() -> None:
    few = related(FakeGraph([("a", "b", WIKI, "")], count=1), 0).candidates[0][1]
    many = related(FakeGraph([("a", chr(ord("b") + n), WIKI, "") for n in range(20)], count=1), 0).candidates[0][1]
    assert many < few / 3


def test_only_what_is_allowed_is_a_candidate_and_no_more_than_asked_for() -> None:
    graph = FakeGraph([("a", "b", WIKI, ""), ("a", "c", WIKI, "")])
    assert [key for key, _ in related(graph, 0, allowed=[13, 20]).candidates] == [13, 20]
    assert len(related(graph, 0, limit=2).candidates) == 2


def test_the_order_is_the_same_every_time() -> None:
    graph = FakeGraph([("a", name, WIKI, "") for name in "fedcb"])
    assert {related(graph, 0).candidates for _ in range(20)} == {related(graph, 0).candidates}
    keys = [key for key, _ in related(graph, 0).candidates]
    assert keys[:5] == sorted(keys[:5])
