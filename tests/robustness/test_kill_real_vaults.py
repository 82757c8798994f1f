"""Fifty times kill -9 of a real ingest over real notes and PDFs: the end is that of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.homes import ROOT, Home, command, needs_embedder

SHARED = Path(os.environ.get("KEBAB_SHARED") or ROOT.parent / "shared") / "data"
FOLDERS = ("vault-en", "vault-ko", "vault-zh", "pdf")
KILLS = 50
_START_S = 1.5

pytestmark = [
    pytest.mark.torture,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL"),
    pytest.mark.skipif(not all((SHARED / name).is_dir() for name in FOLDERS), reason="needs the shared data"),
    needs_embedder,
]

QUERIES = (
    "how does the system start",
    "table of results",
    "who is responsible for it",
    "annotation with a link",
    "page one of the manual",
    "서비스를 시작하는 방법",
    "한국의 역사",
    "회의에서 정한 것",
    "数据库的设计",
    "怎样安装",
    "会议记录",
    "2019",
)


def observed(home: Home) -> dict[str, Any]:
    """Return everything that can be seen of a library, and its rows."""
    environment = {**home.environment, "PYTHONPATH": os.pathsep.join([str(ROOT / "backend"), str(ROOT)])}
    seen = subprocess.run(
        [sys.executable, "-m", "tests.robustness.observing", *QUERIES],
        env=environment,
        cwd=home.folder,
        capture_output=True,
        check=True,
    )
    return dict(json.loads(seen.stdout))


def killed(home: Home, seconds: float) -> bool:
    """Start an ingest and kill it after a while; return whether it was still at work."""
    with subprocess.Popen(
        command("ingest"), env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
        return False


def home_of(folder: Path, workspace: Path) -> Home:
    settings = {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed", "KB_WORKSPACE_ROOT": str(workspace)}
    folder.mkdir()
    home = Home(folder, settings)
    home.ok("init")
    return home


def finish(home: Home) -> float:
    """Let an ingest finish, however long it takes; return the seconds."""
    began = time.monotonic()
    done = subprocess.run(command("ingest"), env=home.environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return time.monotonic() - began


def test_50_kills_end_where_an_undisturbed_ingest_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = tmp_path / "workspace"
    for name in FOLDERS:
        shutil.copytree(SHARED / name, workspace / name)
    calm = home_of(tmp_path / "calm", workspace)
    seconds = finish(calm)
    expected = observed(calm)
    assert expected["problems"] == []
    chance = random.Random(50)
    libraries = kills = 0
    while kills < KILLS:
        home = home_of(tmp_path / f"killed-{libraries}", workspace)
        libraries += 1
        while kills < KILLS:
            if not killed(home, chance.uniform(0.3, _START_S + 2 * seconds / KILLS)):
                break
            kills += 1
        finish(home)
        seen = observed(home)
        for part in ("problems", "documents", "rows", "searches"):
            assert seen[part] == expected[part], (libraries, kills, part)
        shutil.rmtree(home.folder)
    with capsys.disabled():
        passages = sum(len(chunks) for chunks in expected["documents"].values())
        print(f"\n{kills} kills in {libraries} ingests of {len(expected['documents'])} documents, {passages} passages,")
        print(f"{seconds:.0f} s each undisturbed: 0 losses, all {len(expected['searches'])} searches equal")
