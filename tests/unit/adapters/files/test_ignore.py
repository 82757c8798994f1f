"""Our reading of `.kbignore` is git's: checked against git itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.adapters.files.ignore import EntryFilter, compile_runs
from kb.adapters.files.workspace import WorkspaceFiles
from kb.domain.errors import InvalidSettings
from tests.unit.adapters.files.helpers import put, scan

TREE = ("a.md", "b.txt", "a/a.md", "a/b/c.md", "a/b/b.txt", "b/a.md", "b/x.md/c.md", "c/d/e/a.md", "x.md")
PATTERNS = (
    *("a", "a/", "/a", "*.md", "!*.md", "a/*", "a/**", "**/a", "a/b", "!a/b/", "!a/b/c.md", "*/", "!*/", "*", "**"),
    *("b/**/c.md", "[ab].*", "?.md", "!x.md", "x.md/", "/*.txt", "a/*/c.md", "#a", "\\#a", "", "c/d", "!c/d/e", "e"),
    *("**/b/**", "!a", "*.txt ", "b.txt"),
)
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for path in TREE:
        put(root, path)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@needs_git
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(st.sampled_from(PATTERNS), max_size=5))
def test_what_git_ignores_is_ignored_and_nothing_else(tree: Path, patterns: list[str]) -> None:
    text = "\n".join(patterns) + "\n"
    (tree / ".kbignore").write_text(text)
    (tree / ".git/info/exclude").write_text(text)
    git = ["git", "-C", str(tree), "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split("\0")
    kept = {path for path in listed if path and path != ".kbignore"}
    assert set(scan(WorkspaceFiles(tree))[0]) == kept


@pytest.mark.parametrize("pattern", ["***[", "[z-a]", "a\\", "!", "[[:foo:]]"])
def test_a_line_that_is_no_pattern_is_passed_over(pattern: str) -> None:
    keeps = EntryFilter(f"{pattern}\nb.md\n", (), ())
    assert not keeps.keeps_file("b.md", "b.md")
    assert keeps.keeps_file("a.md", "a.md")


@pytest.mark.parametrize("pattern", ["", "!", "[z-a]", "a["])
def test_a_setting_that_is_no_pattern_names_the_setting(pattern: str) -> None:
    with pytest.raises(InvalidSettings, match=r"workspace\.exclude: .* is not a pattern"):
        EntryFilter("", (), (pattern,))


def test_a_path_is_reached_only_through_folders_that_are_entered() -> None:
    keeps = EntryFilter("drafts/\n", (), ())
    assert keeps.keeps_path("notes/a.md")
    assert not keeps.keeps_path("drafts/a.md")
    assert keeps.enters("")
    assert not keeps.enters("notes/drafts/deep")


def test_names_and_suffixes_need_no_expression() -> None:
    (run,) = compile_runs(["drafts/", "*.log", "todo.md"])
    assert run.rest is None
    assert run.matches_folder("drafts", "a/drafts")
    assert not run.matches_file("drafts", "a/drafts")
    assert run.matches_file("x.log", "x.log")
    assert run.matches_file("todo.md", "a/todo.md")
