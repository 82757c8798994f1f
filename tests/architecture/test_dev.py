"""dev.py does each step once, shares what it built, and says how to repeat what failed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import dev
import pytest


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty clone with a cache of its own."""
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "STAMPS", tmp_path / "stamps.json")
    monkeypatch.setenv("KEBAB_DEV_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_a_step_is_remembered_by_the_content_of_its_inputs(clone: Path) -> None:
    lock = clone / "requirements.lock"
    lock.write_text("one")
    first = dev.digest(lock)
    dev.stamp("packages", first)
    dev.stamp("python", "3.11.7")
    assert dev.stamps() == {"packages": first, "python": "3.11.7"}
    lock.write_text("two")
    assert dev.digest(lock) != first


def test_packages_are_installed_once(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(dev, "call", lambda command, _why: calls.append(command))
    (clone / "requirements.lock").write_text("a==1 \\\n    --hash=sha256:0\n")
    dev.packages()
    dev.packages()
    assert len(calls) == 1
    assert "--require-hashes" in calls[0]


def test_a_damaged_list_of_stamps_means_that_nothing_is_set_up(clone: Path) -> None:
    (clone / "stamps.json").write_text("{")
    assert dev.stamps() == {}


def test_files_from_the_cache_are_linked_and_replace_what_was_there(clone: Path) -> None:
    made, target = clone / "cache" / "models", clone / "models"
    (made / "small").mkdir(parents=True)
    (made / "small" / "model.onnx").write_bytes(b"weights")
    (made / "complete").touch()
    target.mkdir()
    (target / "old").touch()
    dev.link_tree(made, target)
    assert [path.name for path in target.iterdir()] == ["small"]
    assert (target / "small" / "model.onnx").samefile(made / "small" / "model.onnx")


def test_where_links_cannot_be_made_files_are_copied(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_paths: str) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    (clone / "made").mkdir()
    (clone / "made" / "model.gguf").write_bytes(b"weights")
    dev.link_tree(clone / "made", clone / "models")
    assert (clone / "models" / "model.gguf").read_bytes() == b"weights"


def test_a_step_that_fails_says_how_to_repeat_it(clone: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit(3)", str(clone / "tests" / "a file")]
    with pytest.raises(dev.Stop, match=r"types failed \(3\)") as stopped:
        dev.call(command, "types")
    assert str(stopped.value).endswith("'raise SystemExit(3)' 'tests/a file'")


def test_an_unknown_flag_is_refused_where_nothing_takes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dev.py", "run", "--onec"])
    with pytest.raises(SystemExit):
        dev.main()
    assert "unknown: --onec" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="on Windows CMake finds the compiler by itself")
def test_missing_build_tools_are_named_to_someone_who_may_not_install_them(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert dev.build_llama(clone / "llama") is False
    assert "apt-get install build-essential cmake ninja-build" in capsys.readouterr().out
