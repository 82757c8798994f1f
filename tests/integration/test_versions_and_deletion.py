"""Invariants of versions, through the whole program: what is shown is good, whole and of one version."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kb.adapters.tantivy.index import TantivyTextIndex
from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.base import Empty
from kb.contract.facade import Facade
from kb.contract.index import CompactRequest, VerifyRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import ItemRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.library import ShowRequest
from kb.contract.search import FindRequest, SearchHit
from kb.contract.versions import DiffRequest, PurgeRequest
from kb.contract.viewer import ViewerOpenRequest
from kb.domain.errors import NotFound
from kb.domain.recipes import DocumentId
from kb.domain.versions import Probe
from kb.ingest.pipeline import IngestRun


class Kitchen:
    """A workspace and its library."""

    def __init__(self, folder: Path, facade: Facade) -> None:
        self.folder = folder
        self.facade = facade

    def write(self, name: str, text: str | bytes) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def finished(self, job: Job) -> Job:
        while job.finished_at is None:
            time.sleep(0.02)
            job = self.facade.jobs.get(JobRequest(job_id=job.id))
        return job

    def ingest(self) -> IngestReport:
        job = self.finished(self.facade.library.ingest(IngestRequest()))
        return self.facade.library.report(JobRequest(job_id=job.id))

    def find(self, query: str) -> Sequence[SearchHit]:
        return self.facade.search.find(FindRequest(query=query, mode="lexical")).results

    def states(self, doc: str) -> list[str]:
        return [version.state for version in self.facade.versions.history(ShowRequest(doc=doc)).versions]


@pytest.fixture
def kitchen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kitchen]:
    (tmp_path / "workspace").mkdir()
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KB_WORKSPACE_ROOT", str(tmp_path / "workspace"))
    monkeypatch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "none")
    with ExitStack() as stack:
        facade = stack.enter_context(open_own_library(load_configuration(), owner="test"))
        yield Kitchen(tmp_path / "workspace", facade)


ONE, TWO = "# Soup\n\nThe soup has carrots.\n", "# Soup\n\nThe soup has parsnips now.\n"


def test_invariant_1_a_version_that_the_index_does_not_find_is_not_shown(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.write("tea.md", "# Tea\n\nThe tea is green.\n")
    kitchen.ingest()
    kitchen.write("soup.md", TWO)
    kitchen.write("tea.md", "# Tea\n\nThe tea is black.\n")
    really = TantivyTextIndex.missing

    def forgets_soup(index: TantivyTextIndex, probes: Sequence[Probe]) -> Mapping[DocumentId, str]:
        lost = {probe.doc_id: "the text index holds 0 of its 1 passages" for probe in probes if "soup" in probe.text}
        return {**really(index, probes), **lost}

    with monkeypatch.context() as patch:
        patch.setattr(TantivyTextIndex, "missing", forgets_soup)
        report = kitchen.ingest()
    assert [notice.reason for notice in report.notices if "soup.md" in notice.detail] == ["not_findable"]
    (hit,) = kitchen.find("carrots")
    assert (hit.doc_path, hit.stale) == ("soup.md", True)
    assert kitchen.find("parsnips") == ()
    assert kitchen.find("black")[0].stale is None
    item = kitchen.facade.library.item(ItemRequest(doc="soup.md")).item
    assert (item.state, (item.reason or "").partition(":")[0]) == ("failed", "not_findable")
    kitchen.ingest()
    assert kitchen.find("carrots") == ()
    assert kitchen.find("parsnips")[0].doc_path == "soup.md"
    assert kitchen.states("soup.md") == ["ready", "purged", "superseded"]


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02" * 400, b"   \n\n"], ids=["empty", "not text", "blank"])
def test_invariants_14_and_18_what_gives_nothing_keeps_the_version_before_it_and_says_so(
    kitchen: Kitchen, content: bytes
) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.ingest()
    kitchen.write("soup.md", content)
    kitchen.ingest()
    (hit,) = kitchen.find("carrots")
    assert hit.stale is True
    versions = kitchen.facade.versions.history(ShowRequest(doc="soup.md"))
    assert versions.stale
    assert [version.state for version in versions.versions] == ["ready"]
    kitchen.write("soup.md", TWO)
    kitchen.ingest()
    assert kitchen.find("parsnips")[0].stale is None
    assert kitchen.facade.versions.history(ShowRequest(doc="soup.md")).stale is None


@pytest.mark.parametrize("seam", ["_take_in", "_delete", "_embed", "_clean_up"])
def test_invariants_2_3_7_and_8_a_run_that_ends_anywhere_leaves_good_versions_and_nothing_half_done(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch, seam: str
) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.ingest()
    kitchen.write("soup.md", TWO)

    def dies(*_: Any, **__: Any) -> None:
        raise RuntimeError(seam)

    with monkeypatch.context() as patch:
        patch.setattr(IngestRun, seam, dies)
        job = kitchen.finished(kitchen.facade.library.ingest(IngestRequest()))
    assert job.status == "failed"
    assert len(kitchen.find("soup")) == 1
    assert "indexing" not in kitchen.states("soup.md")[1:]
    kitchen.ingest()
    assert kitchen.find("carrots") == ()
    assert kitchen.find("parsnips")[0].stale is None
    assert kitchen.states("soup.md") == ["ready", "superseded"]


def test_invariant_12_the_same_bytes_elsewhere_are_read_as_their_own_file(kitchen: Kitchen) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.ingest()
    kitchen.write("copy.md", ONE)
    kitchen.ingest()
    assert {hit.doc_path for hit in kitchen.find("carrots")} == {"soup.md", "copy.md"}


def test_invariant_17_a_search_shows_one_version_of_a_file(kitchen: Kitchen) -> None:
    for text in (ONE, TWO, ONE, TWO + "\nMore soup.\n"):
        kitchen.write("soup.md", text)
        kitchen.ingest()
    assert len({hit.doc_id for hit in kitchen.find("soup has")}) == 1
    assert kitchen.states("soup.md") == ["ready", "superseded", "superseded", "superseded"]


def test_invariant_19_a_file_that_is_gone_stays_gone_whatever_a_late_run_does(kitchen: Kitchen) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.write("tea.md", "# Tea\n\nGreen.\n")
    kitchen.ingest()
    (kitchen.folder / "soup.md").unlink()
    kitchen.ingest()
    assert kitchen.find("carrots") == ()
    kitchen.ingest()
    assert kitchen.find("carrots") == ()


def test_what_changed_is_told_and_an_old_place_still_opens(kitchen: Kitchen) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.ingest()
    (old,) = kitchen.find("carrots")
    kitchen.write("soup.md", TWO)
    kitchen.ingest()
    diff = kitchen.facade.versions.diff(DiffRequest(doc="soup.md"))
    assert (diff.before, diff.after, diff.added, diff.removed) == (1, 2, 1, 1)
    changed = [(line.kind, line.text) for line in diff.hunks[0] if line.kind != "same"]
    assert changed == [("removed", "The soup has carrots."), ("added", "The soup has parsnips now.")]
    assert kitchen.facade.viewer.open(ViewerOpenRequest(chunk_id=old.chunk_id)).state in {"moved", "gone"}
    said = kitchen.facade.versions.purge(PurgeRequest(keep_versions=0, dry_run=True))
    done = kitchen.facade.versions.purge(PurgeRequest(keep_versions=0))
    assert (said.versions, done.versions, done.pinned) == (1, 1, 0)
    assert said.freed_bytes == done.freed_bytes > 0
    with pytest.raises(NotFound, match="version 1 of soup"):
        kitchen.facade.versions.diff(DiffRequest(doc="soup.md", before=1, after=2))


def test_a_file_that_is_taken_out_is_neither_found_nor_read_until_it_is_put_back(kitchen: Kitchen) -> None:
    kitchen.write("soup.md", ONE)
    kitchen.ingest()
    assert kitchen.facade.versions.remove(ItemRequest(doc="soup.md")).item.included is False
    assert kitchen.find("carrots") == ()
    kitchen.write("soup.md", TWO)
    kitchen.ingest()
    assert (kitchen.folder / "soup.md").read_text() == TWO
    assert kitchen.states("soup.md") == ["ready"]
    assert kitchen.facade.versions.put_back(ItemRequest(doc="soup.md")).item.included is True
    assert kitchen.find("carrots")[0].doc_path == "soup.md"
    kitchen.ingest()
    assert kitchen.find("parsnips")[0].doc_path == "soup.md"


def test_compacting_gives_room_back_and_leaves_every_answer_as_it_was(kitchen: Kitchen) -> None:
    for number in range(12):
        kitchen.write(f"{number}.md", f"# {number}\n\n" + f"Recipe {number} of the soup. " * 400)
    kitchen.ingest()
    for number in range(1, 12):
        (kitchen.folder / f"{number}.md").unlink()
    kitchen.ingest()
    before = json.loads(kitchen.facade.search.find(FindRequest(query="soup", mode="lexical")).model_dump_json())
    job = kitchen.finished(kitchen.facade.index.compact(CompactRequest()))
    report = kitchen.facade.index.compacted(JobRequest(job_id=job.id))
    assert report.after["total"] < report.before["total"]
    after = json.loads(kitchen.facade.search.find(FindRequest(query="soup", mode="lexical")).model_dump_json())
    assert [hit["chunk_id"] for hit in after["results"]] == [hit["chunk_id"] for hit in before["results"]]
    assert kitchen.facade.index.verify(VerifyRequest()).ok
    assert kitchen.facade.library.summary(Empty()).documents == 1
