"""Changes as they are told, until they are over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.ingest.following import AT_MOST_S, BURST_EVENTS, BURST_PATHS, QUIET_S, Debouncer, Due, lies_in, outermost


def test_a_path_is_due_once_it_is_quiet() -> None:
    debouncer = Debouncer()
    debouncer.changed(["a.md"], 10.0)
    assert debouncer.due(10.0 + QUIET_S / 2) is None
    assert debouncer.next_at() == 10.0 + QUIET_S
    assert debouncer.due(10.0 + QUIET_S) == Due(("a.md",))
    assert debouncer.due(20.0) is None
    assert debouncer.next_at() is None


def test_a_path_that_never_rests_is_due_after_a_while_all_the_same() -> None:
    debouncer = Debouncer()
    asked = [at / 10 for at in range(40)]
    due = None
    for at in asked:
        debouncer.changed(["log.txt"], at)
        due = debouncer.due(at)
        if due:
            assert at >= AT_MOST_S
            break
    assert due == Due(("log.txt",))


def test_what_lies_in_a_changed_folder_comes_with_it() -> None:
    debouncer = Debouncer()
    debouncer.changed(["in/b.md", "in", "in/deep/c.md", "inn.md"], 0.0)
    assert debouncer.due(1.0) == Due(("in", "inn.md"))


def test_a_burst_of_ten_thousand_events_is_one_comparison_of_everything() -> None:
    debouncer = Debouncer()
    for number in range(10_000):
        debouncer.changed([f"notes/{number}.md"], number / 100_000)
    assert debouncer.waiting() == 1
    assert debouncer.due(0.2) is None
    assert debouncer.due(1.0) == Due(("notes/9999.md",), everything=True)
    assert debouncer.due(9.0) is None


def test_a_note_saved_in_the_middle_of_a_burst_is_named() -> None:
    debouncer = Debouncer()
    for number in range(3000):
        debouncer.changed([f"copied/{number // 1000}/{number}.md"], number / 10_000)
        if number == 1500:
            debouncer.changed(["diary/today.md"], number / 10_000)
    due = debouncer.due(1.0)
    assert due == Due(("copied/2/2999.md", "copied/1/1999.md", "diary/today.md", "copied/0/999.md"), everything=True)


def test_of_a_burst_over_very_many_folders_the_newest_are_named() -> None:
    debouncer = Debouncer()
    for number in range(3000):
        debouncer.changed([f"{number}/a.md"], 0.0)
    due = debouncer.due(1.0)
    assert due is not None
    assert (len(due.paths), due.paths[0]) == (50, "2999/a.md")


def test_the_newest_changes_come_first() -> None:
    debouncer = Debouncer()
    debouncer.changed(["a.md"], 0.0)
    debouncer.changed(["b.md"], 0.1)
    assert debouncer.due(1.0) == Due(("b.md", "a.md"))


def test_as_many_paths_as_a_burst_has_are_still_read_one_by_one() -> None:
    debouncer = Debouncer()
    paths = [f"{number:03}.md" for number in range(BURST_PATHS)]
    debouncer.changed(paths, 0.0)
    assert debouncer.due(1.0) == Due(tuple(paths))


def test_very_many_events_of_one_path_are_taken_for_a_queue_that_may_have_run_over() -> None:
    debouncer = Debouncer()
    for _ in range(BURST_EVENTS + 1):
        debouncer.changed(["a.md"], 0.0)
    assert debouncer.due(1.0) == Due(("a.md",), everything=True)


def test_events_are_counted_anew_after_a_rest() -> None:
    debouncer = Debouncer()
    for round_ in range(4):
        for _ in range(BURST_EVENTS // 2):
            debouncer.changed(["a.md"], round_ * 10.0)
        assert debouncer.due(round_ * 10.0 + 1) == Due(("a.md",))


def test_lost_changes_are_a_comparison_of_everything() -> None:
    debouncer = Debouncer()
    debouncer.changed(["a.md"], 0.0)
    debouncer.lost(0.1)
    assert debouncer.due(1.0) == Due(("a.md",), everything=True)


@given(st.lists(st.sampled_from(["a", "a/b", "a/b/c.md", "ab", "mail.eml", "mail.eml!/x.pdf", "d/e"]), max_size=8))
def test_outermost_paths_cover_all_and_none_lies_in_another(paths: list[str]) -> None:
    kept = outermost(paths)
    assert all(lies_in(set(kept), path) for path in paths)
    assert not any(lies_in(set(kept) - {path}, path) for path in kept)


def test_a_file_inside_a_file_lies_in_it() -> None:
    assert lies_in({"mail.eml"}, "mail.eml!/report.pdf")
    assert lies_in({"x"}, "x/mail.eml!/report.pdf")
    assert not lies_in({"mail"}, "mail.eml!/report.pdf")
    assert not lies_in({"a"}, "ab.md")
