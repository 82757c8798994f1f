from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.models.language.stops import StopReader

STOPS = ("\n[질문]", "<<<")


def test_text_ends_before_a_stop_string_that_came_in_pieces() -> None:
    reader = StopReader(STOPS)
    data = "답이다.\n[질문]\n다음".encode()
    assert "".join(reader.feed(data[i : i + 1]) for i in range(len(data))) == "답이다."
    assert reader.stopped


def test_what_only_looks_like_the_beginning_of_a_stop_string_is_passed_on() -> None:
    reader = StopReader(STOPS)
    assert reader.feed(b"a << b <") == "a << b "
    assert reader.feed(b"", final=True) == "<"
    assert not reader.stopped


def test_a_letter_split_over_tokens_comes_whole() -> None:
    reader = StopReader(())
    first, second = "가".encode()[:1], "가".encode()[1:]
    assert reader.feed(first) == ""
    assert reader.feed(second) == "가"


def test_broken_bytes_become_the_replacement_letter_and_half_a_letter_at_the_end_is_left_off() -> None:
    assert StopReader(()).feed(b"a\xffb\xe4", final=True) == "a�b"


@given(
    st.lists(st.sampled_from(["a", "<", "<<", "\n", "[", "질문", "]", "中"]), max_size=20).map("".join),
    st.integers(1, 7),
)
def test_any_cutting_of_a_stream_ends_at_the_same_place(text: str, size: int) -> None:
    data = text.encode()
    reader = StopReader(STOPS)
    seen = "".join(reader.feed(data[i : i + size]) for i in range(0, len(data), size)) + reader.feed(b"", final=True)
    places = [place for stop in STOPS if (place := text.find(stop)) >= 0]
    assert seen == text[: min(places, default=len(text))]
    assert reader.stopped == bool(places)
