"""Messages between the program and its child."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.chroma.frames import Frame, read_frame, write_frame


@given(st.dictionaries(st.text(max_size=9), st.integers() | st.text(max_size=9) | st.booleans()), st.binary())
def test_what_is_written_is_read(facts: dict[str, str | int | float | bool], tail: bytes) -> None:
    stream = io.BytesIO()
    write_frame(stream, Frame(facts, tail))
    write_frame(stream, Frame({"next": 1}))
    stream.seek(0)
    assert read_frame(stream) == Frame(facts, tail)
    assert read_frame(stream) == Frame({"next": 1})
    assert read_frame(stream) is None


@given(st.binary(max_size=60), st.integers(0, 59))
def test_a_message_cut_anywhere_is_an_end_and_not_an_error(tail: bytes, kept: int) -> None:
    stream = io.BytesIO()
    write_frame(stream, Frame({"do": "query"}, tail))
    whole = stream.getvalue()
    assert read_frame(io.BytesIO(whole[: min(kept, len(whole) - 1)])) is None


def test_a_stream_that_is_not_ours_is_an_end() -> None:
    assert read_frame(io.BytesIO(b"Traceback (most recent call last):\n  ...")) is None
