"""What counts as the expected passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.places import LinePlace
from kb.evaluation.matching import answers, is_same_place, overlap, rank_of
from kb.evaluation.suites import GoldenQuery, Suite, Target
from tests.unit.evaluation.made import hit


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a.md#L1-L10", "a.md#L6-L20", True),
        ("a.md#L1-L10", "a.md#L7-L20", False),
        ("a.md#L1-L100", "a.md#L40-L42", True),
        ("a.md#L1-L10", "b.md#L1-L10", False),
        ("a.pdf#page=3", "a.pdf#page=3-4", True),
        ("a.pdf#page=3", "a.pdf#page=4", False),
        ("a.pdf#page=3", "a.pdf#page=3&xywh=percent:0,0,50,50", True),
        ("a.pdf#page=4&xywh=percent:0,0,50,50", "a.pdf#page=3", False),
        ("a.png#xywh=0,0,100,100", "a.png#xywh=50,0,100,100", True),
        ("a.png#xywh=0,0,100,100", "a.png#xywh=60,0,100,100", False),
        ("a.m4a#t=0,10", "a.m4a#t=5,20", True),
        ("a.m4a#t=0,10", "a.m4a#t=6,20", False),
        ("a.xlsx#sheet=One!A1:B2", "a.xlsx#sheet=One", True),
        ("a.xlsx#sheet=One", "a.xlsx#sheet=Two", False),
        ("a.pptx#slide=2", "a.pptx#slide=2", True),
        ("a.pptx#slide=2", "a.pptx#slide=3", False),
    ],
)
def test_half_of_the_shorter_place_in_common_is_the_same_place(one: str, other: str, same: bool) -> None:
    assert is_same_place(one, other) is same
    assert is_same_place(other, one) is same


@given(st.integers(1, 50), st.integers(0, 30), st.integers(1, 50), st.integers(0, 30))
def test_the_overlap_of_lines_is_what_counting_gives(a: int, more_a: int, b: int, more_b: int) -> None:
    one, other = set(range(a, a + more_a + 1)), set(range(b, b + more_b + 1))
    found = overlap(LinePlace(a, a + more_a), LinePlace(b, b + more_b))
    assert found == pytest.approx(len(one & other) / min(len(one), len(other)))


def test_a_chunk_is_found_by_its_id_and_across_cuts_by_its_place() -> None:
    target = Target("chunk", chunk_id="old", uri="a.md#L1-L4")
    recut = hit(1, "new", "a.md#L3-L9")
    assert not answers(target, recut)
    assert answers(target, recut, by_place=True)
    assert not answers(Target("chunk", chunk_id="old"), recut, by_place=True)


def test_the_rank_of_a_document_is_among_documents() -> None:
    found = (hit(1, "a1", doc="a"), hit(2, "a2", doc="a"), hit(3, "b1", doc="b"))
    assert rank_of(Target("doc", doc="b"), found) == 2
    assert rank_of(Target("chunk", chunk_id="b1"), found) == 3
    assert rank_of(Target("doc", doc="c"), found) is None


def test_the_most_precise_level_given_counts() -> None:
    golden = GoldenQuery("q", "?", expected_docs=("a.md",), expected_spans=("a.md#L1",), expected_chunk_ids=("c",))
    assert golden.targets == (Target("chunk", chunk_id="c", uri="a.md#L1"),)
    assert GoldenQuery("q", "?").should_refuse


def test_the_hash_of_a_suite_follows_what_is_asked_and_expected() -> None:
    one = GoldenQuery("q", "?", expected_docs=("a.md",))
    assert Suite("x", (one,)).hash() == Suite("y", (one,), "said").hash()
    assert Suite("x", (one,)).hash() != Suite("x", (GoldenQuery("q", "?", expected_docs=("b.md",)),)).hash()
