"""A whole library of schema 2, with every kind of file, opens today as it was; nothing is embedded for it."""

from __future__ import annotations

import json
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.answers import AnswerRequest, AskRequest
from kb.contract.base import Empty
from kb.contract.facade import Facade
from kb.contract.index import RebuildRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.viewer import ViewerOpenRequest
from tests.fixtures import whole_library
from tests.homes import needs_embedder

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SAID: dict[str, Any] = json.loads((FIXTURES / "library-v2-whole.json").read_text(encoding="utf-8"))
# What later programs say beside what was said then.
ADDED = {"schema_version"}

pytestmark = needs_embedder


@dataclass
class Opened:
    facade: Facade
    data: Path
    embedded: int


def over(facade: Facade, job: Job) -> Job:
    while job.finished_at is None:
        time.sleep(0.01)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded", job.error
    return job


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    folder = tmp_path_factory.mktemp("whole")
    with tarfile.open(FIXTURES / "library-v2-whole.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    (folder / "home").mkdir()
    (folder / "data").rename(folder / "home" / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KB_HOME", str(folder / "home"))
        patch.setenv("KB_WORKSPACE_ROOT", str(folder / "workspace"))
        patch.setenv("KB_SEARCH_VECTOR_ENGINE", "scan")
        configuration = load_configuration()
    with open_own_library(configuration, owner="test") as facade:
        job = over(facade, facade.index.rebuild(RebuildRequest()))
        embedded = facade.index.report(JobRequest(job_id=job.id)).embedded
        yield Opened(facade, configuration.data_dir, embedded)


def has_all(now: Any, then: Any) -> bool:
    """Whether everything said then is said now; more may be."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(
            name in now and has_all(now[name], value) for name, value in then.items() if name not in ADDED
        )
    if isinstance(then, list):
        return len(now) == len(then) and all(map(has_all, now, then))
    return bool(now == then)


def test_nothing_is_embedded_to_open_it(opened: Opened) -> None:
    assert opened.embedded == 0


def test_a_checked_copy_of_it_as_it_was_is_kept(opened: Opened) -> None:
    (copy,) = (opened.data / "backups").glob("before-schema-*.sqlite")
    assert copy.stat().st_size > 0


def test_it_holds_what_it_held(opened: Opened) -> None:
    assert has_all(json.loads(opened.facade.library.summary(Empty()).model_dump_json()), SAID["summary"])
    assert whole_library.items(opened.facade) == SAID["items"]


@pytest.mark.parametrize("number", range(len(SAID["answers"])))
def test_every_answer_is_kept_word_for_word(opened: Opened, number: int) -> None:
    then = SAID["answers"][number]
    now = opened.facade.answers.get(AnswerRequest(trace_id=then["retrieval"]["trace_id"]))
    assert has_all(json.loads(now.model_dump_json()), then)


@pytest.mark.parametrize("number", range(len(SAID["views"])))
def test_every_citation_opens_at_the_same_place(opened: Opened, number: int) -> None:
    citations = [citation for answer in SAID["answers"] for citation in answer["citations"]]
    asked = ViewerOpenRequest(chunk_id=citations[number]["chunk_id"], quote=citations[number]["quote"])
    now = opened.facade.viewer.open(asked)
    assert has_all(json.loads(now.model_dump_json()), SAID["views"][number])


def test_every_search_finds_the_same_in_the_same_order(opened: Opened) -> None:
    assert whole_library.searches(opened.facade) == SAID["searches"]


def test_a_new_question_is_answered_from_it(opened: Opened) -> None:
    answer = opened.facade.answers.ask(AskRequest(question="When is the oven lit?"))
    assert answer.grounded
    assert "06:15" in answer.answer


def test_reading_the_workspace_again_changes_and_embeds_nothing(opened: Opened) -> None:
    job = over(opened.facade, opened.facade.library.ingest(IngestRequest()))
    report: IngestReport = opened.facade.library.report(JobRequest(job_id=job.id))
    assert (report.new, report.updated, report.deleted, report.errors, report.embedded) == (0, 0, 0, 0, 0)
    assert whole_library.searches(opened.facade) == SAID["searches"]
