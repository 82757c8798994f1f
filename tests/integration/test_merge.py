"""What a backup has and another library has not comes in; nothing there is changed, nothing is embedded."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.app.restoring import restore_library
from kb.contract.answers import AskRequest
from kb.contract.backup import BackupRequest, MergeReport
from kb.contract.base import Empty
from kb.contract.facade import Facade
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest
from kb.contract.viewer import ViewerOpenRequest
from tests.homes import needs_embedder
from tests.places import Place, at_work, backed_up, found, over, rebuilt

OVEN = "# Oven\n\nThe oven is lit at 05:30 every morning except Sunday.\n"
GRILL = "# Grill\n\nThe grill turns all day long.\n"


def merged(facade: Facade, file: Path) -> MergeReport:
    job = over(facade, facade.backup.merge(BackupRequest(file=str(file))))
    return facade.backup.merged(JobRequest(job_id=job.id))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "here")
    made.put("oven.md", OVEN)
    made.put("메모/불.md", "# 불\n\n불은 아침 다섯 시 반에 켠다.\n")
    return made


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return tmp_path / "disk" / "a.kbbackup"


def test_a_merge_brings_what_is_not_here_and_changes_nothing(place: Place, tmp_path: Path, elsewhere: Path) -> None:
    place.put("both.md", "# Both\n\nThe same in both places.\n")
    place.put("gone.md", "# Gone\n\nThis was thrown away over there.\n")
    with place.opened() as facade:
        place.ingest(facade)
        facade.answers.ask(AskRequest(question="When is the oven lit?", mode="lexical"))
        backed_up(facade, elsewhere)
        theirs = found(facade, "불은 아침")
    other = Place(tmp_path / "other")
    other.put("both.md", "# Both\n\nThe same in both places.\n")
    other.put("oven.md", "# Oven\n\nOur own oven is lit at noon.\n")
    other.put("grill.md", GRILL)
    with other.opened() as facade:
        other.ingest(facade)
        report = merged(facade, elsewhere)
        assert (report.added.items, report.added.documents, report.added.answers, report.embedded) == (2, 2, 1, 0)
        assert (report.same, report.kept) == (1, ("oven.md",))
        assert found(facade, "불은 아침") == theirs
        assert "noon" in found(facade, "oven lit")[0][1]
        assert found(facade, "grill turns")
        (hit, *_) = found(facade, "thrown away")
        view = facade.viewer.open(ViewerOpenRequest(citation=hit[0]))
        assert "thrown away" in facade.viewer.file(view.item_id).path.read_text(encoding="utf-8")
        again = merged(facade, elsewhere)
        assert (again.added.items, again.added.passages, again.added.answers, again.same) == (0, 0, 0, 3)
    with at_work(other) as (parts, _facade):
        assert parts.integrity.check(None).problems == ()


@needs_embedder
def test_vectors_come_along_and_nothing_is_embedded(tmp_path: Path, elsewhere: Path) -> None:
    vectors = {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"}
    place = Place(tmp_path / "here", vectors)
    place.put("oven.md", OVEN)
    with place.opened() as facade:
        place.ingest(facade)
        made = backed_up(facade, elsewhere)
    assert made.counts.vectors == 1
    other = Place(tmp_path / "other", vectors)
    other.put("grill.md", GRILL)
    with other.opened() as facade:
        other.ingest(facade)
        report = merged(facade, elsewhere)
        assert (report.added.vectors, report.embedded) == (1, 0)
        hits = facade.search.find(FindRequest(query="When is the fire lit?", mode="vector")).results
        assert hits[0].citation.uri.startswith("oven.md")
    third = Place(tmp_path / "third", vectors)
    restore_library(third.configuration, str(elsewhere), agreed=False)
    with third.opened() as facade:
        assert rebuilt(facade) == 0
        assert facade.library.summary(Empty()).vectors == 1
        hits = facade.search.find(FindRequest(query="When is the fire lit?", mode="vector")).results
        assert hits[0].citation.uri.startswith("oven.md")
