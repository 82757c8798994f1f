"""From speech put end to end back to the times of the recording."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.speech.stretches import Stretches

TWO = Stretches([(10.0, 14.0), (60.0, 65.0)])


def test_a_word_of_the_second_stretch_gets_its_own_time() -> None:
    assert TWO.original(4.5, 5.0) == (60.5, 61.0)


def test_a_word_over_the_seam_stays_in_the_stretch_that_holds_its_middle() -> None:
    assert TWO.original(3.5, 4.2) == (13.5, 14.0)


def test_speech_without_words_is_found() -> None:
    assert TWO.without([(10.2, 13.0)], 4.0) == [(60.0, 65.0)]
    assert TWO.without([(10.2, 13.0), (60.1, 60.4)], 4.0) == [(60.4, 65.0)]
    assert TWO.without([(10.2, 13.0), (61.0, 64.0)], 4.0) == []


@given(st.lists(st.floats(0.1, 20.0), min_size=2, max_size=20), st.data())
def test_times_are_in_order_and_inside_a_stretch(steps: list[float], data: st.DataObject) -> None:
    marks = [sum(steps[: n + 1]) for n in range(len(steps) // 2 * 2)]
    bounds = list(zip(marks[::2], marks[1::2], strict=True))
    total = sum(end - start for start, end in bounds)
    first = data.draw(st.floats(0, total))
    last = data.draw(st.floats(first, total))
    start, end = Stretches(bounds).original(first, last)
    assert start <= end
    assert any(low <= start <= end <= high for low, high in bounds)
