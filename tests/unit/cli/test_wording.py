"""Wrapping that knows wide letters, and the words that commands share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.cli.layout import columns_of, padded, quoted, wrapped
from kb.cli.output import counted, one_line, safe
from kb.cli.wording import degraded_lines, lines_label, places_label
from kb.contract.chunks import SourceSpan
from kb.contract.retrieval import DegradedChannel

TEXT = st.text(alphabet="ab 배터 리盐度,。 é", max_size=200)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("배터리 교체 절차", ["배터리", "교체 절차"]),
        ("盐度传感器校准", ["盐度传感", "器校准"]),
        ("盐度传感。器", ["盐度传", "感。器"]),
        ("incomprehensibility", ["incompreh", "ensibilit", "y"]),
        ("a\n\n b", ["a   b"]),
        ("   ", []),
    ],
)
def test_lines_break_where_readers_of_the_script_expect_it(text: str, lines: list[str]) -> None:
    assert wrapped(text, 9) == lines


@given(TEXT, st.integers(4, 40))
def test_no_line_is_too_wide_and_no_letter_is_lost(text: str, columns: int) -> None:
    lines = wrapped(text, columns)
    assert "".join("".join(lines).split()) == "".join(text.split())
    # a mark that may not begin a line hangs over
    assert all(columns_of(line.rstrip("。,")) <= columns for line in lines)


def test_wide_letters_take_two_columns_and_accents_none() -> None:
    assert [columns_of(text) for text in ("ab", "배터", "盐。", "e\u0301")] == [2, 4, 4, 1]
    assert padded("배터", 6) + "|" == "배터  |"


def test_a_quote_is_one_line_and_fits() -> None:
    assert quoted("a\n b", 40) == "「a b」"
    cut = quoted("盐度传感器每六个月校准一次" * 5, 40)
    assert cut.endswith("…」")
    assert columns_of(cut) <= 40


def span(start: int, end: int) -> SourceSpan:
    """Some lines."""
    return SourceSpan(kind="line", start=start, end=end)


def test_lines_that_only_a_blank_one_parts_are_shown_as_one_range() -> None:
    assert lines_label([span(5, 5), span(7, 7), span(9, 12), span(20, 20)]) == "L5-L12, L20"
    assert lines_label([span(6, 6)]) == "L6"


def test_what_did_less_than_asked_is_said_in_words_with_what_to_do() -> None:
    lost = [
        DegradedChannel(channel="lexical", reason="lexical_unavailable", detail="the index is missing"),
        DegradedChannel(channel="vector", reason="partial_vectors", detail="3 of 4 passages have vectors"),
        DegradedChannel(channel="vector", reason="of_a_later_version"),
    ]
    assert degraded_lines(lost) == [
        "degraded: searching by meaning only, the text index is missing: run `kb index rebuild`",
        "degraded: some passages have no vectors yet: run `kb ingest` (3 of 4 passages have vectors)",
        "degraded: of_a_later_version",
    ]


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(n, "passage") for n in (0, 1, 1200)] == ["0 passages", "1 passage", "1,200 passages"]


def test_a_note_cannot_steer_the_terminal() -> None:
    assert safe("a\x1b]0;title\x07b\x1b[2Jc\rd") == "a\ufffd]0;title\ufffdb\ufffd[2Jc\ufffdd"
    assert safe("\x1b[1mbold\x1b[0m\tand\n") == "\x1b[1mbold\x1b[0m\tand\n"


def test_an_error_stays_on_one_line() -> None:
    assert one_line("cannot read\n'a\x1b[2J.md'") == "cannot read 'a [2J.md'"


@pytest.mark.parametrize(
    ("spans", "label"),
    [
        ([SourceSpan(kind="page", page=3)], "page 3"),
        ([SourceSpan(kind="page", page=3), SourceSpan(kind="page", page=4)], "pages 3-4"),
        ([SourceSpan(kind="time", start_ms=9_500, end_ms=72_000)], "0:09-1:12"),
        ([SourceSpan(kind="part", part="sheet", number=2, name="Load", cells="A1:B3")], "sheet Load A1:B3"),
        ([SourceSpan(kind="part", part="slide", number=4)], "slide 4"),
        ([SourceSpan(kind="region", x=1, y=1, w=1, h=1)] * 2, "2 regions"),
        ([SourceSpan(kind="caption", model="seer-2")], "caption by seer-2"),
        ([SourceSpan(kind="line", start=1, end=2), SourceSpan(kind="page", page=1)], "L1-L2, page 1"),
        ([], ""),
    ],
)
def test_the_places_of_a_passage_are_said_in_the_words_of_their_kind(spans: list[SourceSpan], label: str) -> None:
    assert places_label(spans) == label
