"""What `kb init` makes, keeps and replaces."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kb.app.config_file import Configuration, load_configuration
from kb.app.workspace_setup import FOLDERS, initialise
from kb.domain.errors import InvalidSettings


def home(folder: Path, **extra: str) -> Configuration:
    """The configuration of a home that may not exist."""
    return load_configuration({"KB_HOME": str(folder / "home"), **extra})


def actions(configuration: Configuration, *, force: bool = False) -> list[str]:
    """What was done to config file, data folder and workspace."""
    return [step.action for step in initialise(configuration, force=force).steps]


def test_everything_that_is_missing_is_made_once(tmp_path: Path) -> None:
    configuration = home(tmp_path)
    assert actions(configuration) == ["created", "created", "created"]
    assert {path.name for path in configuration.workspace.iterdir()} == {*FOLDERS, ".kbignore"}
    assert actions(configuration) == ["kept", "kept", "kept"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX modes")
def test_the_data_folder_is_private_and_the_workspace_is_as_others_are(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        configuration = home(tmp_path)
        actions(configuration)
    finally:
        os.umask(before)
    assert stat.S_IMODE(configuration.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(configuration.workspace.stat().st_mode) == 0o755


def test_a_folder_that_is_there_gets_nothing_put_into_it(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    configuration = home(tmp_path, KB_WORKSPACE_ROOT=str(tmp_path / "mine"))
    assert actions(configuration) == ["created", "created", "kept"]
    assert list((tmp_path / "mine").iterdir()) == []


def test_the_folder_of_the_environment_is_written_down_for_later(tmp_path: Path) -> None:
    actions(home(tmp_path, KB_WORKSPACE_ROOT=str(tmp_path / "mine")))
    assert home(tmp_path).workspace == tmp_path / "mine"


def test_force_keeps_the_settings_and_the_old_file_beside_the_new_one(tmp_path: Path) -> None:
    file = home(tmp_path).locations.config_file
    file.parent.mkdir(parents=True)
    file.write_text("[search]\ntop_k = 3\n", encoding="utf-8")
    assert actions(home(tmp_path))[0] == "kept"
    assert actions(home(tmp_path), force=True)[0] == "replaced"
    assert home(tmp_path).settings.search.top_k == 3
    assert file.with_name("config.toml.bak").read_text(encoding="utf-8") == "[search]\ntop_k = 3\n"
    assert {path.name for path in file.parent.iterdir()} == {"config.toml", "config.toml.bak"}


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    configuration = home(tmp_path, KB_WORKSPACE_ROOT=str(tmp_path / "file" / "notes"))
    with pytest.raises(InvalidSettings, match="cannot make notes: ") as caught:
        initialise(configuration, force=False)
    assert "workspace.root" in caught.value.hint
