from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.ocr.lines import ReadLine, edges_between


def test_words_are_runs_without_spaces_and_single_chinese_characters() -> None:
    line = ReadLine("ab 中文 한국", tuple(n / 8 for n in range(9)), 1.0)
    assert [(line.text[start:end], left, right) for start, end, left, right in line.words()] == [
        ("ab", 0.0, 0.25),
        ("中", 0.375, 0.5),
        ("文", 0.5, 0.625),
        ("한국", 0.75, 1.0),
    ]


def test_edges_are_halfway_between_centres() -> None:
    assert edges_between([0.1, 0.3, 0.7]) == pytest.approx((0.0, 0.2, 0.5, 0.9))
    assert edges_between([0.4]) == (0.0, 1.0)


@given(st.lists(st.floats(0, 1), max_size=20).map(sorted))
def test_edges_rise_within_the_line(centres: list[float]) -> None:
    edges = edges_between(centres)
    assert len(edges) == len(centres) + 1
    assert list(edges) == sorted(edges)
    assert all(0 <= edge <= 1 for edge in edges)


@pytest.mark.parametrize(
    ("text", "goes_on"), [("and so", True), ("The end.", False), ("끝났다.”", False), ("句号。", False), ("", False)]
)
def test_a_line_goes_on_unless_its_sentence_ends(text: str, goes_on: bool) -> None:
    assert ReadLine(text, tuple([0.0] * (len(text) + 1)), 1.0).goes_on is goes_on
