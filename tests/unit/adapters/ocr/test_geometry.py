from __future__ import annotations

import math

import pytest

from kb.adapters.ocr.geometry import Point, Quad, Turn, bounds, quad_of, read_along, slant, straightened


def box(x0: float, y0: float, x1: float, y1: float) -> Quad:
    return quad_of([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def test_a_word_in_the_middle_of_a_line_has_its_part_of_the_outline() -> None:
    assert bounds(box(100, 10, 300, 30).piece(0.25, 0.5)) == (150, 10, 200, 30)


def test_a_word_of_a_slanting_line_lies_on_the_slant() -> None:
    line = Quad(Point(0, 0), Point(100, 10), Point(98, 30), Point(-2, 20))
    assert bounds(line.piece(0.5, 1.0)) == (48, 5, 100, 30)


@pytest.mark.parametrize(("degrees", "expected"), [(0, (0, 0)), (90, (50, 0)), (180, (100, 50)), (270, (0, 100))])
def test_a_turn_takes_the_top_left_corner_where_it_belongs(degrees: int, expected: tuple[float, float]) -> None:
    assert Turn(degrees, 100, 50).there(Point(0, 0)) == expected


def test_standing_lines_are_read_downwards_from_the_right_edge() -> None:
    quads, is_standing = read_along([box(100, 0, 120, 300), box(60, 0, 80, 300)])
    assert is_standing
    assert bounds(quads[0].piece(0, 0.5)) == (100, 0, 120, 150)
    assert quads[0].length == 300
    assert bounds(quads[0].reversed().piece(0, 0.5)) == (100, 150, 120, 300)


def test_a_single_tall_letter_is_no_standing_line() -> None:
    letter = box(300, 0, 310, 20)
    quads, is_standing = read_along([box(0, 0, 280, 20), letter])
    assert not is_standing
    assert quads[1] == letter


def test_the_slant_is_that_of_the_long_lines() -> None:
    angle = math.radians(2)
    long = Quad(Point(0, 0), Point(1_000, 1_000 * math.tan(angle)), Point(1_000, 55), Point(0, 20))
    assert slant([long, box(0, 100, 30, 120)]) == pytest.approx(angle)


def test_a_straightened_line_is_as_thick_as_it_was() -> None:
    angle = math.radians(3)
    along, across = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
    a = Point(50, 50)
    b = Point(a.x + 400 * along[0], a.y + 400 * along[1])
    c = Point(b.x + 20 * across[0], b.y + 20 * across[1])
    d = Point(a.x + 20 * across[0], a.y + 20 * across[1])
    x0, y0, x1, y1 = straightened(Quad(a, b, c, d), angle)
    assert [x1 - x0, y1 - y0] == pytest.approx([400, 20])
