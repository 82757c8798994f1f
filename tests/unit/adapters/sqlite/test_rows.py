from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.sqlite.segments import LazySegments, ids_json, segments_json, spans_json, strings_json
from kb.domain.placed import merge_spans, span_from_json
from kb.domain.spans import LineSpan, PageSpan, PartSpan, RegionSpan, Segment, SourceSpan, TimeSpan

NUMBER = st.integers(1, 10_000)
LINES = st.tuples(NUMBER, NUMBER).map(lambda ends: LineSpan(min(ends), max(ends)))
OTHERS = st.one_of(
    st.builds(PageSpan, NUMBER),
    st.builds(RegionSpan, NUMBER, NUMBER, NUMBER, NUMBER),
    st.tuples(NUMBER, NUMBER).map(lambda ends: TimeSpan(min(ends), max(ends))),
    st.builds(PartSpan, st.just("sheet"), NUMBER, st.text(), st.just("B2:D9")),
)


def segments(spans: st.SearchStrategy[SourceSpan]) -> st.SearchStrategy[tuple[Segment, ...]]:
    """Segments that follow each other, each ten characters long."""
    return st.lists(spans, max_size=8).map(
        lambda found: tuple(Segment(10 * n, 10 * n + 10, span) for n, span in enumerate(found))
    )


@given(segments(LINES) | segments(st.one_of(LINES, OTHERS)))
def test_segments_and_spans_read_back(given_segments: tuple[Segment, ...]) -> None:
    read = LazySegments(segments_json(given_segments))
    assert read == given_segments
    assert given_segments == read
    assert (len(read), tuple(read), hash(read)) == (len(given_segments), given_segments, hash(given_segments))
    spans = tuple(span_from_json(value) for value in json.loads(spans_json(given_segments)))
    assert spans == merge_spans(segment.span for segment in given_segments)


@given(st.lists(st.text()).map(tuple))
def test_lists_of_texts_read_back(texts: tuple[str, ...]) -> None:
    assert tuple(json.loads(strings_json(texts))) == texts


@given(st.lists(st.text("0123456789abcdef", min_size=1)))
def test_lists_of_ids_read_back(ids: list[str]) -> None:
    assert json.loads(ids_json(ids)) == ids
