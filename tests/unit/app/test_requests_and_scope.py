"""What people type, as requests and workspace paths."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from kb.app.labels import citation_label
from kb.app.requests import known_types, one_query, request_of
from kb.app.scope import workspace_paths
from kb.contract.search import FindRequest
from kb.domain.errors import InvalidInput, NotFound


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"query": "x", "top_k": 0}, "top_k must be greater than or equal to 1"),
        ({"query": "x", "mode": "fuzzy"}, "mode must be 'lexical', 'vector' or 'hybrid'"),
        ({"query": "x" * 4001}, "query must have at most 4000 characters"),
        ({"query": "x", "nonsense": 1}, "nonsense extra inputs are not permitted"),
    ],
)
def test_a_wrong_value_is_named_with_its_range(values: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        request_of(FindRequest, **values)
    assert caught.value.message == said


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("pfd", "did you mean pdf?"), ("Note", "did you mean note?"), ("zzzzz", "types are archive, audio,")],
)
def test_a_type_that_does_not_exist_is_no_filter(kind: str, hint: str) -> None:
    assert known_types(["office", "pdf", "paper"]) == ("office", "pdf", "paper")
    with pytest.raises(InvalidInput, match=f"there is no type '{kind}'") as caught:
        known_types(["pdf", kind])
    assert caught.value.hint.startswith(hint)


def test_words_of_a_command_line_become_one_query() -> None:
    assert one_query(["왜", "무선"], "query") == "왜 무선"


@pytest.mark.parametrize("words", [None, [], ["", " "]])
def test_no_words_are_an_error_that_says_what_to_write(words: list[str] | None) -> None:
    with pytest.raises(InvalidInput, match="the question is empty"):
        one_query(words, "question")


def test_a_citation_is_shown_with_its_letters_readable() -> None:
    assert citation_label("notes/%EB%A9%94%EB%AA%A8%20%231.md#L3-L4") == "notes/메모 #1.md#L3-L4"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one note."""
    folder = tmp_path / "kb"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.md").write_text("A", encoding="utf-8")
    return folder


def test_a_path_may_be_absolute_or_count_from_here_or_from_the_workspace(root: Path, tmp_path: Path) -> None:
    for given, here in (
        (root / "notes" / "a.md", tmp_path),
        (Path("a.md"), root / "notes"),
        (Path("notes/a.md"), root),
        (Path("notes/a.md"), tmp_path),
        (Path("../notes/a.md"), root / "notes"),
    ):
        assert workspace_paths(root, [given], here) == ("notes/a.md",)


def test_the_workspace_itself_means_everything(root: Path, tmp_path: Path) -> None:
    assert workspace_paths(root, [Path("notes"), root], tmp_path) == ()
    assert workspace_paths(root, [Path()], root) == ()


def test_a_path_outside_is_refused_and_one_that_is_not_there_is_not_found(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("B", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"'other\.md' is not in the workspace"):
        workspace_paths(root, [tmp_path / "other.md"], tmp_path)
    with pytest.raises(NotFound, match=r"'notes/b\.md' does not exist"):
        workspace_paths(root, [Path("notes/b.md")], root)


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_inside_is_named_as_itself_and_one_way_in_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (root / "link.md").symlink_to("notes/a.md")
    assert workspace_paths(root, [root / "link.md"], tmp_path) == ("link.md",)
    (tmp_path / "alias").symlink_to(root)
    assert workspace_paths(tmp_path / "alias", [root / "notes" / "a.md"], tmp_path) == ("notes/a.md",)


@pytest.mark.skipif(os.name == "nt", reason="needs names as the disk spells them")
def test_a_decomposed_name_is_the_composed_path(root: Path) -> None:
    name = unicodedata.normalize("NFD", "메모.md")
    (root / name).write_text("C", encoding="utf-8")
    assert workspace_paths(root, [Path(name)], root) == ("메모.md",)
