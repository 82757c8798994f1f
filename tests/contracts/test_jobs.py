"""The file and its fake keep the same promises about jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.adapters.sqlite.job_control import SqliteJobControl
from kb.adapters.sqlite.jobs import SqliteJobStore
from kb.jobs.endings import RememberedEnds
from tests.contracts.jobs import JobContract, Queue, WallClock
from tests.fakes.jobs import FakeJobs


class TestFake(JobContract):
    @pytest.fixture
    def queue(self) -> Queue:
        clock = WallClock()
        fake = FakeJobs(now=clock)
        return Queue(fake, fake, clock)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "data")
    yield library
    library.close()


class TestSqlite(JobContract):
    @pytest.fixture
    def queue(self, library: Library) -> Queue:
        clock = WallClock()
        return Queue(SqliteJobStore(library, clock), SqliteJobControl(library), clock)


class TestRememberedEnds(JobContract):
    @pytest.fixture
    def queue(self, library: Library) -> Queue:
        clock = WallClock()
        jobs = RememberedEnds(SqliteJobStore(library, clock), SqliteJobControl(library))
        return Queue(jobs, jobs, clock)
