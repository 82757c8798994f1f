"""Normal forms and sentences."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.text import fold, fold_with_origin, nfc, sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It reads 3.35 V. Replace it.", ["It reads 3.35 V.", "Replace it."]),
        ("Asked J. Smith. He knew.", ["Asked J. Smith.", "He knew."]),
        ("See Fig. 3 and e.g. this one. Done.", ["See Fig. 3 and e.g. this one.", "Done."]),
        ("첫 문장이다. 둘째 문장이다.", ["첫 문장이다.", "둘째 문장이다."]),
        ("每六个月校准一次。使用三种海水！好吗？", ["每六个月校准一次。", "使用三种海水！", "好吗？"]),
        ("他说:「好。」然后走了。", ["他说:「好。」", "然后走了。"]),
        ("line one\nline two", ["line one", "line two"]),
        ("no end", ["no end"]),
        ("  \n ", []),
        ("Really?! Yes...", ["Really?!", "Yes..."]),
    ],
)
def test_a_text_falls_into_its_sentences(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == parts


@given(st.text())
def test_sentences_are_in_order_and_lose_only_white_space(text: str) -> None:
    found = list(sentences(text))
    position = 0
    for start, end in found:
        assert text[position:start].strip() == ""
        assert position <= start < end
        position = end
    assert text[position:].strip() == ""


def test_folding_joins_widths_and_cases() -> None:
    assert fold("ＡＢＣ１２３") == fold("abc123")
    assert fold("STRASSE") == fold("straße")


def test_line_ends_become_one() -> None:
    assert nfc("a\r\nb\rc\n") == "a\nb\nc\n"


@given(st.text(alphabet="aZé \u0301ßﬁ가\u1100\u1161\u11a8中。，ẞΣςΐЖйا\u064bｱﾞ㍿①\n"))
def test_folding_runs_of_plain_letters_at_once_is_folding_each_with_its_marks(text: str) -> None:
    clusters: list[tuple[int, int]] = []
    for place, letter in enumerate(text):
        joins = unicodedata.combining(letter) or "\u1160" <= letter <= "\u11ff"
        if joins and clusters:
            clusters[-1] = clusters[-1][0], place + 1
        else:
            clusters.append((place, place + 1))
    pieces = [(fold(text[start:end]), start, end) for start, end in clusters]
    folded, starts, ends = fold_with_origin(text)
    assert folded == "".join(piece for piece, _, _ in pieces)
    assert list(starts) == [start for piece, start, _ in pieces for _ in piece]
    assert list(ends) == [end for piece, _, end in pieces for _ in piece]
