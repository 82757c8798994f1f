"""What doctor says of following the workspace."""

from __future__ import annotations

from kb.app.health.examination import following_checks
from kb.app.watching import Followed
from kb.domain.paths import WorkspacePath
from kb.ingest.removals import HeldBack


def test_files_that_wait_for_a_word_are_said_with_the_command_and_are_no_illness() -> None:
    held = HeldBack(112, 120, "many_missing", (WorkspacePath("a.md"),))
    (check,) = following_checks(Followed(watching=True, held_back=held))
    assert check.ok
    assert check.detail == "112 of 120 files are missing and still shown"
    assert "kb ingest --confirm-removals" in (check.hint or "")


def test_what_keeps_changes_from_being_told_is_said_and_nothing_else() -> None:
    (check,) = following_checks(Followed(watching=True, problem="this drive tells of no changes"))
    assert check.detail == "this drive tells of no changes"
    assert following_checks(Followed(watching=True)) == []
