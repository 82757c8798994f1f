"""Names, rules and settings of collections."""

from __future__ import annotations

from typing import Any

import pytest

from kb.domain.collection_settings import checked_chunking, checked_retrieval
from kb.domain.collections import CollectionRule, RuleKind, checked_name, name_key
from kb.domain.errors import InvalidInput


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "\x00", "\ud800"])
def test_what_cannot_be_shown_as_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        checked_name(name)


def test_a_name_of_200_letters_is_one() -> None:
    assert checked_name(f" {'가' * 200} ") == "가" * 200


@pytest.mark.parametrize(("one", "other"), [("Tax", "tAX"), ("Ａ１", "a1"), ("Straße", "STRASSE"), ("가", "가")])
def test_names_that_read_the_same_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize("value", ["", " ", "x" * 1_001, "a\nb"])
def test_a_rule_without_a_usable_value_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput):
        CollectionRule(RuleKind.TAG, value)


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "moon"},
        {"target_characters": 399},
        {"target_characters": 8_001},
        {"target_characters": 800, "overlap_characters": 321},
        {"parent_characters": 1_599},
        {"child_characters": 4_001},
        {"child_characters": True},
        {"target_characters": "800"},
        {"colour": 1},
    ],
)
def test_chunking_out_of_range_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        checked_chunking(given)


def test_chunking_settings_that_are_not_given_have_their_defaults() -> None:
    assert checked_chunking({"mode": "fixed", "target_characters": 400}) == {
        "mode": "fixed",
        "target_characters": 400,
        "overlap_characters": 160,
        "parent_characters": 4_800,
        "child_characters": 900,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"top_k": 0},
        {"top_k": 21},
        {"top_k": 1.5},
        {"minimum_vector_similarity": 1.01},
        {"fts_weight": 2.1},
        {"vector_weight": -0.1},
        {"candidate_multiplier": 1},
        {"context_max_characters": 1_999},
        {"adjacent_chunk_count": 3},
        {"rerank": "on"},
        {"fusion": None},
        {"fts_weight": 0, "vector_weight": 0},
        {"fts_weight": float("nan")},
    ],
)
def test_retrieval_settings_out_of_range_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        checked_retrieval(given)
