"""The golden suite of the repository: what search finds without any model, and a gate that notices when it breaks."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kb.app.config_file import load_configuration
from kb.app.evaluation.suite_yaml import read_suite
from kb.app.gateway import open_own_library
from kb.contract.comparing import EvalCompareRequest, EvalGateRequest
from kb.contract.evaluation import EvalGetRequest, EvalQueries
from kb.contract.facade import Facade
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.suites import EvalRunRequest
from kb.domain.chunks import Chunk
from kb.ingest import making
from kb.ingest.chunking import chunks_of
from tests.homes import Home

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SUITE = str(GOLDEN / "suite.yaml")
FILLER = 10_500


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    shutil.copytree(GOLDEN / "documents", made.workspace)
    for name, value in made.environment.items():
        if name.startswith("KB_"):
            monkeypatch.setenv(name, value)
    return made


def over(facade: Facade, job: Job) -> Job:
    deadline = time.monotonic() + 150
    while job.finished_at is None and time.monotonic() < deadline:
        time.sleep(0.02)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded", job.error
    return job


def asked(facade: Facade, **options: Any) -> EvalQueries:
    """Read the workspace, ask the suite, and give all its questions."""
    over(facade, facade.library.ingest(IngestRequest()))
    run = facade.evaluation.report(
        JobRequest(job_id=over(facade, facade.evaluation.run(EvalRunRequest(suite=SUITE, **options))).id)
    )
    return facade.evaluation.get(EvalGetRequest(run_id=run.run_id, limit=200))


def fts5_recall_at_5(documents: Path) -> float:
    """Recall@5 of SQLite FTS5 with unicode61 over whole documents, any of the question's words, best BM25 first."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE f USING fts5(path UNINDEXED, text, tokenize='unicode61')")
    for file in documents.rglob("*.*"):
        name = file.relative_to(documents).as_posix()
        connection.execute("INSERT INTO f VALUES (?,?)", (name, file.read_text("utf-8")))
    found: list[float] = []
    for golden in read_suite(Path(SUITE).read_text("utf-8"), "golden").queries:
        if golden.should_refuse:
            continue
        wanted = {(one.uri or one.doc or "").partition("#")[0] for one in golden.targets}
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", golden.query))
        rows = connection.execute("SELECT path FROM f WHERE f MATCH ? ORDER BY rank LIMIT 5", (words,)).fetchall()
        found.append(len(wanted & {path for (path,) in rows}) / len(wanted))
    connection.close()
    return sum(found) / len(found)


def without_every_third_sentence(chunks: Sequence[Chunk]) -> list[Chunk]:
    """A chunker broken on purpose: places stay, words are gone."""
    from dataclasses import replace

    broken = []
    for chunk in chunks:
        text = chunk.text
        for number, (start, end) in enumerate(spans_of_sentences(text), 1):
            if number % 3 == 0:
                text = text[:start] + " " * (end - start) + text[end:]
        broken.append(replace(chunk, text=text))
    return broken


def spans_of_sentences(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"[^。.\n]+[。.]?", text)]


def test_keywords_alone_find_at_least_1_3_times_what_fts5_finds(home: Home) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        found = asked(facade, mode="lexical")
    baseline = fts5_recall_at_5(GOLDEN / "documents")
    assert baseline > 0.2, "the baseline itself must work"
    assert found.run.metrics["recall@5"] >= 1.3 * baseline
    assert found.run.metrics["recall@5"] >= 0.97


