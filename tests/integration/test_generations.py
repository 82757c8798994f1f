"""A model switch as a person does it: built beside, killed, gone on with, switched to, gone back from."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.answers import AskRequest
from kb.contract.base import Empty
from kb.contract.facade import Facade
from kb.contract.generations import BuildRequest, GenerationReport, GenerationRequest, SwitchRequest
from kb.contract.index import VerifyRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.search import FindRequest
from kb.domain.errors import InvalidInput, NotFound
from tests.homes import EMBEDDER, ROOT, Home, command, needs_embedder

pytestmark = [needs_embedder, pytest.mark.timeout(900)]

SHARED = Path(os.environ.get("KEBAB_SHARED") or ROOT.parent / "shared") / "data"
TOPICS = ("ferries", "bread", "winter", "lighthouse", "violin", "harbour", "orchard", "glacier", "mail", "bees")
NOTES = 160
QUESTIONS = tuple(f"What does note {number} say about {TOPICS[number % 10]}?" for number in range(12))
Found = list[list[tuple[str, float]]]


def second_model(folder: Path) -> Path:
    """The same weights under another version and another prefix: other vectors, another window, another fingerprint."""
    other = folder / "second-model"
    other.mkdir()
    for file in EMBEDDER.iterdir():
        if file.name != "model.toml":
            (other / file.name).symlink_to(file)
    manifest = (EMBEDDER / "model.toml").read_text(encoding="utf-8")
    changed = manifest.replace('version = "', 'version = "second-').replace('"passage: "', '"query: "')
    (other / "model.toml").write_text(changed, encoding="utf-8")
    return other


@pytest.fixture
def course(tmp_path: Path) -> Home:
    """Short notes, some of which say the same; read with the first model."""
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    for number in range(NOTES):
        text = "The same in several notes." if number % 20 == 0 else f"Note {number} is about {TOPICS[number % 10]}."
        home.put(f"notes/{number:03}.md", f"{text}\n")
    home.ok("init")
    home.ok("ingest")
    return home


@contextmanager
def opened(home: Home) -> Iterator[Facade]:
    with open_own_library(load_configuration(home.environment), owner="test") as facade:
        yield facade


def with_model(home: Home, model: Path) -> Home:
    return replace(home, extra={**home.extra, "KB_MODELS_EMBEDDING_MODEL": str(model)})


def top_ten(facade: Facade, questions: Sequence[str]) -> Found:
    """What a person sees: passages in order, with their scores."""
    found = []
    for question in questions:
        hits = facade.search.find(FindRequest(query=question, mode="hybrid", top_k=10)).results
        found.append([(hit.chunk_id, hit.score) for hit in hits])
    return found


def done(facade: Facade, job: Job) -> GenerationReport:
    while job.finished_at is None:
        time.sleep(0.02)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded", job.error
    return facade.generations.built(JobRequest(job_id=job.id))


def chunks(reply: str) -> list[str]:
    return [hit["chunk_id"] for hit in json.loads(reply)["results"] if hit["doc_path"] == "long.md"]


def vectors(home: Home, version: str) -> int:
    """Count the vectors of a model that are committed."""
    connection = sqlite3.connect(f"file:{home.data / 'kb.sqlite'}?mode=ro", uri=True)
    try:
        sql = (
            "SELECT count(*) FROM vectors WHERE model_key ="
            " (SELECT model_key FROM embedding_models WHERE model_version LIKE ?)"
        )
        (count,) = connection.execute(sql, (f"{version}%",)).fetchone()
        return int(count)
    finally:
        connection.close()


def killed_halfway(home: Home, wanted: int) -> int:
    """Start a build, kill it once so many texts are embedded; return how many were kept."""
    with subprocess.Popen(
        command("index", "build"), env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while vectors(home, "second") < wanted:
            assert process.poll() is None, "the build ended before it could be killed"
            time.sleep(0.05)
        process.kill()
    return vectors(home, "second")


def there_and_back(home: Home, second: Home, questions: Sequence[str], kill_at: int) -> tuple[GenerationReport, int]:
    """Go the whole way, and hold every step to what was found before."""
    with opened(home) as facade:
        before = top_ten(facade, questions)
    kept = killed_halfway(second, kill_at)
    with opened(second) as facade:
        assert top_ten(facade, questions) == before
        built = done(facade, facade.generations.build(BuildRequest()))
        assert top_ten(facade, questions) == before
        switched = done(facade, facade.generations.switch(SwitchRequest()))
        assert (switched.serving, switched.embedded) == (built.generation, 0)
        after = top_ten(facade, questions)
        assert after != before
        assert facade.index.verify(VerifyRequest()).ok
    with opened(second) as facade:
        assert top_ten(facade, questions) == after
        assert done(facade, facade.generations.rollback(Empty())).embedded == 0
        assert top_ten(facade, questions) == before
        done(facade, facade.generations.rollback(Empty()))
        assert top_ten(facade, questions) == after
        assert done(facade, facade.generations.rollback(Empty())).serving == 1
    with opened(home) as facade:
        assert top_ten(facade, questions) == before
        assert facade.index.verify(VerifyRequest()).ok
    return built, kept


def test_a_switch_killed_halfway_goes_on_and_is_undone_without_a_trace(course: Home, tmp_path: Path) -> None:
    second = with_model(course, second_model(tmp_path))
    built, kept = there_and_back(course, second, QUESTIONS, 64)
    assert kept >= 64
    # What the killed build had committed is not embedded again, and equal texts once in all.
    assert built.embedded == built.distinct_texts - kept
    assert built.distinct_texts < built.passages
    assert vectors(course, "second") == built.distinct_texts


def test_settings_that_changed_read_nothing_again_by_themselves(course: Home, tmp_path: Path) -> None:
    second = with_model(course, second_model(tmp_path))
    said = second.ok("ingest")
    assert "nothing changed" in said
    assert "settings changed, rebuild pending" in said
    assert "kb index build" in said
    second.put("notes/new.md", "A new note on comets.\n")
    said = second.ok("ingest")
    assert "1 new" in said
    assert "all with vectors" in said
    assert "settings name" in second.ok("index", "generations")
    assert "notes/new.md" in second.ok("search", "comets")


def test_a_preview_says_what_kept_questions_would_lose_and_gain(course: Home, tmp_path: Path) -> None:
    second = with_model(course, second_model(tmp_path))
    with opened(second) as facade:
        with pytest.raises(NotFound, match="no generation is ready"):
            facade.generations.preview(GenerationRequest())
        facade.answers.ask(AskRequest(question="What is note 7 about?"))
        facade.answers.ask(AskRequest(question="What is note 7 about?"))
        done(facade, facade.generations.build(BuildRequest()))
        preview = facade.generations.preview(GenerationRequest())
        assert (preview.generation, preview.serving, preview.questions) == (2, 1, 1)
        assert preview.unchanged + len(preview.changed) == 1
        done(facade, facade.generations.switch(SwitchRequest()))
        with pytest.raises(InvalidInput, match="nothing to build"):
            facade.generations.build(BuildRequest())
        again = facade.generations.preview(GenerationRequest(generation=1))
        assert [len(one.gained) for one in again.changed] == [len(one.lost) for one in preview.changed]
        left = facade.generations.discard(GenerationRequest(generation=1))
        assert [one.id for one in left.generations] == [2]
        assert not (course.data / "tantivy").exists()
        assert facade.search.find(FindRequest(query="note 7", mode="hybrid")).results


def test_a_file_changed_while_another_generation_serves_is_right_in_both(course: Home, tmp_path: Path) -> None:
    second = with_model(course, second_model(tmp_path))
    second.ok("index", "build")
    second.ok("index", "switch")
    second.put("notes/003.md", "Quite another matter: comets.\n")
    (second.workspace / "notes/004.md").unlink()
    second.ok("ingest")
    second.ok("index", "rollback")
    assert "notes/003.md" in second.ok("search", "comets")
    assert "notes/004.md" not in second.ok("list", "docs")
    second.ok("index", "verify")


def test_chunks_of_another_size_are_another_generation(course: Home) -> None:
    course.put("long.md", "\n\n".join(f"Paragraph {number}. " + "Some words on tides. " * 12 for number in range(12)))
    course.ok("ingest")
    smaller = replace(course, extra={**course.extra, "KB_CHUNKING_TARGET_CHARACTERS": "500"})
    before = course.ok("search", "tides", "--json")
    smaller.ok("index", "build")
    assert chunks(course.ok("search", "tides", "--json")) == chunks(before)
    smaller.ok("index", "switch")
    assert not set(chunks(smaller.ok("search", "tides", "--json"))) & set(chunks(before))
    assert "nothing changed" in smaller.ok("ingest")
    smaller.ok("index", "rollback")
    assert chunks(course.ok("search", "tides", "--json")) == chunks(before)
    assert "nothing changed" in course.ok("ingest")


@pytest.mark.torture
@pytest.mark.timeout(7200)
def test_a_hundred_questions_of_real_notes_find_the_same_after_there_and_back(tmp_path: Path) -> None:
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    if not (SHARED / "vault-en").is_dir():
        pytest.skip("the vaults are not here (KEBAB_SHARED)")
    for name in ("vault-en", "vault-ko", "vault-zh"):
        notes = sorted(path for path in (SHARED / name).rglob("*.md") if path.is_file())
        for path in random.Random(name).sample(notes, min(60, len(notes))):
            target = home.workspace / name / path.relative_to(SHARED / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    home.ok("init")
    home.ok("ingest")
    titles = sorted(path.stem for path in home.workspace.rglob("*.md"))
    questions = [titles[number % len(titles)] for number in range(100)]
    second = with_model(home, second_model(tmp_path))
    with opened(home) as facade:
        texts = facade.generations.list(Empty()).generations[0].passages
    built, kept = there_and_back(home, second, questions, min(texts // 2, 640))
    assert built.embedded + kept == built.distinct_texts == vectors(home, "second")


def test_a_first_model_comes_in_place_and_one_that_is_turned_off_reads_nothing_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.put("a.md", "# Tides\n\nThe tide turns at noon.\n")
    home.ok("init")
    home.ok("ingest")
    with_vectors = replace(home, extra={"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    assert "all with vectors" in with_vectors.ok("ingest")
    assert "settings differ" not in with_vectors.ok("index", "generations")
    assert "nothing changed" in with_vectors.ok("ingest")
    # Off: words alone, and the passages stay as the model's window cut them.
    before = json.loads(with_vectors.ok("search", "tide", "--json"))["results"][0]["chunk_id"]
    assert "nothing changed" in home.ok("ingest")
    assert json.loads(home.ok("search", "tide", "--json"))["results"][0]["chunk_id"] == before
    assert "settings differ" not in home.ok("index", "generations")
    assert "nothing changed" in with_vectors.ok("ingest")
