"""Layers: what an edit changes, where its words come from, and finding it again in a text that is cut otherwise."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.layers import (
    Change,
    Layer,
    LayerKind,
    applied,
    changes_between,
    merged,
    original_range,
    placed_again,
)
from kb.domain.reattaching import Passage, Reattached, _around, reattach
from kb.domain.spans import LineSpan, PageSpan, Segment

KETTLE = "The kettle boils at ninety degrees. It whistles when the water is hot enough."
WINDOW = "The window stays closed in winter. In summer the steam goes out by it."
DOOR = "The door has two locks. Only one of them has ever been used by anybody."

words = st.lists(
    st.sampled_from(["kettle", "boils", "at", "ninety.", "水壶", "烧开", "주전자가", "\n", "  "]), max_size=30
)
texts = words.map(" ".join)


def edit(source: str, new: str, **values: object) -> Layer:
    return replace(Layer("l", LayerKind.TEXT, source, new), **values)  # type: ignore[arg-type]


def said(found: Reattached, *passages: Passage) -> list[str]:
    """What the passages say with what was found."""
    changes = {one.key: one.changes for one in found.attachments}
    return [applied(passage.text, changes.get(passage.key, ())) for passage in passages]


@given(texts, texts)
def test_what_changed_makes_the_new_text_of_the_old_one(source: str, new: str) -> None:
    changes = changes_between(source, new)
    assert applied(source, changes) == new
    assert all(one.end <= other.start for one, other in pairwise(changes))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_made_of_any_other(source: str, new: str) -> None:
    assert applied(source, changes_between(source, new)) == new


def test_a_change_is_of_whole_words() -> None:
    (change,) = changes_between(KETTLE, KETTLE.replace("ninety", "nineteen"))
    assert KETTLE[change.start : change.end] == "ninety"
    assert change.text == "nineteen"


def test_texts_too_long_to_compare_are_one_change() -> None:
    source, new = "a b " * 4_000, "c d " * 4_000
    (change,) = changes_between(source, new)
    assert applied(source, (change,)) == new


@given(texts, texts, texts)
def test_of_two_changes_that_meet_the_newer_one_counts(source: str, newer: str, older: str) -> None:
    new, old = changes_between(source, newer), changes_between(source, older)
    together = merged([new, old])
    assert set(new) <= set(together)
    assert all(one.end <= other.start for one, other in pairwise(together))


@given(texts, texts)
def test_places_stay_in_order_and_within_the_new_text(source: str, new: str) -> None:
    lines = [Segment(at, at + 1, LineSpan(at + 1, at + 1)) for at in range(len(source))]
    changes = changes_between(source, new)
    placed = placed_again(source, lines, changes)
    assert all(one.end <= other.start for one, other in pairwise(placed))
    assert all(0 <= one.start < one.end <= len(new) for one in placed)
    # Letters that stay keep their line.
    kept = {(segment.end, segment.span) for segment in placed if segment.end - segment.start == 1}
    shift = at = 0
    for change in (*changes, Change(len(source), len(source), "")):
        assert all((n + shift + 1, LineSpan(n + 1, n + 1)) in kept for n in range(at, change.start))
        shift += len(change.text) - (change.end - change.start)
        at = change.end


def test_new_words_have_the_place_of_those_they_replace_else_of_those_beside_them() -> None:
    source = "One line.\nAnother line.\nA third one."
    lines = (Segment(0, 9, LineSpan(1, 1)), Segment(10, 23, LineSpan(2, 2)), Segment(24, 36, LineSpan(3, 3)))
    new = "One line. It goes on.\nAnother line.\nWhatever."
    placed = placed_again(source, lines, changes_between(source, new))
    assert [s.span for s in placed if "goes" in new[s.start : s.end]] == [LineSpan(1, 1)]
    assert [s.span for s in placed if "Whatever" in new[s.start : s.end]] == [LineSpan(3, 3)]


def test_letters_of_a_page_that_stay_keep_their_exact_place() -> None:
    segments = (Segment(0, 30, PageSpan(2, 100, 130)),)
    source = "abcdefghi jklmnopqr stuvwxyz01"
    placed = placed_again(source, segments, changes_between(source, "abcdefghi JKL stuvwxyz01"))
    assert placed[0].span == PageSpan(2, 100, 110)
    assert placed[-1].span == PageSpan(2, 119, 130)
    assert placed[1].span == PageSpan(2, 110, 119)


@given(texts, texts)
def test_letters_that_stay_stand_for_themselves(source: str, new: str) -> None:
    changes = changes_between(source, new)
    shift = at = 0
    for change in (*changes, Change(len(source), len(source), "")):
        for letter in range(at, change.start):
            assert original_range(changes, letter + shift, letter + shift + 1)[0] == letter
        shift += len(change.text) - (change.end - change.start)
        at = change.end


def test_words_of_an_edit_stand_for_those_they_replaced() -> None:
    new = KETTLE.replace("ninety", "a hundred")
    start = new.index("a hundred degrees")
    first, last = original_range(changes_between(KETTLE, new), start, start + len("a hundred degrees"))
    assert KETTLE[first:last] == "ninety degrees"


def test_an_edit_lies_on_the_passage_that_says_the_same() -> None:
    layer = edit(KETTLE, KETTLE.replace("ninety", "a hundred"))
    passages = (Passage(1, WINDOW), Passage(2, KETTLE))
    found = reattach([layer], passages)
    assert said(found, *passages) == [WINDOW, layer.new_text]
    assert found.lost == ()


@pytest.mark.parametrize(
    "new",
    [
        KETTLE.replace("ninety", "a hundred"),
        f"{KETTLE} It is made of copper.",
        f"Listen. {KETTLE}",
        KETTLE.partition(" It whistles")[0],
        KETTLE.replace("boils", "cooks").replace("hot enough", "warm"),
    ],
)
@pytest.mark.parametrize("cut", ["together", "apart", "otherwise written"])
def test_an_edit_is_found_again_however_its_text_is_cut(new: str, cut: str) -> None:
    layer = edit(KETTLE, new, before=DOOR, after=WINDOW, at=0.5)
    passages: tuple[Passage, ...]
    if cut == "together":
        passages = (Passage(1, f"{DOOR}\n\n{KETTLE}\n\n{WINDOW}"),)
        expected = [f"{DOOR}\n\n{new}\n\n{WINDOW}"]
    elif cut == "otherwise written":
        passages = (Passage(1, f"{DOOR} {KETTLE.replace(' ', chr(10), 3)} {WINDOW}"),)
        expected = [f"{DOOR} {new} {WINDOW}"]
    else:
        first, second = KETTLE.split(" It whistles")
        passages = (Passage(1, f"{DOOR}\n\n{first}"), Passage(2, f"It whistles{second}\n\n{WINDOW}"))
        expected = [f"{DOOR}\n\n{new}\n\n{WINDOW}"]
    found = reattach([layer], passages)
    assert found.lost == ()
    assert "".join("".join(said(found, *passages)).split()) == "".join("".join(expected).split())


def test_a_change_over_the_border_of_two_passages_is_made_in_both() -> None:
    layer = edit(KETTLE, KETTLE.replace("degrees. It whistles", "degrees, and sings"))
    passages = (Passage(1, KETTLE[:35]), Passage(2, KETTLE[36:]))
    found = reattach([layer], passages)
    assert all("sings" in text for text in said(found, *passages))
    assert not any("whistles" in text for text in said(found, *passages))


def test_of_several_places_the_one_with_the_same_around_it_counts() -> None:
    layer = edit(KETTLE, KETTLE.replace("ninety", "a hundred"), before=DOOR, after=WINDOW)
    passages = (Passage(1, f"{WINDOW}\n{KETTLE}\n{DOOR}"), Passage(2, f"{DOOR}\n{KETTLE}\n{WINDOW}"))
    assert [one.key for one in reattach([layer], passages).attachments] == [2]


def test_an_edit_is_there_as_a_whole_or_lost_as_a_whole_and_says_why() -> None:
    new = KETTLE.replace("ninety", "a hundred").replace("whistles when the water", "sings when the coffee")
    layer = edit(KETTLE, new)
    (lost,) = reattach([layer], [Passage(1, WINDOW)]).lost
    assert lost.reason == "the text it changed does not stand in the file any more"
    found = reattach([layer], [Passage(1, "The kettle boils at ninety degrees. Nobody knows why.")])
    assert found.lost[0].reason == "2 of its 3 changes do not fit the file any more"
    assert found.attachments == ()


def test_what_was_taken_out_stays_out_when_it_is_cut_smaller_or_a_little_changed() -> None:
    text = f"{KETTLE} {WINDOW}"
    layer = Layer("l", LayerKind.DELETED, text)
    smaller = [Passage(1, DOOR), Passage(2, KETTLE), Passage(3, WINDOW)]
    assert [one.key for one in reattach([layer], smaller).attachments] == [2, 3]
    changed = [Passage(1, DOOR), Passage(2, f"{KETTLE} {WINDOW[:-4]} every morning.")]
    assert [one.key for one in reattach([layer], changed).attachments] == [2]


def test_what_was_taken_out_does_not_take_a_larger_passage_with_it() -> None:
    layer = Layer("l", LayerKind.DISABLED, KETTLE)
    found = reattach([layer], [Passage(1, f"{WINDOW} {DOOR} {KETTLE} {WINDOW}")])
    assert not found.attachments
    assert found.lost[0].reason == "most of its text does not stand in the file any more"


@given(st.lists(st.sampled_from([KETTLE, WINDOW, DOOR]), min_size=1, max_size=6), st.data())
def test_an_edit_is_never_in_a_text_twice_nor_dropped_unsaid(document: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(document) - 1))
    source = document[number]
    words_ = source.split()
    at = data.draw(st.integers(0, len(words_) - 1))
    new = " ".join([*words_[:at], "Quagga", *words_[at + 1 :]])
    layer = edit(source, new, before=" ".join(document[:number])[-200:], after=" ".join(document[number + 1 :])[:200])
    whole = Passage(1, " ".join(document))
    found = reattach([layer], [whole])
    assert "".join(said(found, whole)).count("Quagga") + len(found.lost) == 1


def test_a_file_that_says_one_thing_ever_on_is_searched_at_a_bounded_number_of_places() -> None:
    line = "thesamelinethatstandshereagain"
    assert len(list(_around(line * 5_000, line, len(line) * 2_500))) <= 400
    assert list(_around("abcabcabc", "abc", 4)) == [6, 3, 0]
    layer = edit(line, line.replace("same", "only"), before=line * 9, after=line * 9, at=0.5)
    document = [Passage(number, line) for number in range(5_000)]
    document[2_500] = Passage(2_500, f"{line} now")
    assert reattach([layer], document).attachments


def test_a_passage_that_is_written_anew_is_one_change_though_some_words_are_alike() -> None:
    new = "A wombat came by and asked for the water, which nobody had."
    (change,) = changes_between(KETTLE, new)
    assert applied(KETTLE, [change]) == new
    assert len(changes_between(KETTLE, KETTLE.replace("kettle", "pot").replace("enough", "at last"))) == 2
