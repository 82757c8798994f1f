"""How a command reaches the library: a server that runs, the library itself, or a clear no."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from kb.app import gateway
from kb.app.config_file import Configuration, load_configuration
from kb.app.gateway import announce, examine, open_library, open_own_library
from kb.app.quiet import keep_libraries_quiet
from kb.app.workspace_setup import initialise
from kb.contract.base import Empty
from kb.domain.errors import NotFound
from kb.domain.failures import Busy


def environment(home: Path) -> Mapping[str, str]:
    """A home without an embedding model."""
    return {"KB_HOME": str(home), "KB_MODELS_EMBEDDING_PROVIDER": "none", "KB_SEARCH_VECTOR_ENGINE": "scan"}


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    """The configuration of a home that `kb init` has made."""
    for name, value in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    found = load_configuration()
    initialise(found, force=False)
    with open_library(found, owner="kb init", creates=True):
        pass
    return found


def failed(name: str) -> tuple[str, str]:
    """Detail and hint of the one check that failed, which must be `name`."""
    report = examine()
    (bad,) = [check for check in report.checks if not check.ok]
    assert (report.ok, bad.name) == (False, name)
    return bad.detail, bad.hint or ""


def test_a_library_that_was_never_made_is_not_found(tmp_path: Path) -> None:
    absent = load_configuration(environment(tmp_path))
    with pytest.raises(NotFound, match="no library yet"), open_library(absent, owner="kb search"):
        pass
    assert not absent.data_dir.exists()


def test_who_holds_the_library_is_named_to_the_next(
    configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "_WAIT_S", 0.0)
    monkeypatch.setattr(gateway, "_LOOK_AGAIN_S", 0.0)
    told: list[str] = []
    with open_own_library(configuration, owner="kb ingest"):
        with pytest.raises(Busy) as caught, open_library(configuration, owner="kb search", on_wait=told.append):
            pass
        assert caught.value.message == f"`kb ingest` (process {os.getpid()}) holds the library"
        assert told in ([], [f"waiting: {caught.value.message}"])
    with open_library(configuration, owner="kb search"):
        pass


def test_word_of_a_server_is_for_the_owner_alone_and_replaces_what_was_left(configuration: Configuration) -> None:
    left = configuration.data_dir / "server.json.new"
    left.write_text("left by a crash", encoding="utf-8")
    left.chmod(0o644)
    announce(configuration, "http://127.0.0.1:1", "secret")
    file = configuration.data_dir / "server.json"
    assert json.loads(file.read_text(encoding="utf-8")) == {"url": "http://127.0.0.1:1", "token": "secret"}
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("left", ["", "{}", '{"url": "http://127.0.0.1:9", "token": "old"}', "[1, 2]"])
def test_word_of_a_server_that_is_gone_is_ignored(configuration: Configuration, left: str) -> None:
    (configuration.data_dir / "server.json").write_text(left, encoding="utf-8")
    with open_library(configuration, owner="kb search") as facade:
        assert facade.system.health(Empty()).status == "ok"


def test_what_is_written_while_the_library_is_open_is_private_and_the_mask_comes_back(
    configuration: Configuration,
) -> None:
    before = os.umask(0o022)
    try:
        with open_own_library(configuration, owner="kb ingest"):
            (configuration.data_dir / "new").write_text("x", encoding="utf-8")
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    if os.name == "posix":
        assert stat.S_IMODE((configuration.data_dir / "new").stat().st_mode) == 0o600


@pytest.mark.usefixtures("configuration")
def test_a_healthy_library_passes_every_check() -> None:
    report = examine()
    assert report.ok
    names = ["config_loaded", "data_dir_writable", "disk_space", "file_system", "sqlite_open", "text_index_open"]
    assert [check.name for check in report.checks][: len(names)] == names
    assert next(check for check in report.checks if check.name == "vector_index_open").detail.startswith("none")


def test_doctor_names_a_broken_configuration(configuration: Configuration) -> None:
    configuration.locations.config_file.write_text("[search\n", encoding="utf-8")
    detail, hint = failed("config_loaded")
    assert "is not valid TOML" in detail
    assert "kb init --force" in hint


def test_doctor_names_a_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    report = examine()
    assert [(check.name, check.ok) for check in report.checks] == [
        ("config_loaded", True),
        ("data_dir_writable", False),
        ("sqlite_open", False),
    ]
    assert {check.hint for check in report.checks if not check.ok} == {"run `kb init`", "run `kb init` first"}


def test_doctor_names_a_library_file_that_is_none(configuration: Configuration) -> None:
    (configuration.data_dir / "kb.sqlite").write_bytes(b"this is no database " * 400)
    detail, hint = failed("sqlite_open")
    assert detail
    assert hint


def test_doctor_names_who_holds_the_library(configuration: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "_WAIT_S", 0.0)
    monkeypatch.setattr(gateway, "_LOOK_AGAIN_S", 0.0)
    with open_own_library(configuration, owner="kb ingest"):
        detail, _ = failed("sqlite_open")
    assert "`kb ingest`" in detail


@pytest.mark.usefixtures("configuration")
def test_doctor_names_a_missing_embedding_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "fastembed")
    monkeypatch.setenv("KB_MODELS_EMBEDDING_MODEL", "nowhere")
    detail, hint = failed("embedding_model")
    assert detail == "the embedding model 'nowhere' is not installed"
    assert "dev.py setup" in hint


@pytest.mark.usefixtures("configuration")
def test_a_missing_language_model_is_said_but_is_not_unhealthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MODELS_LLM_PROVIDER", "llama_cpp")
    report = examine()
    check = report.checks[-1]
    assert (report.ok, check.name, check.detail) == (True, "llm_model", "no language model is chosen")


def test_libraries_are_told_not_to_report_before_they_are_imported() -> None:
    script = (
        "import sys\n"
        "from kb.app.gateway import keep_libraries_quiet\n"
        "keep_libraries_quiet()\n"
        "import os\n"
        "print(os.environ['ORT_DISABLE_TELEMETRY'], os.environ['ANONYMIZED_TELEMETRY'],"
        " {'onnxruntime', 'chromadb', 'fastembed'} & set(sys.modules))\n"
    )
    loud = {name: value for name, value in os.environ.items() if "TELEMETRY" not in name}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**loud, "ANONYMIZED_TELEMETRY": "True"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1 False set()\n"
    keep_libraries_quiet()
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_what_a_kill_left_to_remove_is_removed_when_the_library_is_opened(configuration: Configuration) -> None:
    data = configuration.data_dir
    copy = data / "assets" / "ab" / ("ab" * 16)
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"what the library no longer holds")
    with contextlib.closing(sqlite3.connect(data / "kb.sqlite")) as library, library:
        library.execute(
            "INSERT INTO removals (kind, name, created_at) VALUES ('asset', ?, '2026-01-01')",
            (copy.relative_to(data).as_posix(),),
        )
    with open_library(configuration, owner="kb list"):
        assert not copy.exists()
    with contextlib.closing(sqlite3.connect(data / "kb.sqlite")) as library:
        assert library.execute("SELECT count(*) FROM removals").fetchall() == [(0,)]
