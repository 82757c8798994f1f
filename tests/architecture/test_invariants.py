"""`docs/invariants.md` names a test for every promise: each must exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "invariants.md"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def rows() -> list[tuple[str, str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = [re.match(r"\| (\d+) \| (.+) \|$", line) for line in lines]
    return [(match[1], match[2]) for match in found if match]


def test_every_invariant_from_1_to_40_has_a_row() -> None:
    assert [number for number, _ in rows()] == [str(number) for number in range(1, 41)]


@pytest.mark.parametrize(("number", "row"), rows(), ids=lambda value: value if value.isdigit() else "")
def test_an_invariant_names_tests_that_exist_or_says_why_it_has_none(number: str, row: str) -> None:
    named = _NAMED.findall(row)
    assert named or "no part of this program" in row, f"invariant {number} names no test"
    missing = [name for path, name in named if not (ROOT / path).exists() or name not in names_in(path)]
    assert missing == []
