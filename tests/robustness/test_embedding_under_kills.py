"""Kills while passages are embedded: no kill costs more than one batch of vectors."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.homes import Home
from tests.robustness.fault_shim import Call, Control, Mode, build, needs_shim
from tests.robustness.fork_server import EMBEDS_VARIABLE, ForkServer

pytestmark = [needs_shim, pytest.mark.slow, pytest.mark.timeout(900)]

PASSAGES = 400
_BATCH = 64  # vectors that are saved in one transaction
# What the threads have in hand, and as much that is made while a batch is being saved: two passages each.
_IN_HAND = 2 * (os.cpu_count() or 1)


class Library:
    """A new library over four hundred passages."""

    def __init__(self, folder: Path, server: ForkServer, workspace: Path) -> None:
        settings = {
            "KB_MODELS_EMBEDDING_PROVIDER": "fastembed",
            "KB_MODELS_EMBEDDING_MODEL": str(workspace),
            "KB_WORKSPACE_ROOT": str(workspace),
            EMBEDS_VARIABLE: str(folder / "embeds"),
        }
        folder.mkdir()
        self.server = server
        self.home = Home(folder, settings)
        assert server.kb("init", environment=self.home.environment).code == 0

    def ingest(self, nth: int = 0) -> tuple[int | None, list[Call], bool]:
        """Run an ingest that is killed at the n-th call, if any; return how it ended, its calls, whether it was."""
        mode = Mode.KILL_BEFORE if nth else Mode.OFF
        control = Control(self.home.folder / "control", [self.home.data], nth=nth, mode=mode)
        ended = self.server.kb("ingest", environment=self.home.environment, control=control)
        return ended.code, control.calls(), control.fired

    @property
    def embedded(self) -> int:
        file = self.home.folder / "embeds"
        return file.stat().st_size if file.exists() else 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    folder = tmp_path_factory.mktemp("server")
    server = ForkServer(folder, build(folder))
    yield server
    server.close()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    for note in range(PASSAGES // 20):
        parts = "\n\n".join(f"## Part {note} {part}\n\n" + f"Words of {note} and {part}. " * 30 for part in range(20))
        (folder / f"{note:02}.md").write_text(f"# Note {note}\n\n{parts}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=pytest.mark.torture)])
def test_a_kill_repeats_at_most_one_batch_of_embedding(
    server: ForkServer, workspace: Path, tmp_path: Path, kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    calm = Library(tmp_path / "calm", server, workspace)
    _, calls, _ = calm.ingest()
    texts = calm.embedded
    assert texts >= PASSAGES
    # The flushes after the last commit of the text index are those of vectors.
    last_text = max(call.number for call in calls if "/tantivy/" in call.path)
    numbers = [call.number for call in calls if call.number > last_text and call.path.endswith("kb.sqlite-wal")]
    assert sum(call.operation == "fsync" for call in calls if call.number in set(numbers)) >= texts // _BATCH
    most = 0
    for number, nth in enumerate(random.Random(kills).sample(numbers, kills)):
        library = Library(tmp_path / f"killed-{number}", server, workspace)
        code, _, fired = library.ingest(nth)
        assert (code, fired) == (-9, True), nth
        assert library.ingest()[0] == 0
        repeated = library.embedded - texts
        assert repeated <= _BATCH + 2 * _IN_HAND, (nth, repeated)
        most = max(most, repeated)
        assert server.observe(library.home.environment)["rows"] == server.observe(calm.home.environment)["rows"], nth
    if kills > 4:
        with capsys.disabled():
            print(f"\n{kills} kills while {texts} passages were embedded: at most {most} embedded again")
