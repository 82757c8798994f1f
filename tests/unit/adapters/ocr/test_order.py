from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.ocr.order import Box, reading_order


def lines(x0: float, x1: float, top: float, count: int, first: int) -> list[Box]:
    """Lines of 20 pixels' height below each other, numbered from `first`."""
    return [Box(first + n, x0, top + n * 30, x1, top + n * 30 + 20) for n in range(count)]


def flat(boxes: list[Box]) -> list[int]:
    return [number for paragraph in reading_order(boxes) for line in paragraph for number in line]


def test_lines_are_read_downwards_whatever_order_they_come_in() -> None:
    boxes = lines(0, 500, 0, 5, 0)
    assert reading_order([boxes[3], boxes[0], boxes[4], boxes[2], boxes[1]]) == [[[0], [1], [2], [3], [4]]]


def test_pieces_of_a_line_are_put_side_by_side() -> None:
    assert reading_order([Box(0, 300, 2, 500, 22), Box(1, 0, 0, 280, 20)]) == [[[1, 0]]]


def test_two_columns_are_read_one_after_the_other() -> None:
    assert flat(lines(0, 300, 0, 6, 0) + lines(340, 640, 5, 6, 6)) == list(range(12))


def test_lines_of_uneven_length_do_not_cross_the_gutter() -> None:
    left = [
        box._replace(x1=end)
        for box, end in zip(lines(0, 0, 0, 8, 0), [290, 314, 291, 306, 292, 306, 290, 291], strict=True)
    ]
    assert flat(left + lines(340, 640, 5, 8, 8)) == list(range(16))


def test_three_columns_are_read_one_after_the_other() -> None:
    boxes = lines(0, 200, 0, 4, 0) + lines(230, 430, 3, 4, 4) + lines(460, 660, 6, 4, 8)
    assert flat(boxes[::-1]) == list(range(12))


def test_a_line_across_both_columns_parts_them_into_bands() -> None:
    title = [Box(0, 0, 0, 640, 25)]
    upper = lines(0, 300, 60, 4, 1) + lines(340, 640, 60, 4, 5)
    across = [Box(9, 20, 200, 620, 220)]
    lower = lines(0, 300, 250, 4, 10) + lines(340, 640, 250, 4, 14)
    assert flat(lower + across + upper + title) == list(range(18))


def test_cells_of_a_table_are_read_row_by_row() -> None:
    cells = []
    for row in range(5):
        cells += [Box(2 * row, 0, row * 30, 80, row * 30 + 20), Box(2 * row + 1, 200, row * 30, 280, row * 30 + 20)]
    assert flat(cells[::-1]) == list(range(10))


def test_a_wider_gap_begins_a_paragraph() -> None:
    boxes = lines(0, 500, 0, 4, 0) + lines(0, 500, 145, 4, 4)
    assert [[line[0] for line in paragraph] for paragraph in reading_order(boxes)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_an_indented_line_begins_a_paragraph() -> None:
    boxes = lines(0, 500, 0, 6, 0)
    boxes[3] = boxes[3]._replace(x0=40)
    assert [len(paragraph) for paragraph in reading_order(boxes)] == [3, 3]


def test_a_short_line_ends_a_paragraph() -> None:
    boxes = lines(0, 500, 0, 6, 0)
    boxes[2] = boxes[2]._replace(x1=200)
    assert [len(paragraph) for paragraph in reading_order(boxes)] == [3, 3]


def test_a_taller_line_stands_alone() -> None:
    heading = Box(0, 0, 0, 300, 40)
    assert [len(paragraph) for paragraph in reading_order([heading, *lines(0, 500, 50, 4, 1)])] == [1, 4]


def test_a_sentence_that_goes_on_in_the_next_column_is_one_paragraph() -> None:
    left = [box._replace(goes_on=True) for box in lines(0, 300, 0, 6, 0)]
    right = lines(340, 640, 0, 6, 6)
    assert len(reading_order(left + right)) == 1
    ended = [*left[:-1], left[-1]._replace(goes_on=False)]
    assert len(reading_order(ended + right)) == 2


def test_nothing_has_no_order() -> None:
    assert reading_order([]) == []


_BOX = st.tuples(*[st.floats(0, 1_000)] * 2, st.floats(1, 600), st.floats(1, 80))


@given(st.lists(_BOX, max_size=40))
def test_every_box_is_read_once(drawn: list[tuple[float, float, float, float]]) -> None:
    boxes = [Box(number, x, y, x + w, y + h) for number, (x, y, w, h) in enumerate(drawn)]
    assert sorted(flat(boxes)) == list(range(len(boxes)))
