from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from kb.domain.diffing import difference
from kb.domain.versions import own_sentence

lines = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=30)


@given(lines, lines)
def test_both_texts_can_be_read_off_their_difference(before: list[str], after: list[str]) -> None:
    found = difference(before, after, around=100)
    hunk = [line for hunk in found.hunks for line in hunk]
    if before == after:
        assert hunk == []
        return
    assert [line.text for line in hunk if line.before] == before
    assert [line.text for line in hunk if line.after] == after
    assert [line.before for line in hunk if line.before] == list(range(1, len(before) + 1))
    assert (found.added - found.removed, found.is_cut) == (len(after) - len(before), False)


def test_one_changed_line_stands_between_three_others_on_each_side() -> None:
    before = [str(number) for number in range(20)]
    after = ["ten" if line == "10" else line for line in before]
    (hunk,) = difference(before, after).hunks
    assert [(line.kind, line.text) for line in hunk[3:5]] == [("removed", "10"), ("added", "ten")]
    assert [line.text for line in hunk if line.kind == "same"] == ["7", "8", "9", "11", "12", "13"]


def test_more_than_can_be_shown_is_counted_and_said() -> None:
    found = difference([], [str(number) for number in range(5_000)], most_lines=100)
    assert (found.added, sum(map(len, found.hunks)), found.is_cut) == (5_000, 100, True)


def test_two_long_texts_without_order_are_compared_in_bounded_time() -> None:
    before = [str(number) for number in range(20_000)]
    after = random.Random(7).sample(before, len(before))
    begun = time.process_time()
    found = difference(before, ["x", "y"] * 5_000 + after)
    assert found.added >= 10_000
    assert time.process_time() - begun < 20


def test_the_sentence_asked_for_is_the_longest_and_bounded() -> None:
    assert own_sentence("Short. This one is longer! Mid one.") == "This one is longer"
    assert own_sentence("가나다. 라마바사아자차。猫叫") == "라마바사아자차"
    assert own_sentence("...\n!!!") == ""
    long = " ".join(["word"] * 100)
    assert len(own_sentence(long)) <= 60
    assert own_sentence(long).endswith("word")
