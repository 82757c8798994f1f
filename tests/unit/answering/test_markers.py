from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.answering.markers import MarkerReader, read_markers, without_look_alikes


def shown(text: str, allowed: range = range(1, 1000)) -> str:
    return "".join(piece.text for piece in read_markers(text, allowed)[0])


def numbers(text: str) -> list[int]:
    return [piece.number for piece in read_markers(text, range(1, 1000))[0] if piece.number is not None]


@pytest.mark.parametrize("text", ["[#1]", "[#999]", "a [#7].", "가 [#3]", "中文。[#12]", "([#5])", "[label][#2]"])
def test_the_strict_form_counts(text: str) -> None:
    assert len(numbers(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[1]", "[ #1 ]", "[#1a]", "[#0]", "[#01]", "[#1000]", "[label][1]", "[#]", "[# 1]", "#1", "[＃1]", "[foo]",
        "`[#1]`", "``a ` [#1]``", "```\n[#1]\n```", "~~~\n[#1]\n~~~", "```py\n[#1]", "`vec![#1]`", "[#1](http://x)",
        "\\[#1]", "   ```\n[#1]\n   ```", "a\n```\n[#1]\n```\n",
    ],
)  # fmt: skip
def test_anything_else_is_text(text: str) -> None:
    assert numbers(text) == []


def test_a_backtick_that_nothing_closes_hides_no_marker() -> None:
    assert numbers("a ` b [#1]") == [1]
    assert numbers("a ` b [#1]\n\nc ` [#2]") == [1, 2]


def test_markers_are_renumbered_by_first_use_without_gaps() -> None:
    pieces, reader = read_markers("a [#7]. b [#2][#7]. c [#5]", range(1, 9))
    assert "".join(piece.text for piece in pieces) == "a [1]. b [2][1]. c [3]"
    assert reader.shown == {7: 1, 2: 2, 5: 3}


def test_a_marker_without_evidence_is_dropped_and_reported() -> None:
    pieces, reader = read_markers("It is so [#9]. And so [#1].", [1])
    assert "".join(piece.text for piece in pieces) == "It is so. And so [1]."
    assert reader.dropped == [9]


def test_text_that_looks_like_a_shown_marker_cannot_be_taken_for_one() -> None:
    assert shown("see [2] and [#1], [label][3]") == "see ［2］ and [1], [label]［3］"
    assert shown("`a[2]` stays") == "`a[2]` stays"
    assert without_look_alikes("as [12] says [a]") == "as ［12］ says [a]"


def test_a_marker_split_over_tokens_is_read_at_once_when_whole() -> None:
    reader = MarkerReader([1])
    assert reader.feed("yes [") == reader_text("yes")
    assert reader.feed("#") == []
    assert reader.feed("1") == []
    assert reader.feed("]") == []
    assert [piece.text for piece in reader.feed(".")] == [" [1]", "."]


def reader_text(text: str) -> list[object]:
    return list(read_markers(text, [])[0])


MESSY = st.lists(
    st.sampled_from(
        [
            "[#1]",
            "[#2]",
            "[#77]",
            "[",
            "]",
            "#",
            "1",
            "`",
            "``",
            "```",
            "~~~",
            "\n",
            "\n\n",
            " ",
            "\\",
            "a",
            "가",
            "(",
            "[3]",
        ]
    ),
    max_size=30,
).map("".join)


@given(MESSY, st.lists(st.integers(0, 60), max_size=8))
def test_any_cutting_of_a_stream_reads_as_the_whole(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    reader = MarkerReader([1, 2])
    pieces = [piece for a, b in itertools.pairwise(places) for piece in reader.feed(text[a:b])]
    pieces += reader.close()
    whole, expected = read_markers(text, [1, 2])
    assert "".join(p.text for p in pieces) == "".join(p.text for p in whole)
    assert [p.number for p in pieces if p.number] == [p.number for p in whole if p.number]
    assert (reader.shown, reader.dropped) == (expected.shown, expected.dropped)


@given(MESSY)
def test_a_letter_at_a_time_reads_as_the_whole(text: str) -> None:
    reader = MarkerReader([1, 2])
    pieces = [piece for letter in text for piece in reader.feed(letter)] + reader.close()
    assert "".join(p.text for p in pieces) == "".join(p.text for p in read_markers(text, [1, 2])[0])


@given(MESSY)
def test_only_numbers_that_exist_are_shown(text: str) -> None:
    pieces, reader = read_markers(text, [1, 2])
    assert {piece.number for piece in pieces if piece.number} <= {1, 2}
    assert sorted(reader.shown.values()) == list(range(1, len(reader.shown) + 1))


@given(st.text(alphabet="abc가中 .`\n", max_size=60))
def test_text_without_brackets_passes_unchanged(text: str) -> None:
    assert shown(text) == text
