"""The words of a question and where they stand."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.retrieval.terms import matches, terms_of


def found(question: str, text: str) -> list[str]:
    return [text[m.start : m.end] for m in matches(terms_of(question), text)]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("학교", "학교에서는 회의를 한다", ["학교"]),
        ("悬空引用", "清零后50条悬空引用", ["悬空", "空引", "引用"]),
        ("abc123", "the ＡＢＣ１２３ part", ["ＡＢＣ１２３"]),
        ("configuration", "Configured and configurations", ["Configured", "configurations"]),
        ("go", "going gone go", ["go"]),
        ("海", "大海", ["海"]),
        ("café", unicodedata.normalize("NFD", "le Café noir"), [unicodedata.normalize("NFD", "Café")]),
        ("회의", unicodedata.normalize("NFD", "주간 회의록"), [unicodedata.normalize("NFD", "회의")]),
        ("nothing here", "quite other words", []),
    ],
)
def test_a_question_finds_its_words_in_a_text(question: str, text: str, expected: list[str]) -> None:
    assert found(question, text) == expected


@given(st.text(max_size=60), st.text(max_size=200))
def test_matches_are_in_order_and_inside_the_text(question: str, text: str) -> None:
    previous = 0
    for match in matches(terms_of(question), text):
        assert 0 <= match.start < match.end <= len(text)
        assert match.start >= previous
        previous = match.start


@given(st.text(min_size=1, max_size=60))
def test_a_text_with_terms_matches_itself(text: str) -> None:
    terms = terms_of(text)
    assert bool(terms.count) == bool(list(matches(terms, text)))
