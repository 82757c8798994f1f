"""What is marked of words on pages: whole words, and of scripts without spaces only the letters asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.pages import PageText, Rect, Word, WordBoxes, line_rects, range_rects


def page(text: str, *words: Word) -> PageText:
    return PageText(1, 1000, 1000, "text", text, WordBoxes(words))


def rounded(rects: list[Rect]) -> list[tuple[float, ...]]:
    return [tuple(round(number, 3) for number in rect) for rect in rects]


LINE = page("云栖水库建于山中", Word(0, 8, 10_000, 20_000, 90_000, 22_000, 0))


def test_of_a_line_without_spaces_only_the_letters_asked_for_are_marked() -> None:
    assert rounded(line_rects(LINE, 2, 4)) == [(0.3, 0.2, 0.2, 0.02)]
    assert rounded(line_rects(LINE, 0, 8)) == [(0.1, 0.2, 0.8, 0.02)]
    assert rounded(range_rects(LINE, [(0, 1), (7, 8)])) == [(0.1, 0.2, 0.8, 0.02)]


def test_letters_of_half_the_width_count_half() -> None:
    mixed = page("A1水库B2", Word(0, 6, 0, 0, 80_000, 2_000, 0))
    assert rounded(line_rects(mixed, 2, 4)) == [(0.2, 0.0, 0.4, 0.02)]


@pytest.mark.parametrize("text", ["harbour", "Überfahrt", "سفينة"])
def test_words_between_spaces_are_marked_whole(text: str) -> None:
    one = page(text, Word(0, len(text), 10_000, 0, 90_000, 2_000, 0))
    assert rounded(line_rects(one, 1, 3)) == [(0.1, 0.0, 0.8, 0.02)]


def test_a_run_that_stands_upright_is_marked_whole() -> None:
    upright = page("云栖水库", Word(0, 4, 10_000, 10_000, 12_000, 50_000, 0))
    assert rounded(line_rects(upright, 1, 2)) == [(0.1, 0.1, 0.02, 0.4)]


@given(st.integers(0, 7), st.integers(1, 8))
def test_what_is_marked_lies_within_the_word_and_is_never_empty(start: int, length: int) -> None:
    (rect,) = line_rects(LINE, start, start + length)
    assert 0.1 <= rect.x < rect.x + rect.w <= 0.9 + 1e-9
    assert rect.w >= 0.1 * min(length, 8 - start) - 1e-4
