"""Libraries on different places of a disk, as on different computers, without a model unless told otherwise."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from kb.app.assembly import facade_of
from kb.app.bootstrap import Parts, library_lock
from kb.app.config_file import Configuration, load_configuration
from kb.app.facade.events import Events
from kb.app.gateway import open_own_library
from kb.app.work import JobDesk
from kb.contract.answers import AnswersRequest
from kb.contract.backup import Backup, BackupCreateRequest
from kb.contract.facade import Facade
from kb.contract.index import RebuildRequest
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.items import ItemsRequest
from kb.contract.jobs import Job, JobRequest
from kb.contract.search import FindRequest


@dataclass
class Place:
    folder: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def configuration(self) -> Configuration:
        home = {
            "KB_HOME": str(self.folder / "home"),
            "KB_WORKSPACE_ROOT": str(self.folder / "workspace"),
            "KB_MODELS_EMBEDDING_PROVIDER": "none",
            "KB_SEARCH_VECTOR_ENGINE": "scan",
            **self.extra,
        }
        return load_configuration(home)

    @property
    def data(self) -> Path:
        return self.configuration.data_dir

    @contextmanager
    def opened(self) -> Iterator[Facade]:
        with open_own_library(self.configuration, owner="test") as facade:
            yield facade

    def copied_to(self, folder: Path) -> Place:
        shutil.copytree(self.folder, folder)
        return Place(folder, self.extra)

    def ingest(self, facade: Facade) -> IngestReport:
        job = over(facade, facade.library.ingest(IngestRequest()))
        return facade.library.report(JobRequest(job_id=job.id))

    def files(self) -> list[Path]:
        return [file for file in (self.folder / "workspace").rglob("*") if file.is_file()]

    def put(self, name: str, text: str) -> None:
        file = self.folder / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def over(facade: Facade, job: Job) -> Job:
    while job.finished_at is None:
        time.sleep(0.01)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded", job.error
    return job


def state(facade: Facade) -> tuple[list[str], list[str]]:
    """The files and the questions a library knows."""
    items = [item.doc_path for item in facade.library.items(ItemsRequest()).items]
    answers = [answer.retrieval.trace_id for answer in facade.answers.recent(AnswersRequest()).answers]
    return items, answers


def backed_up(facade: Facade, file: Path | None = None) -> Backup:
    job = over(facade, facade.backup.create(BackupCreateRequest(file=str(file) if file else None)))
    return facade.backup.report(JobRequest(job_id=job.id))


def found(facade: Facade, query: str) -> list[tuple[str, str]]:
    hits = facade.search.find(FindRequest(query=query, mode="lexical")).results
    return [(hit.citation.uri, hit.snippet) for hit in hits]


def rebuilt(facade: Facade) -> int:
    job = over(facade, facade.index.rebuild(RebuildRequest()))
    return facade.index.report(JobRequest(job_id=job.id)).embedded


@contextmanager
def at_work(place: Place) -> Iterator[tuple[Parts, Facade]]:
    with ExitStack() as stack:
        stack.enter_context(library_lock(place.configuration, "test", 0))
        parts = Parts(place.configuration)
        stack.callback(parts.close)
        events = Events()
        desk = JobDesk(parts, events)
        stack.callback(desk.close)
        yield parts, cast("Facade", facade_of(parts, desk, events))
