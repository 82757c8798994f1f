"""How an index that has not followed yet is judged."""

from __future__ import annotations

import pytest

from kb.app.health.projections import compared


@pytest.mark.parametrize(("name", "ok"), [("text", False), ("scan", False), ("chroma", True)])
def test_only_chroma_may_be_behind_in_a_sound_library(name: str, ok: bool) -> None:
    check = compared(name, 3, 9, 12, "12 vectors")
    assert check.ok is ok
    assert check.detail.startswith("behind by 6 changes")


@pytest.mark.parametrize("name", ["text", "scan", "chroma"])
def test_an_index_that_is_lost_is_never_sound(name: str) -> None:
    assert not compared(name, None, 9, 12, "12 vectors").ok
