"""Where settings come from, and what is said about wrong ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.app.config_file import expand, known_keys, load_configuration
from kb.app.settings import Settings
from kb.app.workspace_setup import config_text
from kb.domain.errors import InvalidSettings


def written(home: Path, text: str) -> dict[str, str]:
    """Write the config file of a home; return the environment that leads to it."""
    file = home / "config" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return {"KB_HOME": str(home)}


def test_without_a_file_everything_is_as_built_in(tmp_path: Path) -> None:
    found = load_configuration({"KB_HOME": str(tmp_path)})
    assert found.settings == Settings()
    assert (found.workspace, found.data_dir) == (tmp_path / "KnowledgeBase", tmp_path / "data")
    assert found.warnings == ()


def test_the_file_beats_the_defaults_and_the_environment_beats_the_file(tmp_path: Path) -> None:
    environment = written(tmp_path, "[search]\ntop_k = 3\nrrf_k = 10\n")
    found = load_configuration({**environment, "KB_SEARCH_TOP_K": "4"}).settings.search
    assert (found.top_k, found.rrf_k, found.snippet_chars) == (4, 10, 220)


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    found = load_configuration({"KB_HOME": str(tmp_path), "KB_WORKSPACE_ROOT": ""})
    assert found.workspace == tmp_path / "KnowledgeBase"


def test_a_list_in_the_environment_is_separated_like_a_path(tmp_path: Path) -> None:
    value = os.pathsep.join(["*.md", "*.txt"])
    found = load_configuration({"KB_HOME": str(tmp_path), "KB_WORKSPACE_INCLUDE": value})
    assert found.settings.workspace.include == ("*.md", "*.txt")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("[search]\ntopk = 1\n", "line 2: unknown key `search.topk`; did you mean `search.top_k`?"),
        ("[serach]\ntop_k = 1\n", "line 1: unknown key `serach`; did you mean `search`?"),
        ("zzz = 1\n", "line 1: unknown key `zzz`"),
    ],
)
def test_an_unknown_key_is_a_warning_with_line_and_nearest_key(tmp_path: Path, text: str, warning: str) -> None:
    (found,) = load_configuration(written(tmp_path, text)).warnings
    assert warning in found


def test_an_unknown_variable_of_ours_is_a_warning_too(tmp_path: Path) -> None:
    (found,) = load_configuration({"KB_HOME": str(tmp_path), "KB_SEARCH_TOPK": "3"}).warnings
    assert found == "environment: unknown variable `KB_SEARCH_TOPK`; did you mean `KB_SEARCH_TOP_K`?"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[search]\n# more\ntop_k = "many"\n', "config.toml line 3: `search.top_k`"),
        ("[chunking]\ntarget_characters = 400\noverlap_characters = 300\n", "config.toml line 1: `chunking`"),
        ("[models.llm]\ntemperature = 5\n", "config.toml line 2: `models.llm.temperature`"),
        ("search = 3\n", "config.toml line 1: `search`"),
    ],
)
def test_a_wrong_value_is_an_error_with_file_line_and_key(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_configuration(written(tmp_path, text))
    assert place in caught.value.message
    assert "docs/configuration.md" in caught.value.hint


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_configuration({"KB_HOME": str(tmp_path), "KB_SEARCH_TOP_K": "0"})
    assert "environment KB_SEARCH_TOP_K: `search.top_k`" in caught.value.message


@pytest.mark.parametrize("text", ["[search\n", "a = \n"])
def test_a_file_that_is_not_toml_says_so_unless_it_is_to_be_replaced(tmp_path: Path, text: str) -> None:
    environment = written(tmp_path, text)
    with pytest.raises(InvalidSettings, match="not valid TOML"):
        load_configuration(environment)
    assert load_configuration(environment, tolerant=True).settings == Settings()


def test_a_file_that_is_not_utf_8_says_so(tmp_path: Path) -> None:
    environment = written(tmp_path, "")
    (tmp_path / "config" / "config.toml").write_bytes("root = 'Äpfel'".encode("latin-1"))
    with pytest.raises(InvalidSettings, match="not UTF-8"):
        load_configuration(environment)


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("$HOME/notes", "/h/notes"),
        ("${KB_PLACE}/x", "/place/x"),
        ("${NOWHERE:-/else}/x", "/else/x"),
        ("plain", "plain"),
    ],
)
def test_paths_are_filled_in(value: str, expanded: str) -> None:
    assert expand(value, {"HOME": "/h", "KB_PLACE": "/place"}) == expanded


def test_a_path_with_a_variable_that_is_not_set_is_an_error() -> None:
    with pytest.raises(InvalidSettings, match=r"\$NOWHERE, which is not set"):
        expand("$NOWHERE/x", {})


def test_the_data_folder_of_the_platform_can_be_used_in_paths(tmp_path: Path) -> None:
    environment = written(tmp_path, '[storage]\ndata_dir = "{data_dir}/two"\n')
    assert load_configuration(environment).data_dir == tmp_path / "data" / "two"


def test_what_init_writes_is_read_back_as_the_same_settings(tmp_path: Path) -> None:
    changed = Settings.model_validate(
        {
            "workspace": {"root": 'C:\\notes "x"', "exclude": ["a/**"]},
            "search": {"top_k": 3, "fts_weight": 0.5},
            "storage": {"copy_originals": False},
        }
    )
    assert load_configuration(written(tmp_path, config_text(changed))).settings == changed


def test_the_file_that_init_writes_names_every_key_with_its_default() -> None:
    text = config_text(Settings())
    for key in known_keys():
        name = key.rpartition(".")[2]
        assert f"\n# {name} = " in text or f"\n{name} = " in text, key


def test_a_json_list_in_a_variable_is_refused_instead_of_hiding_every_file(tmp_path: Path) -> None:
    variables = {"KB_HOME": str(tmp_path), "KB_WORKSPACE_INCLUDE": '["s*.md"]'}
    with pytest.raises(InvalidSettings, match="KB_WORKSPACE_INCLUDE: not a list of globs"):
        load_configuration(variables)
