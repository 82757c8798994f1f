"""The process that makes renditions: whole, quiet, and deaf to what lies in the folder it is started from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kb.adapters.workers.process import child_environment
from kb.app.renditions import CachedRenditions, rendition_command
from tests.unit.adapters.speech.sounds import tone, wav


def test_the_command_makes_one_in_a_process_of_its_own(tmp_path: Path) -> None:
    source, target = tmp_path / "a.wav", tmp_path / "a.opus"
    source.write_bytes(wav(tone(0.9)))
    backend = Path(__file__).resolve().parents[3] / "backend"
    done = subprocess.run(
        rendition_command(source, target),
        env={**os.environ, "PYTHONPATH": str(backend)},
        check=True,
        capture_output=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert target.read_bytes().startswith(b"OggS")


def test_modules_in_the_current_folder_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("av", "numpy"):
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w').close()")
    (here / "a.wav").write_bytes(wav(tone(0.9)))
    monkeypatch.chdir(here)
    made = CachedRenditions(tmp_path / "cache", child_environment)(Path("a.wav").resolve(), "a" * 64)
    assert made.read_bytes().startswith(b"OggS")
    assert not (tmp_path / "run").exists()


def test_the_child_knows_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CAPTION_KEY", "one")
    monkeypatch.setenv("CLOUD_TOKEN", "two")
    (tmp_path / "a.wav").write_bytes(b"sound")
    script = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text('|'.join(os.environ))"
    make = CachedRenditions(
        tmp_path / "cache", child_environment, command=lambda _, target: [sys.executable, "-c", script, str(target)]
    )
    names = make(tmp_path / "a.wav", "a" * 64).read_text().split("|")
    assert {"KB_CAPTION_KEY", "CLOUD_TOKEN"}.isdisjoint(names)
    assert "PYTHONPATH" in names
