"""A quote is found where it stands, however it was copied, and recognised text may differ a little from itself."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.app.quotes import Quote, _nearest, letters_of, likeness, locate

TEXT = (
    "Anchors weigh 85 kg.\nChains rust, so they are oiled; the know-\nledge of it is old. 닻의 무게는 85킬로그램이다."
)


def found(quote: str, *, tolerant: bool = False, text: str = TEXT) -> str | None:
    place = locate(text, Quote.of(quote), tolerant=tolerant)
    return text[slice(*place)] if place else None


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("Anchors weigh", "Anchors weigh"),
        ("kg.  Chains\trust", "kg.\nChains rust"),
        ("Ａnchors weigh ８５", "Anchors weigh 85"),
        ("chains rust so they", "Chains rust, so they"),
        ("the knowledge of it", "the know-\nledge of it"),
        ("닻의무게는 85", "닻의 무게는 85"),
        ("Anchors weigh 86 kg.", None),
        ("Anchors weigh 8.5 kg.", None),
        ("weigh -85", None),
        ("weigh - 85", "weigh 85"),
        ("", None),
        ("   \n", None),
        ("?!", None),
    ],
)
def test_a_quote_of_a_text_is_found_by_its_letters_and_digits(quote: str, there: str | None) -> None:
    assert found(quote) == there


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("Anch0rs weiqh 85 kg. Chams rust", "Anchors weigh 85 kg.\nChains rust"),
        ("Chains rnst, so thcy are oi1ed", "Chains rust, so they are oiled"),
        ("닻의 무개는 85킬르그램이다", "닻의 무게는 85킬로그램이다"),
        ("An entirely different sentence stands here.", None),
        ("rnst", None),
    ],
)
def test_a_recognised_text_may_differ_in_a_fifth_of_its_letters(quote: str, there: str | None) -> None:
    assert found(quote, tolerant=True) == there
    assert found(quote) is None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("station: Buoy 3 | depth: 9 m", "station: Buoy 33 | depth: 9 m"),
        ("Invoice 2024-118 is due", "Invoice 2024-181 is due today"),
        ("The dome costs 48,700 euros in all", "The dome costs 52,300 euros in all"),
    ],
)
def test_another_number_is_another_text_however_like_it_reads(text: str, quote: str) -> None:
    assert locate(text, Quote.of(quote), tolerant=True) is None


def test_one_misread_digit_in_a_long_recognised_text_is_forgiven() -> None:
    text = "The dome costs 48,7OO euros in all"
    quote = Quote.of("The dome costs 48,70O euros in all")
    assert locate(text, quote, tolerant=True) == (0, len(text))


def test_of_equal_places_the_one_after_the_beginning_is_taken() -> None:
    text = "the end. And then the end."
    assert locate(text, Quote.of("the end")) == (0, 7)
    assert locate(text, Quote.of("the end"), 5) == (18, 25)
    assert locate(text, Quote.of("the end"), 20) == (0, 7)


@given(st.text("ab-.,5 \n\u2212"), st.text("ab-.,5 \n"), st.text("ab-.,5 \n"))
def test_a_quick_look_overlooks_nothing(quote: str, before: str, after: str) -> None:
    text = before + quote + after
    if locate(text, Quote.of(quote)) is not None:
        assert Quote.of(quote).letters.lstrip("-\u2212") in letters_of(text)


def plain_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row, above = [i], row
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


@settings(deadline=None)
@given(st.text("abc", max_size=14), st.text("abc", min_size=1, max_size=7), st.integers(0, 4))
def test_no_part_is_nearer_than_the_one_that_is_found(text: str, wanted: str, errors: int) -> None:
    parts = [text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)]
    smallest = min((plain_distance(part, wanted) for part in parts), default=len(wanted))
    place = _nearest(text, wanted, errors)
    if place is None:
        assert smallest > errors or smallest >= len(wanted)
    else:
        assert plain_distance(text[slice(*place)], wanted) == smallest <= errors


def test_a_long_quote_with_errors_is_found_from_its_first_word_to_its_last() -> None:
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(900)]
    text = " ".join(words)
    quote = " ".join(word if n % 9 else word[:2] + "x" + word[3:] for n, word in enumerate(words[50:800]))
    place = locate(text, Quote.of(quote), tolerant=True)
    assert place is not None
    assert abs(place[0] - 50 * 7) <= 2
    assert abs(place[1] - (800 * 7 - 1)) <= 2


def test_a_passage_is_like_a_quote_with_errors_in_it_and_unlike_any_other() -> None:
    quote = Quote.of("Chains rnst, so thcy are oi1ed")
    assert likeness(TEXT, quote) > 0
    assert likeness("Nothing in this one is the same at all.", quote) == 0
