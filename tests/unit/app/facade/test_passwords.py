"""A password opens the locked files of one run and is kept nowhere."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest
from kb.ingest.pipeline import IngestRun
from kb.ingest.run_ports import IngestOptions
from tests.unit.app.facade.conftest import Home

SECRET = "pässword-that-nobody-keeps-42"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[IngestOptions]:
    """The options each run was started with."""
    seen: list[IngestOptions] = []

    def remember(*arguments: object, **keywords: object) -> object:
        seen.append(arguments[2])  # type: ignore[arg-type]
        return IngestRun(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr("kb.app.handlers.ingest.Run", remember)
    return seen


def test_the_run_gets_the_password_and_no_file_of_ours_does(
    home: Home, tmp_path: Path, given: list[IngestOptions], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home.put("a.md", "# Boats\n")
    home.put("locked.pdf", b"%PDF-1.7\nnothing that can be read")
    with home.opened() as desk:
        job = desk.facade.library.ingest(IngestRequest(password=SECRET))
        while job.finished_at is None:
            time.sleep(0.01)
            job = desk.facade.jobs.get(JobRequest(job_id=job.id))
        assert job.status == "succeeded"
        assert [options.password for options in given] == [SECRET]
        desk.ingest()
        assert [options.password for options in given] == [SECRET, None]
        left = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert left == []
    assert [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in caplog.text


def test_a_password_is_not_shown_where_requests_and_options_are() -> None:
    request, options = IngestRequest(password=SECRET), IngestOptions(password=SECRET)
    assert SECRET not in f"{request!r} {request} {options!r}"


def test_an_error_of_a_request_does_not_say_the_password() -> None:
    with pytest.raises(ValueError, match="password") as caught:
        IngestRequest.model_validate({"password": SECRET * 100, "paths": 3})
    assert SECRET not in str(caught.value)


def test_a_job_that_a_crash_interrupted_goes_on_without_its_password(home: Home, given: list[IngestOptions]) -> None:
    home.put("a.md", "# Boats\n")
    with open_own_library(load_configuration(), owner="test") as facade:
        job = facade.library.ingest(IngestRequest(password=SECRET))
        assert facade.library.ingest(IngestRequest()).id != job.id
        while facade.jobs.get(JobRequest(job_id=job.id)).finished_at is None:
            time.sleep(0.01)
        desk = facade.library._work  # type: ignore[attr-defined]
        assert desk._passwords == {}
    assert given[0].password == SECRET
