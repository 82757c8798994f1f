"""A second ingest of a folder in which nothing changed looks at names and stats, and opens no file of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_FILES = 60
_AUDITED = """
import os, sys
names, opened = set(sys.argv[1].split("/")), []
def heard(event, arguments):
    # Files are opened by their bare name, in a folder held open.
    if event == "open" and not isinstance(arguments[0], int):
        name = os.path.basename(os.fsdecode(arguments[0]))
        if name in names:
            opened.append(name)
sys.addaudithook(heard)
sys.argv = ["kb", "ingest", "--summary-only"]
from kb.cli.main import main
try:
    main()
finally:
    sys.stderr.write("".join(f"opened {name}\\n" for name in opened))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    workspace = tmp_path / "workspace"
    for number in range(_FILES):
        file = workspace / f"part {number % 5}" / f"note {number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Note {number}\n\nThe heron stands in the river, 왜가리 {number}.\n", encoding="utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    return kept | {
        "KB_HOME": str(tmp_path / "home"),
        "KB_WORKSPACE_ROOT": str(workspace),
        "KB_MODELS_EMBEDDING_PROVIDER": "none",
    }


def test_an_unchanged_folder_is_ingested_again_without_opening_a_file(
    environment: dict[str, str], tmp_path: Path
) -> None:
    _kb(environment, "init")
    first = _opened(environment, tmp_path)
    again = _opened(environment, tmp_path)
    assert len(first) >= _FILES, "the first run shows that the measurement sees files being opened"
    assert again == []


def _kb(environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "kb.cli.main", *arguments]
    subprocess.run(command, env=environment, check=True, capture_output=True)


def _opened(environment: dict[str, str], tmp_path: Path) -> list[str]:
    """Run `kb ingest` and return the files of the workspace that it opened."""
    workspace = tmp_path / "workspace"
    strace = shutil.which("strace")
    log = tmp_path / "strace.txt"
    if strace and _can_trace(strace):
        command = [strace, "-f", "-y", "-qq", "-e", "trace=open,openat", "-o", str(log)]
        command += [sys.executable, "-m", "kb.cli.main", "ingest", "--summary-only"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        found = (re.search(r" = \d+<(.*)>$", line) for line in lines if "O_DIRECTORY" not in line)
        return [match[1] for match in found if match and match[1].startswith(f"{workspace}/")]
    names = "/".join(path.name for path in workspace.rglob("*.md"))
    command = [sys.executable, "-c", _AUDITED, names]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [line for line in run.stderr.splitlines() if line.startswith("opened ")]


def _can_trace(strace: str) -> bool:
    """Return whether this process may trace at all: containers often forbid it."""
    return subprocess.run([strace, "-qq", "true"], check=False, capture_output=True).returncode == 0
