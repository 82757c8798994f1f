"""Text that knows its places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.errors import InvalidInput
from kb.domain.placed import cut, merge_spans, shift, span_from_json, span_to_json, spans_between
from kb.domain.spans import ByteSpan, LineSpan, PageSpan, PartSpan, RegionSpan, Segment, SourceSpan, TimeSpan

PAIR = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(sorted)
SPANS: st.SearchStrategy[SourceSpan] = st.one_of(
    PAIR.map(lambda pair: LineSpan(*pair)),
    PAIR.map(lambda pair: ByteSpan(*pair)),
    PAIR.map(lambda pair: TimeSpan(*pair)),
    st.builds(PageSpan, st.integers(1, 99)),
    st.builds(lambda page, pair: PageSpan(page, *pair), st.integers(1, 99), PAIR),
    st.builds(RegionSpan, st.integers(0, 99), st.integers(0, 99), st.integers(1, 99), st.integers(1, 99)),
    st.builds(PartSpan, st.sampled_from(["slide", "cell"]), st.integers(1, 99)),
    st.builds(PartSpan, st.just("sheet"), st.integers(1, 9), st.just("Q1"), st.just("B2:D9")),
)


def lines(*pairs: tuple[int, int]) -> list[Segment]:
    """Segments of ten characters, one for each pair of lines."""
    return [Segment(i * 11, i * 11 + 10, LineSpan(*pair)) for i, pair in enumerate(pairs)]


@given(SPANS)
def test_a_span_reads_back_from_its_json(span: SourceSpan) -> None:
    assert span_from_json(span_to_json(span)) == span


@pytest.mark.parametrize(
    "value", [{}, {"kind": "verse"}, {"kind": "line", "start": 1}, {"kind": "line", "begin": 1, "end": 2}]
)
def test_json_that_is_no_span_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        span_from_json(value)  # type: ignore[arg-type]


def test_lines_that_touch_become_one_span() -> None:
    assert merge_spans([LineSpan(1, 1), LineSpan(2, 2), LineSpan(5, 6)]) == (LineSpan(1, 2), LineSpan(5, 6))


def test_characters_of_one_page_become_one_span() -> None:
    assert merge_spans([PageSpan(3, 0, 10), PageSpan(3, 20, 30), PageSpan(4)]) == (PageSpan(3, 0, 30), PageSpan(4))


@given(st.lists(SPANS))
def test_merging_twice_is_merging_once(spans: list[SourceSpan]) -> None:
    once = merge_spans(spans)
    assert merge_spans(once) == once


def test_the_places_of_a_range_are_those_of_the_segments_it_touches() -> None:
    segments = lines((4, 4), (5, 5), (6, 6))
    assert spans_between(segments, 12, 14) == (LineSpan(5, 5),)
    assert spans_between(segments, 9, 12) == (LineSpan(4, 5),)
    assert spans_between(segments, 10, 11) == ()


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_cutting_keeps_the_place_of_every_character(start: int, length: int, offset: int) -> None:
    segments = shift(lines((4, 4), (5, 5), (8, 9)), offset)
    part = cut(segments, start, start + length)
    for position in range(length):
        inside = spans_between(part, position, position + 1)
        assert inside == spans_between(segments, start + position, start + position + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LineSpan(0, 1),
        lambda: LineSpan(3, 2),
        lambda: ByteSpan(5, 4),
        lambda: PageSpan(0),
        lambda: PageSpan(1, 5, None),
        lambda: PageSpan(1, 5, 4),
        lambda: RegionSpan(-1, 0, 1, 1),
        lambda: RegionSpan(0, 0, 0, 1),
        lambda: TimeSpan(5, 4),
        lambda: PartSpan("slide", 0),
    ],
)
def test_an_impossible_span_cannot_be_made(make: object) -> None:
    with pytest.raises(InvalidInput):
        make()  # type: ignore[operator]
