"""What a full ingest writes, against what it leaves: at most five times as much."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.homes import ROOT, Home
from tests.robustness.fault_shim import Control, build, needs_shim
from tests.robustness.fork_server import ForkServer

pytestmark = [needs_shim, pytest.mark.slow]

MOST = 5.0
SHARED = Path(os.environ.get("KEBAB_SHARED") or ROOT.parent / "shared") / "data"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    folder = tmp_path_factory.mktemp("server")
    server = ForkServer(folder, build(folder))
    yield server
    server.close()


def measured(server: ForkServer, folder: Path, workspace: Path) -> tuple[int, int, Counter[str]]:
    """Ingest everything; return the bytes written, the bytes on disk then, and the bytes written by part."""
    settings = {
        "KB_MODELS_EMBEDDING_PROVIDER": "fastembed",
        "KB_MODELS_EMBEDDING_MODEL": str(workspace),
        "KB_WORKSPACE_ROOT": str(workspace),
    }
    home = Home(folder, settings)
    assert server.kb("init", environment=home.environment).code == 0
    control = Control(folder / "control", [home.data])
    ended = server.kb("ingest", environment=home.environment, control=control, seconds=600)
    assert ended.code == 0, ended
    parts: Counter[str] = Counter()
    for call in control.calls():
        if call.bytes:
            parts[Path(call.path).relative_to(home.data).parts[0]] += call.bytes
    left = sum(file.stat().st_size for file in home.data.rglob("*") if file.is_file())
    return control.bytes, left, parts


def test_an_ingest_of_many_notes_writes_at_most_five_times_what_it_leaves(server: ForkServer, tmp_path: Path) -> None:
    workspace = tmp_path / "notes"
    workspace.mkdir()
    for note in range(150):
        text = "\n\n".join(f"## Part {note} {n}\n\n" + f"Words of {note} and {n}, {note * n}. " * 40 for n in range(6))
        (workspace / f"{note:03}.md").write_text(f"# Note {note}\n\n{text}\n", encoding="utf-8")
    written, left, parts = measured(server, tmp_path, workspace)
    assert left > 1 << 20
    assert written <= MOST * left, (written, left, parts)


@pytest.mark.torture
@pytest.mark.timeout(900)
@pytest.mark.skipif(not (SHARED / "vault-en").is_dir(), reason="needs the shared data")
def test_an_ingest_of_real_notes_writes_at_most_five_times_what_it_leaves(
    server: ForkServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = tmp_path / "notes"
    for name in ("vault-en", "vault-ko", "vault-zh"):
        shutil.copytree(SHARED / name, workspace / name)
    written, left, parts = measured(server, tmp_path, workspace)
    with capsys.disabled():
        print(f"\n{written / 1e6:.1f} MB written for {left / 1e6:.1f} MB left: {written / left:.2f} times; by part")
        print(", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in parts.most_common(6)))
    assert written <= MOST * left
