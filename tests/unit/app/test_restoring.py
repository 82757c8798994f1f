from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kb.app.config_file import Configuration, load_configuration
from kb.app.restoring import restore_library, settle_configuration, with_root
from kb.domain.errors import InvalidInput, NotFound

THEIRS = """
[workspace]
root = "/nowhere/on/this/computer"

[storage]
data_dir = "/their/own/place"

[search]
top_k = 9
"""


@pytest.fixture
def here(tmp_path: Path) -> Configuration:
    return load_configuration({"KB_HOME": str(tmp_path / "home")})


def settled(here: Configuration) -> Configuration:
    return load_configuration({"KB_HOME": str(here.data_dir.parent)})


def test_settings_come_along_but_the_folders_of_the_other_computer_do_not(here: Configuration) -> None:
    settle_configuration(here, THEIRS, None)
    now = settled(here)
    assert now.settings.search.top_k == 9
    assert (now.data_dir, now.workspace) == (here.data_dir, here.workspace)


def test_a_workspace_that_is_here_too_is_taken_over(here: Configuration, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    settle_configuration(here, f'[workspace]\nroot = "{(tmp_path / "notes").as_posix()}"\n', None)
    assert settled(here).workspace == tmp_path / "notes"


def test_settings_that_are_here_stay(here: Configuration, tmp_path: Path) -> None:
    file = here.locations.config_file
    file.parent.mkdir(parents=True)
    file.write_text("# mine\n[search]\ntop_k = 3\n", encoding="utf-8")
    settle_configuration(here, THEIRS, None)
    assert file.read_text(encoding="utf-8") == "# mine\n[search]\ntop_k = 3\n"
    settle_configuration(here, THEIRS, tmp_path / "notes")
    now = settled(here)
    assert (now.workspace, now.settings.search.top_k) == (tmp_path / "notes", 3)
    assert file.read_text(encoding="utf-8").startswith("# mine\n")


@pytest.mark.parametrize("theirs", [None, "not [ toml", "[search]\ntop_k = 'many'\n"])
def test_without_settings_that_hold_none_are_written(here: Configuration, theirs: str | None) -> None:
    settle_configuration(here, theirs, None)
    assert not here.locations.config_file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[search]\ntop_k = 3\n",
        '[workspace]\nroot = "/old"\nexclude = ["a"]\n',
        '[workspace]\n# root = "~/KnowledgeBase"\nexclude = ["a"]\n[search]\ntop_k = 3\n',
        "[search]\ntop_k = 3\n[workspace] # where\n[storage]\nkept_versions = 2\n",
    ],
)
def test_the_workspace_is_set_and_all_else_stays(text: str, tmp_path: Path) -> None:
    before, after = tomllib.loads(text), tomllib.loads(with_root(text, tmp_path / 'a "b" \\c'))
    assert after.pop("workspace") == {**before.pop("workspace", {}), "root": str(tmp_path / 'a "b" \\c')}
    assert after == before


def test_a_workspace_that_does_not_exist_is_no_place_to_restore_to(here: Configuration, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        restore_library(here, "a.kbbackup", agreed=False, workspace=tmp_path / "none")


def test_a_backup_that_is_not_there_is_said_to_be_missing(here: Configuration) -> None:
    with pytest.raises(NotFound, match=r"no backup 'a\.kbbackup'"):
        restore_library(here, "a.kbbackup", agreed=False)
