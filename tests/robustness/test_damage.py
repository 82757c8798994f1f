"""Every derived file deleted, cut in half or changed, between runs and while running: the same top ten, nobody dies."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb.app.remote import RemoteFacade
from kb.contract.index import VerifyRequest
from kb.contract.search import FindRequest
from tests.homes import Home, needs_embedder, sample_home, sample_questions

pytestmark = [needs_embedder, pytest.mark.skipif(os.name == "nt", reason="mapped files cannot be changed on Windows")]

# A pattern below the home; the largest file it matches is harmed, or the folder.
TARGETS = (
    "data/tantivy/meta.json",
    "data/tantivy/stamp.json",
    "data/tantivy/.managed.json",
    "data/tantivy/*.term",
    "data/tantivy/*.idx",
    "data/tantivy/*.fast",
    "data/tantivy/*.store",
    "data/tantivy/*.fieldnorm",
    "data/vectors/*.stamp",
    "data/vectors/*.scan",
    "data/chroma/*/stamp.json",
    "data/chroma/*/store/chroma.sqlite3",
    "data/chroma/*/store/*/data_level0.bin",
    "data/chroma/*/store/*/header.bin",
    "cache/ignore.json",
    "data/lock",
)
HARMS = ("delete", "cut", "flip")
FOLDERS = ("data/tantivy", "data/vectors", "data/chroma")
EVERY = [(target, harm) for target in TARGETS for harm in HARMS] + [(folder, "delete") for folder in FOLDERS]
FEW = [("data/tantivy/*.term", "cut"), ("data/vectors/*.scan", "flip"), ("data/chroma", "garbage")]
PATIENCE_S = 90


@dataclass(frozen=True)
class Answer:
    """The ten best passages of each question, and whether a search said that it could do less."""

    hits: tuple[tuple[str, ...], ...]
    degraded: bool


def ask(facade: RemoteFacade) -> Answer:
    """Ask every question of the sample."""
    hits, degraded = [], False
    for question in sample_questions():
        reply = facade.search.find(FindRequest(query=question["text"], top_k=10))
        hits.append(tuple(hit.chunk_id for hit in reply.results))
        degraded |= bool(reply.diagnostics.degraded_channels)
    return Answer(tuple(hits), degraded)


def harm(home: Path, pattern: str, how: str) -> None:
    """Harm the largest file a pattern matches, or a folder."""
    found = sorted(home.glob(pattern), key=lambda path: (path.stat().st_size, path.name))
    assert found, pattern
    path = found[-1]
    if path.is_dir():
        shutil.rmtree(path)
        if how == "garbage":
            path.write_bytes(random.Random(1).randbytes(4096))
    elif how == "delete":
        path.unlink()
    elif how == "cut":
        os.truncate(path, path.stat().st_size // 2)
    else:
        chance = random.Random(2)
        with path.open("r+b") as file:
            data = bytearray(file.read())
            for _ in range(40):
                if data:
                    data[chance.randrange(len(data))] ^= 0xFF
            file.seek(0)
            file.write(data)


def until(condition: Callable[[], bool]) -> bool:
    """Wait for something that must come true."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@contextmanager
def served(home: Home) -> Iterator[tuple[subprocess.Popen[bytes], RemoteFacade]]:
    """Serve a home, with its facade."""
    with home.serving() as server:
        known = json.loads((home.data / "server.json").read_bytes())
        facade = RemoteFacade(known["url"], known["token"])
        try:
            yield server, facade
        finally:
            facade.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Answer]:
    """A library with all three indexes, and what it answers."""
    made = sample_home(tmp_path_factory.mktemp("sound"))
    home = Home(made.folder, {**made.extra, "KB_SEARCH_VECTOR_ENGINE": "auto"})
    (home.workspace / ".kbignore").write_text("*.tmp\n", encoding="utf-8")  # what it says is kept in a cache
    home.ok("ingest")
    home.ok("index", "rebuild")
    with served(home) as (_, facade):
        answer = ask(facade)
    assert not answer.degraded
    assert all(len(hits) == 10 for hits in answer.hits)
    return home, answer


def check(sound: tuple[Home, Answer], folder: Path, variants: Sequence[tuple[str, str]], *, running: bool) -> None:
    """Do harm before a server starts, or while it runs; it answers all the time, and is whole again by itself.

    A server that holds an index open may meet the harm only when it is opened again: then the next start heals it.
    """
    home, expected = sound
    mine = home.copied_to(folder)
    inner = folder / "home"
    if not running:
        for pattern, how in variants:
            harm(inner, pattern, how)
    with served(mine) as (server, facade):
        if running:
            assert ask(facade) == expected
            for pattern, how in variants:
                harm(inner, pattern, how)
        first = ask(facade)
        assert first.degraded or first.hits == expected.hits, variants
        assert until(lambda: ask(facade) == expected and facade.index.verify(VerifyRequest()).ok), variants
        healed = ask(facade)
        assert healed == expected, variants
        assert server.poll() is None
    if mine.kb("doctor", "--deep", "--json").code != 0:
        with served(mine) as (server, facade):
            first = ask(facade)
            assert first.degraded or first.hits == expected.hits, variants
            assert until(lambda: facade.index.verify(VerifyRequest(deep=True)).ok), variants
            assert ask(facade) == expected, variants
    assert mine.ok("doctor", "--deep", "--json"), variants


@pytest.mark.parametrize("running", [False, True], ids=["between runs", "while running"])
def test_indexes_damaged_together_heal_by_themselves(sound: tuple[Home, Answer], tmp_path: Path, running: bool) -> None:
    check(sound, tmp_path / "home", FEW, running=running)


@pytest.mark.torture
@pytest.mark.parametrize("running", [False, True], ids=["between runs", "while running"])
@pytest.mark.parametrize("variant", EVERY, ids=" ".join)
def test_any_derived_file_heals_by_itself(
    sound: tuple[Home, Answer], tmp_path: Path, variant: tuple[str, str], running: bool
) -> None:
    check(sound, tmp_path / "home", [variant], running=running)


def test_an_index_that_may_not_be_read_is_not_thrown_away(sound: tuple[Home, Answer], tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    mine = sound[0].copied_to(tmp_path / "home")
    stamp = mine.data / "tantivy" / "stamp.json"
    before = sorted(path.name for path in stamp.parent.iterdir())
    stamp.chmod(0)
    try:
        mine.kb("search", "backup")
        assert mine.kb("doctor", "--fix").code == 3
    finally:
        stamp.chmod(0o600)
    assert sorted(path.name for path in stamp.parent.iterdir()) == before
