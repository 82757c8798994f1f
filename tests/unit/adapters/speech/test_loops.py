"""Phrases without end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.speech.loops import looping


def kept(text: str) -> str:
    words = text.split()
    return " ".join(word for word, drop in zip(words, looping(words), strict=True) if not drop)


def test_a_sentence_stays_three_times_in_a_row() -> None:
    assert kept("Thanks for watching. " * 9) == ("Thanks for watching. " * 3).strip()


def test_case_and_punctuation_do_not_hide_a_loop() -> None:
    assert kept("so it goes, So it goes. SO IT GOES so it goes! so it goes") == "so it goes, So it goes. SO IT GOES"


def test_one_word_may_be_said_six_times() -> None:
    assert kept("no " * 20) == ("no " * 6).strip()


def test_what_follows_a_loop_stays() -> None:
    assert kept("we go on " * 8 + "and then stop here") == "we go on we go on we go on and then stop here"


def test_plain_speech_with_a_phrase_said_twice_is_left_alone() -> None:
    said = "ask not what your country can do for you ask what you can do for your country"
    assert kept(f"{said} {said}") == f"{said} {said}"


def test_chinese_characters_loop_too() -> None:
    words = list("谢谢观看" * 7)
    assert sum(not drop for drop in looping(words)) == 12


@given(st.lists(st.sampled_from("abc"), max_size=60))
def test_nothing_is_left_that_repeats_more_than_three_times(letters: list[str]) -> None:
    said = [word for word, drop in zip(letters, looping(letters), strict=True) if not drop]
    for period in range(2, 8):
        for start in range(len(said) - 4 * period + 1):
            part = said[start : start + period]
            if len(set(part)) > 1:
                assert said[start : start + 4 * period] != part * 4
