"""kill -9 at a random moment of an ingest: the next run ends where an undisturbed one does."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.homes import EMBEDDER, Home, command
from tests.logical_state import logical_state

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")

NOTES = 200
SOME = range(3)
MANY = range(3, 23)


class Course:
    """A library as it was before an ingest, the workspace as it is now, and the state that the ingest leads to."""

    def __init__(self, folder: Path, *, vectors: bool) -> None:
        provider = "fastembed" if vectors else "none"
        self.extra = {"KB_MODELS_EMBEDDING_PROVIDER": provider, "KB_WORKSPACE_ROOT": str(folder / "notes")}
        self.before = Home(folder / "before", self.extra)
        self.before.folder.mkdir()
        self.notes = folder / "notes"
        self.notes.mkdir()
        count = NOTES // 20 if vectors else NOTES
        for number in range(count // 2):
            self.write(number, "first")
        self.before.ok("init")
        self.before.ok("ingest")
        self.change(count)
        began = time.monotonic()
        undisturbed = self.start(folder / "undisturbed")
        undisturbed.ok("ingest")
        self.seconds = time.monotonic() - began
        self.state = state(undisturbed)

    def write(self, number: int, word: str) -> None:
        """Write one note."""
        text = "\n\n".join(f"Paragraph {n} of the {word} note {number}. " * 6 for n in range(6))
        (self.notes / f"{number:04}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")

    def change(self, count: int) -> None:
        """Let notes be new, changed, renamed and gone."""
        for number in range(count // 2, count):
            self.write(number, "second")
        for number in range(0, count // 2, 5):
            self.write(number, "third")
        for number in range(1, count // 2, 5):
            (self.notes / f"{number:04}.md").unlink()
        for number in range(2, count // 2, 5):
            (self.notes / f"{number:04}.md").rename(self.notes / f"renamed-{number:04}.md")

    def start(self, folder: Path) -> Home:
        """Return a copy of the library as it was before."""
        shutil.copytree(self.before.folder, folder)
        return Home(folder, self.extra)


def state(home: Home) -> dict[str, list[tuple[object, ...]]]:
    """What the library says."""
    connection = sqlite3.connect(f"file:{home.data / 'kb.sqlite'}?mode=ro", uri=True)
    try:
        return logical_state(connection)
    finally:
        connection.close()


def killed(home: Home, after_s: float) -> bool:
    """Start an ingest and kill it; return whether it was still at work."""
    with subprocess.Popen(
        command("ingest"), env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
        return False


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Without vectors: reading and the text index take the time."""
    return Course(tmp_path_factory.mktemp("words"), vectors=False)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """With vectors: embedding takes the time."""
    if not EMBEDDER.is_dir():
        pytest.skip("the embedding model is made by `dev.py setup`")
    return Course(tmp_path_factory.mktemp("vectors"), vectors=True)


def check(course: Course, folder: Path, seed: int) -> None:
    """Kill an ingest at a moment that `seed` chooses, and let another finish."""
    home = course.start(folder)
    moment = random.Random(seed).uniform(0.1, 0.95) * course.seconds
    was_at_work = killed(home, moment)
    # Whatever was committed answers, before anything has been mended.
    assert home.kb("search", "note 3").code == 0, (seed, moment)
    home.ok("ingest")
    assert state(home) == course.state, (seed, moment, was_at_work)
    home.ok("index", "verify")
    assert "nothing changed" in home.ok("ingest")


@pytest.mark.parametrize("seed", SOME)
def test_a_killed_ingest_leads_to_the_same_library(words: Course, tmp_path: Path, seed: int) -> None:
    check(words, tmp_path / "home", seed)


def test_a_killed_embedding_leads_to_the_same_library(vectors: Course, tmp_path: Path) -> None:
    check(vectors, tmp_path / "home", 1)


@pytest.mark.torture
@pytest.mark.parametrize("seed", MANY)
def test_any_killed_ingest_leads_to_the_same_library(words: Course, tmp_path: Path, seed: int) -> None:
    check(words, tmp_path / "home", seed)


@pytest.mark.torture
@pytest.mark.parametrize("seed", MANY)
def test_any_killed_embedding_leads_to_the_same_library(vectors: Course, tmp_path: Path, seed: int) -> None:
    check(vectors, tmp_path / "home", seed)


def test_the_library_survives_being_killed_again_and_again(words: Course, tmp_path: Path) -> None:
    home = words.start(tmp_path / "home")
    chance = random.Random(99)
    for _ in range(3):
        killed(home, chance.uniform(0.1, 0.6) * words.seconds)
    home.ok("ingest")
    assert state(home) == words.state
