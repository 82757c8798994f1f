"""Citations as URIs and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.citations import Citation, cite
from kb.domain.errors import InvalidInput
from kb.domain.paths import WorkspacePath, workspace_path
from kb.domain.places import (
    CaptionPlace,
    LinePlace,
    PagePlace,
    PartPlace,
    Place,
    RegionPlace,
    SheetPlace,
    TimePlace,
)
from kb.domain.spans import LineSpan, PageSpan, PartSpan, RegionSpan, TimeSpan

NUMBER = st.integers(1, 10**6)
PERCENT = st.floats(0, 100, allow_nan=False).map(lambda number: round(number, 3))
NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
PART = st.sampled_from(["slide", "message", "section", "cell"])
PLACES = st.one_of(
    st.tuples(NUMBER, NUMBER).map(lambda pair: LinePlace(min(pair), max(pair))),
    st.tuples(NUMBER, NUMBER).map(lambda pair: PagePlace(min(pair), max(pair))),
    st.builds(RegionPlace, NUMBER, NUMBER, NUMBER, NUMBER),
    st.builds(RegionPlace, PERCENT, PERCENT, PERCENT, PERCENT, NUMBER),
    st.builds(CaptionPlace, NAME),
    st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(lambda pair: TimePlace(min(pair), max(pair))),
    st.builds(SheetPlace, NAME, st.sampled_from(["", "B2", "B2:D9", "$A$1:$C$3"])),
    st.builds(PartPlace, PART, NUMBER),
)
ODD_LETTERS = st.sampled_from("ab #%&?=!'()+;,@:[]{}^~`|\"<>\\회의록盐度🦭é.-_")
PATHS = st.lists(st.text(ODD_LETTERS, min_size=1).filter(lambda part: part not in {".", ".."}), min_size=1).map(
    "/".join
)


@given(PATHS, PLACES, st.none() | NAME)
def test_a_citation_reads_back_from_its_uri(path: str, place: Place, section: str | None) -> None:
    try:
        stored = workspace_path(path)
    except InvalidInput:
        return
    citation = Citation(stored, place, section=section)
    assert Citation.parse(citation.to_uri()) == citation


@given(PATHS, PLACES)
def test_a_uri_is_plain_ascii_without_blanks(path: str, place: Place) -> None:
    uri = Citation(WorkspacePath(path), place).to_uri()
    assert uri.isascii()
    assert not any(letter.isspace() for letter in uri)
    assert uri.count("#") == 1


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("notes/kb.md#L12-L34", LinePlace(12, 34)),
        ("notes/kb.md#L7", LinePlace(7, 7)),
        ("papers/a.pdf#page=13", PagePlace(13, 13)),
        ("papers/a.pdf#page=3-4", PagePlace(3, 4)),
        ("photos/board.png#xywh=120,40,520,180", RegionPlace(120, 40, 520, 180)),
        ("a.pdf#page=3&xywh=percent:1.5,2,30,4.25", RegionPlace(1.5, 2, 30, 4.25, page=3)),
        ("photos/cat.jpg#caption=qwen2.5-vl", CaptionPlace("qwen2.5-vl")),
        ("rec/m.m4a#t=822,850", TimePlace(822_000, 850_000)),
        ("rec/m.m4a#t=0.5,1.25", TimePlace(500, 1_250)),
        ("a.xlsx#sheet=Q1%20%EB%A7%A4%EC%B6%9C!B2:D9", SheetPlace("Q1 매출", "B2:D9")),
        ("a.pptx#slide=3", PartPlace("slide", 3)),
    ],
)
def test_the_printed_forms_are_those_of_the_contract(uri: str, place: Place) -> None:
    citation = Citation.parse(uri)
    assert citation.place == place
    assert citation.to_uri() == uri


def test_the_old_short_form_of_a_page_is_read_too() -> None:
    assert Citation.parse("a.pdf#p=13").place == PagePlace(13, 13)


@pytest.mark.parametrize(
    "text",
    [
        "notes/kb.md",
        "#L1",
        "a.md#",
        "a.md#L0",
        "a.md#L5-L2",
        "a.md#L1-2",
        "a.md#line=3",
        "a.pdf#page=0",
        "a.pdf#page=3&xywh=1,2,3,4",
        "a.pdf#page=3-4&xywh=percent:1,2,3,4",
        "a.png#xywh=1,2,3",
        "a.png#xywh=1.5,2,3,4",
        "a.m4a#t=5",
        "a.m4a#t=9,5",
        "a.m4a#t=nan,5",
        "a.m4a#t=1e99999,5",
        "/etc/passwd#L1",
        "../a.md#L1",
        "a.pptx#slide=x",
        "a.xlsx#sheet=",
    ],
)
def test_what_is_not_a_citation_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Citation.parse(text)
    assert caught.value.code in {"invalid_citation", "invalid_path"}


def test_section_and_speaker_inform_but_do_not_distinguish() -> None:
    path = workspace_path("a.md")
    assert Citation(path, LinePlace(1, 2), section="§1") == Citation(path, LinePlace(1, 2), speaker="S1")


def test_a_label_is_readable_where_a_uri_is_encoded() -> None:
    citation = Citation(workspace_path("회의/10월 기록.md"), LinePlace(3, 9))
    assert citation.label() == "회의/10월 기록.md#L3-L9"
    assert "%" in citation.to_uri()


@pytest.mark.parametrize(
    ("spans", "place"),
    [
        ([LineSpan(3, 4), LineSpan(9, 12)], LinePlace(3, 12)),
        ([PageSpan(3), PageSpan(4)], PagePlace(3, 4)),
        ([RegionSpan(1, 2, 3, 4)], RegionPlace(1, 2, 3, 4)),
        ([TimeSpan(10, 20), TimeSpan(40, 50)], TimePlace(10, 50)),
        ([PartSpan("sheet", 1, "Q1", "B2")], SheetPlace("Q1", "B2")),
        ([PartSpan("slide", 4)], PartPlace("slide", 4)),
    ],
)
def test_one_citation_covers_all_spans(spans: list[object], place: Place) -> None:
    assert cite(workspace_path("a"), spans, None).place == place  # type: ignore[arg-type]


def test_nothing_cannot_be_cited() -> None:
    with pytest.raises(InvalidInput, match="nothing to cite"):
        cite(workspace_path("a.md"), [], None)
