"""Context for a model: within the budget, best first, nothing twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.domain.embeddings import ChunkKey
from kb.retrieval.context import gather_context
from kb.retrieval.values import Hit
from tests.unit.retrieval.corpus import a_hit, a_stored


def gather(
    hits: list[Hit], budget: int = 10_000, adjacent: int = 0
) -> tuple[int, bool, list[tuple[tuple[int, ...], str]]]:
    everything = [a_stored(key, text, ordinal=key) for key, text in enumerate(["zero", "one", "two", "three"])]

    def neighbours(key: int, count: int) -> list[object]:
        return [s for s in everything if 0 < abs(s.key - key) <= count]

    context = gather_context(hits, budget=budget, adjacent=adjacent, neighbours=neighbours)  # type: ignore[arg-type]
    return context.character_count, context.truncated, [(g.numbers, g.text) for g in context.groups]


def test_hits_come_best_first_and_are_counted() -> None:
    assert gather([a_hit(1, 2, "two"), a_hit(2, 0, "zero")]) == (7, False, [((1,), "two"), ((2,), "zero")])


def test_neighbours_stand_around_a_hit_in_document_order() -> None:
    assert gather([a_hit(1, 2, "two")], adjacent=1)[2] == [((1,), "one\n\ntwo\n\nthree")]


def test_a_passage_is_never_in_the_context_twice() -> None:
    assert gather([a_hit(1, 2, "two"), a_hit(2, 3, "three")], adjacent=1)[2] == [((1, 2), "one\n\ntwo\n\nthree")]


def test_what_does_not_fit_is_cut_at_a_sentence_and_marked() -> None:
    count, truncated, groups = gather([a_hit(1, 0, "First one. Second one."), a_hit(2, 1, "never")], budget=12)
    assert (count, truncated) == (12, True) or groups[0] == ((1,), "First one.")
    assert groups[0] == ((1,), "First one.")


def test_a_later_hit_never_pushes_out_an_earlier_one() -> None:
    groups = gather([a_hit(1, 0, "a" * 50), a_hit(2, 2, "b" * 60)], budget=100)[2]
    assert groups[0] == ((1,), "a" * 50)
    assert groups[1] == ((2,), "b" * 50)


def test_passages_that_follow_each_other_are_joined_in_their_order() -> None:
    assert gather([a_hit(1, 2, "two"), a_hit(2, 1, "one"), a_hit(3, 0, "zero")])[2] == [
        ((1, 2, 3), "zero\n\none\n\ntwo")
    ]


def test_surroundings_never_take_the_room_of_a_hit() -> None:
    groups = gather([a_hit(1, 3, "three"), a_hit(2, 0, "zero")], budget=9, adjacent=1)[2]
    assert groups == [((1,), "three"), ((2,), "zero")]


def test_a_small_passage_is_shown_as_the_large_one_it_was_cut_from_once() -> None:
    parent = a_stored(9, "zero one two", ordinal=9)
    parents = {ChunkKey(0): parent, ChunkKey(1): parent}
    hits = [a_hit(1, 1, "one"), a_hit(2, 0, "zero")]
    context = gather_context(hits, budget=100, adjacent=1, neighbours=lambda key, count: [], parents=parents)
    assert [(g.numbers, g.text, g.truncated) for g in context.groups] == [((1, 2), "zero one two", False)]


def test_a_large_passage_without_room_leaves_the_small_one_and_that_is_marked() -> None:
    parents = {ChunkKey(1): a_stored(9, "x" * 500, ordinal=9)}
    hits = [a_hit(1, 1, "one")]
    context = gather_context(hits, budget=100, adjacent=0, neighbours=lambda key, count: [], parents=parents)
    assert [(g.text, g.truncated) for g in context.groups] == [("one", True)]
    assert context.truncated


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 60)), max_size=10, unique_by=lambda row: row[0]),
    st.integers(1, 200),
    st.integers(0, 2),
)
def test_the_budget_is_kept_and_a_worse_hit_is_never_there_instead_of_a_better_one(
    rows: list[tuple[int, int]], budget: int, adjacent: int
) -> None:
    hits = [a_hit(rank, key, chr(97 + key) * size) for rank, (key, size) in enumerate(rows, 1)]
    around = [a_stored(key, chr(65 + key) * 5, ordinal=key) for key in range(13)]
    found = {hit.stored.key: hit.stored for hit in hits}

    def neighbours(key: int, count: int) -> list[object]:
        return [found.get(s.key, s) for s in around if 0 < abs(s.key - key) <= count]

    context = gather_context(hits, budget=budget, adjacent=adjacent, neighbours=neighbours)  # type: ignore[arg-type]
    assert context.character_count == sum(len(group.text) for group in context.groups) <= budget
    numbers = sorted(number for group in context.groups for number in group.numbers)
    assert numbers == list(range(1, len(numbers) + 1))
    whole = [hit for hit in hits if any(hit.stored.chunk.text in group.text for group in context.groups)]
    assert [hit.rank for hit in whole] == list(range(1, len(whole) + 1))


def test_a_neighbour_beyond_a_passage_that_is_hidden_is_no_neighbour() -> None:
    beyond = a_stored(4, "four", ordinal=4)
    context = gather_context([a_hit(1, 2, "two")], budget=100, adjacent=1, neighbours=lambda _key, _count: [beyond])
    assert [(group.numbers, group.text) for group in context.groups] == [((1,), "two")]
