"""Where the program keeps its things."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kb.app.locations import locate, readable


def test_kb_home_moves_everything_under_one_folder(tmp_path: Path) -> None:
    found = locate({"KB_HOME": str(tmp_path)})
    assert found.config_file == tmp_path / "config" / "config.toml"
    assert (found.data_dir, found.cache_dir, found.log_dir) == (
        tmp_path / "data",
        tmp_path / "cache",
        tmp_path / "logs",
    )
    assert found.default_workspace == tmp_path / "KnowledgeBase"


@pytest.mark.skipif(sys.platform != "linux", reason="the places of Linux")
def test_on_linux_the_places_are_those_of_the_frozen_design(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/h")
    found = locate({})
    assert [str(found.config_file), str(found.data_dir), str(found.cache_dir), str(found.log_dir)] == [
        "/h/.config/kb/config.toml",
        "/h/.local/share/kb",
        "/h/.cache/kb",
        "/h/.local/state/kb/logs",
    ]
    assert found.default_workspace == Path("/h/KnowledgeBase")


def test_models_that_came_with_the_program_are_found_wherever_the_home_is(tmp_path: Path) -> None:
    expected = Path(sys.prefix) / "share" / "kb" / "models"
    assert locate({"KB_HOME": str(tmp_path)}).bundled_models == expected


def test_a_path_below_the_home_folder_is_shown_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("USERPROFILE", "/h")
    assert readable(Path("/h/notes/a.md")) == str(Path("~/notes/a.md"))
    assert readable(Path("/elsewhere/a.md")) == str(Path("/elsewhere/a.md"))
