from array import array

from hypothesis import given
from hypothesis import strategies as st

from kb.domain.line_segments import LineSegments, Places
from kb.domain.lines import SourceLines, count_lines, source_text
from kb.domain.placed import cut, merge_spans, shift
from kb.domain.spans import LineSpan, PageSpan, Segment

LINES = st.lists(st.text(alphabet="ab c가", max_size=6), max_size=12)


def as_tuple(lines: list[str], first_line: int) -> tuple[Segment, ...]:
    segments, position = [], 0
    for number, line in enumerate(lines, first_line):
        if line:
            segments.append(Segment(position, position + len(line), LineSpan(number, number)))
        position += len(line) + 1
    return tuple(segments)


@given(LINES, st.integers(1, 1000))
def test_they_are_the_tuple_they_stand_for(lines: list[str], first_line: int) -> None:
    compact, plain = LineSegments.of_lines(lines, first_line), as_tuple(lines, first_line)
    assert compact == plain
    assert plain == compact
    assert (list(compact), len(compact), hash(compact), repr(compact)) == (
        list(plain),
        len(plain),
        hash(plain),
        repr(plain),
    )
    assert [compact[index] for index in range(-len(plain), len(plain))] == [*plain, *plain]
    assert compact[1:-1] == plain[1:-1]
    assert compact != (*plain, Segment(900, 901, LineSpan(1, 1)))


@given(LINES, st.integers(0, 40), st.integers(0, 40), st.integers(0, 9))
def test_they_are_moved_cut_and_joined_like_any_segments(lines: list[str], start: int, end: int, offset: int) -> None:
    compact, plain = LineSegments.of_lines(lines, 7), as_tuple(lines, 7)
    assert compact.moved(offset) == shift(plain, offset)
    assert compact.within(start, end).numbers == array(
        "I",
        [n for s in cut(plain, start, end) for n in (s.start + start, s.end + start, s.span.start, s.span.end)],  # type: ignore[union-attr]
    )
    assert [LineSpan(*pair) for pair in compact.lines()] == list(merge_spans(segment.span for segment in plain))


@given(st.lists(st.tuples(LINES, st.booleans()), max_size=4))
def test_places_of_texts_put_together_are_those_of_each_moved(texts: list[tuple[list[str], bool]]) -> None:
    places, expected, position = Places(), list[Segment](), 0
    for lines, is_compact in texts:
        plain = as_tuple(lines, 1)
        places.add(LineSegments.of_lines(lines, 1) if is_compact else plain, position)
        expected += shift(plain, position)
        position += len("\n".join(lines)) + 2
    assert tuple(places.finish()) == tuple(expected)


def test_places_on_pages_stay_beside_places_in_lines() -> None:
    places = Places()
    places.add(LineSegments.of_lines(["ab"], 3), 0)
    places.add((Segment(0, 2, PageSpan(1, 0, 2)),), 4)
    assert places.finish() == (Segment(0, 2, LineSpan(3, 3)), Segment(4, 6, PageSpan(1, 0, 2)))


@given(st.text(alphabet="ab\n\re\u0301\0"), st.lists(st.integers(0, 30), max_size=4))
def test_lines_of_a_text_in_pieces_are_those_of_the_whole(text: str, cuts: list[int]) -> None:
    ends = sorted({text.find("\n", cut) + 1 for cut in cuts} - {0})
    pieces = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    lines = SourceLines(pieces)
    assert list(lines) == source_text(text).split("\n")
    assert lines.count == count_lines(source_text(text))
