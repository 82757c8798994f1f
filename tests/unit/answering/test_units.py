from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.answering.units import heads_rows, units


def texts(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in units(text)]


def test_sentences_of_a_paragraph_are_units() -> None:
    assert texts("One is here. Two is there! 셋이다. 四在这里。五") == [
        "One is here.", "Two is there!", "셋이다.", "四在这里。", "五",
    ]  # fmt: skip


def test_list_items_and_table_rows_are_units_of_their_own() -> None:
    assert texts("- apples cost 3\n- pears cost 4\n| port | 8080 |\n|---|---|\n| host | local |") == [
        "apples cost 3", "pears cost 4", "| port | 8080 |", "| host | local |",
    ]  # fmt: skip


def test_numbers_and_signs_of_lists_headings_and_quotes_are_no_part_of_what_is_said() -> None:
    assert texts("1. apples\n2) pears\n## Fruit\n> plums\n3. 1 운동") == [
        "apples",
        "pears",
        "Fruit",
        "plums",
        "3. 1 운동",
    ]


def test_lines_of_code_are_units() -> None:
    assert texts("def f():\n    return 1\n") == ["def f():", "return 1"]


def test_a_wrapped_line_goes_on_in_the_next() -> None:
    wrapped = "This sentence was wrapped by an editor at eighty\ncolumns and goes on. Then another."
    assert texts(wrapped) == [wrapped.split(" Then", maxsplit=1)[0], "Then another."]


def test_rows_of_a_table_are_units_however_long_and_whatever_stops_are_in_them() -> None:
    rows = [
        "station | depth | temperature | observer | remark",
        "station: Buoy 1 | depth: 3 m | temperature: 4.1 C | observer: Bram Ueda | remark: Moved. Was adrift.",
        "station: Buoy 2 | depth: 6 m | temperature: 4.2 C | observer: Celia Xu | remark:",
        "station: Buoy 3 | depth: 9 m | temperature: 4.3 C | observer: Dov Sommers | remark: none",
    ]
    assert texts("\n".join(rows)) == rows
    assert texts("A line of prose above that has no stop at its end\n" + rows[1]) == [
        "A line of prose above that has no stop at its end",
        rows[1],
    ]


def test_a_row_of_headers_is_told_from_the_rows_that_repeat_them() -> None:
    text = "name | age\nname: Ann | age: 9\nname: Bo | age: 7"
    assert [heads_rows(text, unit) for unit in units(text)] == [True, False, False]


@pytest.mark.parametrize("text", ["", "   \n\n", "---", "|---|---|", "***", "!!!"])
def test_rules_and_marks_say_nothing(text: str) -> None:
    assert texts(text) == []


@given(st.text(alphabet="ab가中 .。!?\n-|1", max_size=120))
def test_units_are_in_order_apart_and_hold_every_letter(text: str) -> None:
    found = units(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert all(
        unit.start < unit.end and text[unit.start : unit.end].strip() == text[unit.start : unit.end] for unit in found
    )
    inside = "".join(text[unit.start : unit.end] for unit in found)
    assert [c for c in inside if c.isalpha()] == [c for c in text if c.isalpha()]
