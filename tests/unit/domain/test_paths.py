"""Workspace paths in their one stored form."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.errors import InvalidInput
from kb.domain.paths import workspace_path


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("a/b.md", "a/b.md"),
        ("./a/b.md", "a/b.md"),
        ("a//b.md", "a/b.md"),
        ("a/./b.md", "a/b.md"),
        ("a/b.md/", "a/b.md"),
        ("mail.eml!/report.pdf", "mail.eml!/report.pdf"),
        ("a\\b.md", "a\\b.md"),
        (unicodedata.normalize("NFD", "회의록.md"), "회의록.md"),
    ],
)
def test_a_path_is_stored_one_way(written: str, stored: str) -> None:
    assert workspace_path(written) == unicodedata.normalize("NFC", stored)


@pytest.mark.parametrize("text", ["", ".", "/", "/etc/passwd", "../a", "a/../../b", "C:/x", "c:\\x", "a\0b"])
def test_a_path_that_leaves_the_workspace_or_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        workspace_path(text)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_storing_a_stored_path_changes_nothing(text: str) -> None:
    try:
        once = workspace_path(text)
    except InvalidInput:
        return
    assert workspace_path(once) == once
