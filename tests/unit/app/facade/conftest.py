"""The whole program but its window: a real library over a small workspace, without vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.facade import Facade
from kb.contract.ingest import IngestReport, IngestRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest, SearchHit


@dataclass
class Desk:
    """A facade, and what every test does with it."""

    workspace: Path
    facade: Facade

    def ingest(self) -> IngestReport:
        job = self.facade.library.ingest(IngestRequest())
        deadline = time.monotonic() + 30
        while job.status in {"pending", "running"} and time.monotonic() < deadline:
            time.sleep(0.01)
            job = self.facade.jobs.get(JobRequest(job_id=job.id))
        assert job.status == "succeeded", job.error
        return self.facade.library.report(JobRequest(job_id=job.id))

    def find(self, query: str) -> list[SearchHit]:
        return list(self.facade.search.find(FindRequest(query=query, mode="lexical")).results)


@dataclass
class Home:
    """A home folder; opened as often as a test likes, each time with other settings if need be."""

    workspace: Path
    set_variable: Callable[[str, str], None] = field(repr=False)

    def put(self, path: str, content: str | bytes) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    @contextmanager
    def opened(self, variables: Mapping[str, str] | None = None) -> Iterator[Desk]:
        for name, value in (variables or {}).items():
            self.set_variable(name, value)
        with open_own_library(load_configuration(), owner="test") as facade:
            yield Desk(self.workspace, facade)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    made = Home(workspace, monkeypatch.setenv)
    made.set_variable("KB_HOME", str(tmp_path / "home"))
    made.set_variable("KB_WORKSPACE_ROOT", str(workspace))
    made.set_variable("KB_MODELS_EMBEDDING_PROVIDER", "none")
    return made
