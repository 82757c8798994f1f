"""Initial consonants of Korean syllables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.hangul import INITIALS, compatibility, has_initials, initials_of


@pytest.mark.parametrize(
    ("text", "right"), [("김밥", "ㄱㅂ"), ("까치 떡 힣가", "ㄲㅊ ㄸ ㅎㄱ"), ("abc 漢字 ㄱ", "abc 漢字 ㄱ"), ("", "")]
)
def test_syllables_become_their_initial_consonants(text: str, right: str) -> None:
    assert initials_of(text) == right


@given(st.text())
def test_letter_by_letter_so_that_places_stay(text: str) -> None:
    assert len(initials_of(text)) == len(text)


@pytest.mark.parametrize("form", ["ㄱㅂ", "\u1100\u1107", "\uffa1\uffb2"])
def test_lone_consonants_of_every_form_are_those_that_keyboards_type(form: str) -> None:
    assert compatibility(form) == "ㄱㅂ"
    assert has_initials(compatibility(form))
    assert not has_initials("김밥")


def test_there_are_as_many_as_unicode_has() -> None:
    assert {initials_of(chr(code)) for code in range(0xAC00, 0xD7A4)} == set(INITIALS)
