"""A library of schema 3 opens today as it was: versions, generations, answers, what was taken out."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.answers import AnswerRequest
from kb.contract.base import Empty
from kb.contract.collection_requests import CollectionRequest, CollectionsRequest, CreateCollectionRequest
from kb.contract.collection_settings import RuleGiven
from kb.contract.facade import Facade
from kb.contract.index import RebuildRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import ItemRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest
from kb.contract.viewer import ViewerOpenRequest
from tests.fixtures import third_library, whole_library
from tests.integration.test_old_library import has_all, over

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SAID: dict[str, Any] = json.loads((FIXTURES / "library-v3-whole.json").read_text(encoding="utf-8"))


@dataclass
class Opened:
    facade: Facade
    data: Path


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    folder = tmp_path_factory.mktemp("third")
    with tarfile.open(FIXTURES / "library-v3-whole.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    (folder / "home").mkdir()
    (folder / "data").rename(folder / "home" / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KB_HOME", str(folder / "home"))
        patch.setenv("KB_WORKSPACE_ROOT", str(folder / "workspace"))
        patch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "none")
        patch.setenv("KB_CHUNKING_TARGET_CHARACTERS", "800")
        configuration = load_configuration()
    with open_own_library(configuration, owner="test") as facade:
        # Only what is true was packed: indexes are made of it.
        over(facade, facade.index.rebuild(RebuildRequest()))
        yield Opened(facade, configuration.data_dir)


def test_a_checked_copy_of_it_as_it_was_is_kept(opened: Opened) -> None:
    (copy,) = (opened.data / "backups").glob("before-schema-*.sqlite")
    assert copy.stat().st_size > 0


def test_it_holds_what_it_held(opened: Opened) -> None:
    facade = opened.facade
    assert has_all(json.loads(facade.library.summary(Empty()).model_dump_json()), SAID["summary"])
    assert whole_library.items(facade) == SAID["items"]
    assert third_library.history(facade) == SAID["history"]


def test_both_generations_are_as_they_were_and_nothing_waits(opened: Opened) -> None:
    found = opened.facade.generations.list(Empty())
    assert [[one.id, one.state, one.passages] for one in found.generations] == SAID["generations"]
    assert not found.pending


def test_every_search_finds_the_same_in_the_same_order(opened: Opened) -> None:
    assert whole_library.searches(opened.facade) == SAID["searches"]


def test_what_was_taken_out_stays_out(opened: Opened) -> None:
    hits = opened.facade.search.find(FindRequest(query="the safe is empty")).results
    assert "notes/private.md" not in {hit.doc_path for hit in hits}


@pytest.mark.parametrize("number", range(len(SAID["answers"])))
def test_every_answer_is_kept_word_for_word(opened: Opened, number: int) -> None:
    then = SAID["answers"][number]
    now = opened.facade.answers.get(AnswerRequest(trace_id=then["retrieval"]["trace_id"]))
    assert has_all(json.loads(now.model_dump_json()), then)


@pytest.mark.parametrize("number", range(len(SAID["views"])))
def test_every_citation_opens_at_the_same_place(opened: Opened, number: int) -> None:
    citations = [citation for answer in SAID["answers"] for citation in answer["citations"]]
    asked = ViewerOpenRequest(chunk_id=citations[number]["chunk_id"], quote=citations[number]["quote"])
    assert has_all(json.loads(opened.facade.viewer.open(asked).model_dump_json()), SAID["views"][number])


def test_reading_the_workspace_again_changes_nothing(opened: Opened) -> None:
    job = over(opened.facade, opened.facade.library.ingest(IngestRequest()))
    report: IngestReport = opened.facade.library.report(JobRequest(job_id=job.id))
    assert (report.new, report.updated, report.deleted, report.errors) == (0, 0, 0, 0)
    assert whole_library.searches(opened.facade) == SAID["searches"]


def test_its_files_fall_into_a_new_collection_by_themselves(opened: Opened) -> None:
    collections = opened.facade.collections
    assert collections.list(CollectionsRequest()).collections == ()
    rules = (RuleGiven(kind="tag", value="가게"),)
    made = collections.create(CreateCollectionRequest(name="가게", rules=rules)).collection
    assert made.items == 1
    assert [one.name for one in collections.of(ItemRequest(doc="메모/가게.md")).collections] == ["가게"]
    collections.archive(CollectionRequest(collection="가게", revision=1))
