"""Names of files in files climb nowhere, and no two are alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.adapters.parsers.shared.names import clean_name, numbered


@pytest.mark.parametrize(
    ("stored", "cleaned"),
    [
        ("a/b.txt", "a/b.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("..\\..\\win.ini", "win.ini"),
        ("C:\\Windows\\x.dll", "Windows/x.dll"),
        ("\\\\server\\share\\x", "server/share/x"),
        ("a.md::$DATA", "a.md__$DATA"),
        ("a/./b//c. ", "a/b/c"),
        ("a\0b", "a_b"),
        ("out!/in.txt", "out_/in.txt"),
        ("..\u2215up", ".._up"),
        ("", "unnamed"),
        ("..", "unnamed"),
        ("한글.txt", "한글.txt"),
    ],
)
def test_a_name_is_cleaned_of_everything_that_climbs(stored: str, cleaned: str) -> None:
    assert clean_name(stored) == cleaned


@given(st.text(max_size=80))
def test_a_cleaned_name_stays_below_its_folder_and_is_clean_already(name: str) -> None:
    cleaned = clean_name(name)
    parts = cleaned.split("/")
    assert all(part and part.strip(".") for part in parts)
    assert not cleaned.startswith("/")
    assert "\\" not in cleaned
    assert "!/" not in cleaned
    assert clean_name(cleaned) == cleaned


def test_a_very_long_name_keeps_its_suffix() -> None:
    assert clean_name("x" * 5000 + ".pdf").endswith("x.pdf")
    assert len(clean_name("x" * 5000 + ".pdf")) == 200


@given(st.lists(st.sampled_from(["a.txt", "A.txt", "a (2).txt", "b/a.txt", ".x", "noext"]), max_size=12))
def test_numbered_names_differ_and_the_first_keeps_its_own(names: list[str]) -> None:
    result = numbered(names)
    assert len({name.casefold() for name in result}) == len(names)
    assert result[:1] == names[:1]
