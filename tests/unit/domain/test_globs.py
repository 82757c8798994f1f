from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.globs import glob_pattern


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("notes/*.md", ["notes/a.md"], ["notes/b/a.md", "a.md", "notes/a.mdx"]),
        ("notes/**", ["notes/a.md", "notes/b/c.md"], ["other/a.md"]),
        ("**/*.md", ["a.md", "x/y/z.md"], ["a.txt"]),
        ("**", ["a", "a/b"], []),
        ("a/**/b.md", ["a/b.md", "a/x/y/b.md"], ["a/xb.md"]),
        ("?.md", ["a.md", "가.md"], ["ab.md", "/.md"]),
        ("[ab]*.md", ["a1.md", "b.md"], ["c.md"]),
        ("[!ab].md", ["c.md"], ["a.md", "/.md"]),
        ("[^ab].md", ["c.md"], ["b.md"]),
        ("[a-c].md", ["b.md"], ["d.md"]),
        ("x[]-].md", ["x].md", "x-.md"], ["xa.md"]),
        ("x[", ["x["], ["x"]),
        ("[z-a].md", ["[z-a].md"], ["z.md"]),
        ("a.b+c (1).md", ["a.b+c (1).md"], ["axb+c (1).md"]),
        ("A.md", ["A.md"], ["a.md"]),
        (r"a\b", [r"a\b"], ["ab"]),
    ],
)
def test_a_glob_means_one_thing(glob: str, yes: list[str], no: list[str]) -> None:
    pattern = glob_pattern(glob)
    assert [path for path in [*yes, *no] if pattern.match(path)] == yes


def test_a_glob_typed_in_parts_finds_the_stored_name() -> None:
    assert glob_pattern(unicodedata.normalize("NFD", "한글*")).match("한글.md")


@given(st.text("ab/*?[]!^-&~|\\.(){}+$\n", max_size=12), st.text("ab/-", max_size=8))
def test_any_text_is_a_glob(glob: str, path: str) -> None:
    glob_pattern(glob).match(path)


@given(st.text("abc/.-_ 가", max_size=20))
def test_a_path_without_wildcards_matches_itself_only(path: str) -> None:
    assert glob_pattern(path).match(path)
    assert not glob_pattern(path).match(path + "x")