def test_every_kind_of_question_is_found_and_the_reports_say_how_it_went(home: Home) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        found = asked(facade, answers=True)
    for tag in ("reworded", "synonym", "traditional", "mixed", "number", "path", "code", "disagree"):
        assert found.run.tags[tag]["recall@5"] >= 0.95, tag
    assert found.run.tags["unanswerable"]["refusal_accuracy"] >= 0.75
    assert found.run.metrics["citation_precision"] >= 0.9
    # Vectors are off: a hybrid search says so, and finds what keywords find.
    assert all("no_embedding_model" in query.degraded for query in found.queries)
    folder = home.data / found.run.folder
    lines = (folder / "per_query.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["query_id"] for line in lines] == [query.query_id for query in found.queries]
    page = (folder / "report.html").read_text("utf-8")
    assert "语" in page or "备份" in page
    assert not re.search(r"(src|href)=|@import|url\(", page), "the report needs nothing beside itself"
    assert "## What went wrong" in (folder / "report.md").read_text("utf-8")


def test_two_runs_over_one_library_find_the_same(home: Home) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        first, second = asked(facade), asked(facade)
        compared = facade.evaluation.compare(EvalCompareRequest(a=first.run.run_id, b=second.run.run_id))
    assert (compared.wins, compared.losses, compared.regressions) == (0, 0, 0)
    assert compared.queries == ()
    assert compared.note == ""
    assert compared.chunker_version_match == "exact"


def test_questions_of_a_suite_leave_no_answers_among_a_persons(home: Home) -> None:
    from kb.contract.answers import AnswersRequest

    with open_own_library(load_configuration(), owner="test") as facade:
        asked(facade, answers=True)
        assert facade.answers.recent(AnswersRequest()).answers == ()


def test_a_chunker_broken_on_purpose_does_not_pass_the_gate(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        before = asked(facade, mode="lexical")
        assert facade.evaluation.gate(EvalGateRequest(baseline=before.run.run_id)).passed
        whole = chunks_of
        monkeypatch.setattr(making, "chunks_of", lambda *given: without_every_third_sentence(whole(*given)))
        for file in home.workspace.rglob("*.*"):
            file.write_text(file.read_text("utf-8") + "\n", "utf-8")
        asked(facade, mode="lexical")
        found = facade.evaluation.gate(EvalGateRequest(baseline=before.run.run_id))
    assert not found.passed
    named = {query.query_id: query.why for query in found.queries}
    assert "zh-increment" not in named
    # These answers stand in a third sentence, and nothing else in the library says their words.
    assert {"zh-drill", "zh-school", "zh-canteen"} <= set(named)
    said = home.kb("eval", "gate", "--baseline", before.run.run_id)
    assert said.code == 1
    assert "the gate is not passed" in said.out
    for query_id, why in named.items():
        assert query_id in said.out
        assert why
    sent = json.loads(home.kb("eval", "gate", "--baseline", before.run.run_id, "--json").out)
    assert (sent["schema_version"], sent["passed"]) == ("eval_gate.v1", False)


def test_a_run_that_is_canceled_keeps_nothing(home: Home) -> None:
    from kb.contract.evaluation import EvalRunsRequest

    with open_own_library(load_configuration(), owner="test") as facade:
        ingest = facade.library.ingest(IngestRequest())
        job = facade.evaluation.run(EvalRunRequest(suite=SUITE))
        facade.jobs.cancel(JobRequest(job_id=job.id))
        over(facade, ingest)
        while (job := facade.jobs.get(JobRequest(job_id=job.id))).finished_at is None:
            time.sleep(0.02)
        assert job.status == "canceled"
        assert facade.evaluation.runs(EvalRunsRequest()).runs == ()


@pytest.mark.slow
def test_ten_thousand_other_passages_hide_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CHUNKING_TARGET_CHARACTERS", "400")
    drawing = random.Random(5)
    syllables = [a + b for a in "bdfglmnprstvz" for b in "aeiou"]
    words = ["".join(drawing.choices(syllables, k=drawing.randint(2, 4))) for _ in range(4_000)]
    letters = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
    for file in range(21):
        sections = []
        for section in range(FILLER // 21):
            latin = " ".join(drawing.choices(words, k=45))
            sections.append(f"## {file}.{section}\n\n{latin}。{''.join(drawing.choices(letters, k=60))}。\n")
        home.put(f"filler/{file:02d}.md", "\n".join(sections))
    with open_own_library(load_configuration(), owner="test") as facade:
        found = asked(facade, mode="lexical")
    library = found.run.config["library"]
    assert isinstance(library, dict)
    passages = library["passages"]
    assert isinstance(passages, int)
    assert passages > 10_000
    assert found.run.metrics["recall@5"] >= 0.95
