"""Items cut by settings of their own: pending, made anew one by one, kept over ingests, builds, switches, rollbacks."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from kb.app.bootstrap import Parts
from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.cli.main import app
from kb.contract.backup import BackupCreateRequest, BackupRequest
from kb.contract.base import Empty
from kb.contract.chunking import ChunkingPendingRequest, ChunkingRequest, SetChunkingRequest
from kb.contract.chunking_preview import PreviewChunkingRequest
from kb.contract.chunks import ChunksRequest
from kb.contract.collection_requests import CreateCollectionRequest
from kb.contract.collection_settings import OwnChunking, RuleGiven
from kb.contract.facade import Facade
from kb.contract.generations import BuildRequest, SwitchRequest
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest
from kb.contract.reprocessing import ReprocessReport, ReprocessRequest
from kb.contract.search import FindRequest
from kb.contract.system import DoctorRequest
from kb.domain.errors import InvalidInput
from kb.domain.generations import ShownItem
from kb.ingest.reprocess import ReprocessPorts, ReprocessRun

LONG = "\n\n".join(f"Paragraph {n} says that the grill of house {n} is warm on day {n}. " * 4 for n in range(24))
FAMILY = OwnChunking(mode="parent-child", parent_characters=2000, child_characters=300)
FIXED = OwnChunking(mode="fixed", target_characters=400, overlap_characters=0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    workspace = tmp_path / "workspace"
    (workspace / "contracts").mkdir(parents=True)
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KB_WORKSPACE_ROOT", str(workspace))
    monkeypatch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "none")
    for name in ("a.md", "b.md", "contracts/c.md"):
        (workspace / name).write_text(f"# {name}\n\n{LONG}\n", encoding="utf-8")
    return workspace


def over(facade: Facade, job: Any) -> Any:
    while job.finished_at is None:
        threading.Event().wait(0.02)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.error is None, job.error
    return job


def ingest(facade: Facade) -> Any:
    job = over(facade, facade.library.ingest(IngestRequest()))
    return facade.library.report(JobRequest(job_id=job.id))


def rebuild(facade: Facade, **fields: Any) -> ReprocessReport:
    job = over(facade, facade.chunking.rebuild(ReprocessRequest(**fields)))
    return facade.chunking.rebuilt(JobRequest(job_id=job.id))


def cut(facade: Facade, doc: str) -> tuple[set[str], int]:
    chunks = facade.chunks.list(ChunksRequest(doc=doc, limit=200)).chunks
    return {chunk.chunker_version for chunk in chunks}, len(chunks)


def mode(facade: Facade, doc: str) -> str:
    served = facade.chunking.get(ChunkingRequest(doc=doc)).served
    assert served is not None
    return served.mode


def waiting(facade: Facade) -> list[str]:
    return [one.path for one in facade.chunking.pending(ChunkingPendingRequest()).items]


def test_settings_of_one_file_wait_until_it_is_made_anew_and_then_stay(folder: Path) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        assert facade.chunking.set(SetChunkingRequest(doc="a.md", settings=FAMILY)).pending
        assert (mode(facade, "a.md"), waiting(facade)) == ("structure", ["a.md"])
        report = rebuild(facade)
        assert (report.asked, report.replaced, report.failed, report.pending) == (1, 1, 0, 0)
        assert (mode(facade, "a.md"), mode(facade, "b.md")) == ("parent-child", "structure")
        hits = facade.search.find(FindRequest(query="grill of house 7", mode="lexical", top_k=20)).results
        assert {"a.md", "b.md"} <= {hit.doc_path for hit in hits}
        again = ingest(facade)
        assert (again.updated, again.errors) == (0, 0)
        (folder / "a.md").write_text(f"# a.md\n\nChanged.\n\n{LONG}\n", encoding="utf-8")
        assert ingest(facade).updated == 1
        assert mode(facade, "a.md") == "parent-child"
        assert waiting(facade) == []


def test_a_new_file_is_cut_as_its_collection_says_and_known_ones_wait(folder: Path) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        rule = RuleGiven(kind="folder", value="contracts")
        facade.collections.create(CreateCollectionRequest(name="Contracts", rules=(rule,), chunking=FIXED))
        (folder / "contracts" / "d.md").write_text(f"# d\n\n{LONG}\n", encoding="utf-8")
        ingest(facade)
        assert [check.hint for check in facade.system.doctor(DoctorRequest()).checks if check.name == "chunking"] == [
            "run `kb chunking rebuild`"
        ]
        (said,) = [one for one in ingest(facade).notices if one.reason == "rebuild_pending"]
        assert "1 file is cut otherwise" in said.detail
        assert (mode(facade, "contracts/d.md"), waiting(facade)) == ("fixed", ["contracts/c.md"])
        assert rebuild(facade, collection="Contracts").replaced == 1
        assert (mode(facade, "contracts/c.md"), waiting(facade)) == ("fixed", [])
        with pytest.raises(InvalidInput, match="nothing to rebuild"):
            facade.chunking.rebuild(ReprocessRequest())


def test_own_settings_outlive_a_generation_and_the_way_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
    monkeypatch.setenv("KB_CHUNKING_TARGET_CHARACTERS", "800")
    with open_own_library(load_configuration(), owner="test") as facade:
        over(facade, facade.generations.build(BuildRequest()))
        facade.chunking.set(SetChunkingRequest(doc="a.md", settings=FAMILY))
        rebuild(facade, docs=("a.md",))
        over(facade, facade.generations.switch(SwitchRequest(generation=None)))
        assert (mode(facade, "a.md"), mode(facade, "b.md"), waiting(facade)) == ("parent-child", "structure", [])
        served = facade.chunking.get(ChunkingRequest(doc="b.md")).served
        assert served is not None
        assert served.target_characters == 800
        over(facade, facade.generations.rollback(Empty()))
        assert mode(facade, "a.md") == "parent-child"
        assert ingest(facade).updated == 0


def test_the_workspace_made_anew_in_place_is_what_the_settings_say(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
    monkeypatch.setenv("KB_CHUNKING_MODE", "fixed")
    with open_own_library(load_configuration(), owner="test") as facade:
        assert len(waiting(facade)) == 3
        assert facade.generations.list(Empty()).pending
        assert rebuild(facade, all=True).replaced == 3
        assert waiting(facade) == []
        assert facade.generations.list(Empty()).pending == ()
        assert ingest(facade).updated == 0
        assert {mode(facade, doc) for doc in ("a.md", "b.md", "contracts/c.md")} == {"fixed"}


def test_a_file_that_is_meant_to_stay_as_it_was_keeps_no_new_one_from_the_workspaces_settings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        facade.chunking.set(SetChunkingRequest(doc="a.md", settings=OwnChunking(mode="structure")))
    monkeypatch.setenv("KB_CHUNKING_MODE", "fixed")
    with open_own_library(load_configuration(), owner="test") as facade:
        assert rebuild(facade, all=True).failed == 0
        (folder / "new.md").write_text(f"# new\n\n{LONG}\n", encoding="utf-8")
        report = ingest(facade)
        assert (report.new, report.updated) == (1, 0)
        assert (mode(facade, "a.md"), mode(facade, "b.md"), mode(facade, "new.md")) == ("structure", "fixed", "fixed")
        assert waiting(facade) == []


def test_a_library_that_is_merged_in_is_known_to_be_cut_as_it_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        facade.chunking.set(SetChunkingRequest(doc="a.md", settings=FAMILY))
        facade.chunking.set(SetChunkingRequest(doc="b.md", settings=FIXED))
        rebuild(facade)
        facade.chunking.set(SetChunkingRequest(doc="b.md", settings=None))
        file = tmp_path / "a.kbbackup"
        over(facade, facade.backup.create(BackupCreateRequest(file=str(file))))
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home of another"))
    monkeypatch.setenv("KB_WORKSPACE_ROOT", str(tmp_path / "other"))
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        over(facade, facade.backup.merge(BackupRequest(file=str(file))))
        assert [mode(facade, doc) for doc in ("a.md", "b.md")] == ["parent-child", "fixed"]
        assert waiting(facade) == ["b.md"]


def test_a_file_that_is_gone_is_made_from_its_copy_and_one_that_changed_stays(folder: Path) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        (folder / "a.md").unlink()
        for doc in ("a.md", "b.md"):
            facade.chunking.set(SetChunkingRequest(doc=doc, settings=FIXED))
        report = rebuild(facade)
        assert (report.replaced, report.failed) == (2, 0)
        assert mode(facade, "a.md") == "fixed"


def test_a_preview_keeps_nothing(folder: Path) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        before = cut(facade, "a.md")
        found = facade.chunking.preview(PreviewChunkingRequest(doc="a.md", settings=FAMILY))
        assert found.parents > 1
        assert found.passages > found.parents
        assert found.longest <= 375
        assert found.chunks[1].parent == found.chunks[0].ordinal
        assert cut(facade, "a.md") == before
        assert waiting(facade) == []


def test_settings_out_of_their_range_are_refused(folder: Path) -> None:
    bad = OwnChunking(mode="fixed", target_characters=400, overlap_characters=200)
    small = OwnChunking(parent_characters=1600, child_characters=1600)
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
        with pytest.raises(InvalidInput, match="40 %"):
            facade.chunking.set(SetChunkingRequest(doc="a.md", settings=bad))
        with pytest.raises(InvalidInput, match="parent_characters"):
            facade.chunking.preview(PreviewChunkingRequest(doc="a.md", settings=small))


def test_a_stop_leaves_what_is_replaced_and_a_failure_costs_its_file_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_STORAGE_COPY_ORIGINALS", "false")
    configuration = load_configuration()
    with open_own_library(configuration, owner="test") as facade:
        ingest(facade)
    parts = Parts(configuration)
    try:
        store = parts.item_chunking
        ids = [one.item_id for one in store.shown()]
        for item_id in ids:
            store.set_override(item_id, FIXED.model_dump())
        (folder / "a.md").unlink()
        before = {one.path: one.policy_hash for one in store.shown()}
        ports = ReprocessPorts(parts.ingest_ports(), parts.makers_anew, parts.copy_of, store.forget_built)
        given: list[str] = []

        def one(number: int) -> ShownItem | None:
            given.append(ids[number])
            return parts.generation_build.shown_item(ids[number])

        run = ReprocessRun(ports, should_stop=lambda: len(given) > 1)
        done = run.run(len(ids), one)
        after = {one.path: one.policy_hash for one in store.shown()}
    finally:
        parts.close()
    assert done.canceled
    assert [(failure.shown.item.path, failure.reason) for failure in done.failed] == [("a.md", "changed")]
    assert done.replaced == 1
    assert {path for path in before if before[path] != after[path]} == {"b.md"}


def test_kb_chunking_speaks_to_people_and_to_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_own_library(load_configuration(), owner="test") as facade:
        ingest(facade)
    assert kb("chunking", "pending") == 1
    assert kb("chunking", "set", "a.md", "--mode", "fixed", "--target", "400", "--overlap", "0") == 0
    assert kb("chunking", "pending") == 0
    assert "a.md: structure 1,600, overlap 160, wanted fixed 400, overlap 0 (item)" in capsys.readouterr().out
    assert kb("chunking", "preview", "a.md", "--mode", "parent-child", "--json") == 0
    assert json.loads(capsys.readouterr().out)["schema_version"] == "chunking_preview.v1"
    assert kb("chunking", "rebuild", "--json") == 0
    assert json.loads(capsys.readouterr().out)["replaced"] == 1
    assert kb("chunking", "get", "a.md") == 0
    assert "served  fixed 400" in capsys.readouterr().out
    assert kb("chunking", "set", "a.md", "--target", "100") == 2
    assert kb("chunking", "set", "a.md") == 2


def kb(*arguments: str) -> int:
    code: int = app(list(arguments), prog_name="kb", standalone_mode=False)
    return code
