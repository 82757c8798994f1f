"""Context for a model: within the budget, best first, nothing twice."""

from __future__ import annotations

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
