"""Letters as people write them: what is cleaned once stays clean, and every word keeps its place."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.parsers.pdf.letters import cleaned, is_clean, lost
from kb.adapters.parsers.pdf.lines import WORD_FIELDS, View, gather
from kb.domain.pages import SCALE

RAW = st.text(st.characters(), min_size=1, max_size=12)
# No reader gives a word of nothing but spaces.
WORD = RAW.filter(lambda text: text.strip(" ") != "")


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("ﬁre", "fire"),
        ("e\u0301t\u00e9", "\u00e9t\u00e9"),
        ("a\x00b\x07c", "abc"),
        ("\ud800x", "x"),
        ("\uf0b7", "\u2022"),
        ("\ue123", ""),
        ("\u2f64", "\u7528"),
        ("light\u00ad", "light-"),
        ("li\u00adght", "light"),
        ("\u00a0word\u3000", "word"),
    ],
)
def test_a_word_is_cleaned(raw: str, clean: str) -> None:
    assert cleaned(raw) == clean


def test_unknown_letters_are_counted_and_unseen_marks_are_not() -> None:
    assert lost("a\ufffdb\ue000\x01") == 3
    assert lost("a\u00adb\u200e\uf0b7") == 0


@given(RAW)
def test_cleaning_twice_changes_nothing_more(raw: str) -> None:
    once = cleaned(raw)
    assert cleaned(once) == once
    assert unicodedata.is_normalized("NFC", once)
    if is_clean(raw):
        assert once == raw


@given(
    st.lists(
        st.tuples(
            st.floats(-50, 650), st.floats(-50, 850), st.floats(0, 90), st.floats(0, 20), WORD, st.integers(0, 2)
        ),
        max_size=12,
    ),
    st.sampled_from((0, 90, 180, 270)),
)
def test_every_word_keeps_its_text_and_a_box_on_the_page(
    words: list[tuple[float, float, float, float, str, int]], turned: int
) -> None:
    raw = [(x, y, x + w, y + h, text, 0, line, number) for number, (x, y, w, h, text, line) in enumerate(words)]
    found = gather(raw, View(600, 800, turned))
    kept = 0
    for line in found.lines:
        for at in range(0, len(line.words), WORD_FIELDS):
            start, end, x0, y0, x1, y1 = line.words[at : at + WORD_FIELDS]
            assert line.text[start:end].strip()
            assert 0 <= x0 < x1 <= SCALE
            assert 0 <= y0 < y1 <= SCALE
            kept += end - start
    assert kept == found.good
    assert kept + sum(map(len, found.beyond)) == sum(len(cleaned(word[4])) for word in raw)
