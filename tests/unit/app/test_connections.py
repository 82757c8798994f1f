"""Embeddings by a server, from a setting to answers: what is sent, what is kept, and what happens without it."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keyring
import pytest

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.contract.base import Empty
from kb.contract.connections import (
    Connection,
    ConnectionKeyRemoveRequest,
    ConnectionKeyRequest,
    ConnectionTestRequest,
)
from kb.contract.facade import Facade
from kb.contract.generations import BuildRequest, SwitchRequest
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest
from kb.contract.system import DoctorCheck, DoctorRequest
from kb.domain.errors import NotFound
from kb.domain.failures import StorageFailed
from tests.fakes.keys import MemoryBackend
from tests.fakes.servers import LocalServer, Reply, embedding, ranking, serving
from tests.unit.adapters.models.rerank.tiny import make_model

SECRET = "sk-0123456789abcdef"
NOTES = {"tea.md": "# Tea\n\nThe kettle is in the kitchen.\n", "sea.md": "# Sea\n\nSalt water as far as one sees.\n"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KB_WORKSPACE_ROOT", str(tmp_path / "workspace"))
    (tmp_path / "workspace").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "workspace" / name).write_text(text, encoding="utf-8")
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> MemoryBackend:
    backend = MemoryBackend()
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    return backend


@contextmanager
def library(patch: pytest.MonkeyPatch, server: LocalServer | str | None = None, **more: str) -> Iterator[Facade]:
    """Open the library; with a server, embeddings are its."""
    url = server.base_url if isinstance(server, LocalServer) else server
    settings = {"PROVIDER": "none"} if url is None else {"PROVIDER": "openai_compatible", "BASE_URL": url, "MODEL": "m"}
    for key, value in {**settings, **more}.items():
        patch.setenv(key if key.startswith("KB_") else f"KB_MODELS_EMBEDDING_{key}", value)
    with open_own_library(load_configuration(), owner="test") as facade:
        yield facade


def over(facade: Facade, job: Any) -> Any:
    while job.finished_at is None:
        threading.Event().wait(0.02)
        job = facade.jobs.get(JobRequest(job_id=job.id))
    assert job.status == "succeeded", job.error
    return job


def ingest(facade: Facade) -> Any:
    job = over(facade, facade.library.ingest(IngestRequest()))
    return facade.library.report(JobRequest(job_id=job.id))


def build(facade: Facade) -> None:
    over(facade, facade.generations.build(BuildRequest()))
    over(facade, facade.generations.switch(SwitchRequest()))


def find(facade: Facade, query: str = "kettle") -> tuple[list[str], set[str]]:
    """Return the paths found, and the channels that were degraded with their reasons."""
    found = facade.search.find(FindRequest(query=query))
    used = [str(channel) for channel in found.diagnostics.used_channels]
    degraded = {one.reason for one in found.diagnostics.degraded_channels}
    return used, degraded


def row(facade: Facade, role: str = "embedding") -> Connection:
    return next(one for one in facade.connections.list(Empty()).connections if one.role == role)


def check(facade: Facade, name: str) -> DoctorCheck | None:
    return next((one for one in facade.system.doctor(DoctorRequest()).checks if one.name == name), None)


def test_nothing_is_sent_unless_a_server_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding()) as server:
        with library(monkeypatch, None, BASE_URL=server.base_url, MODEL="m") as facade:
            ingest(facade)
            find(facade)
            facade.system.doctor(DoctorRequest())
            assert row(facade).data_path == "nothing is embedded"
            with pytest.raises(NotFound):
                facade.connections.test(ConnectionTestRequest(role="embedding"))
        assert server.asked == []


def test_passages_are_embedded_by_the_server_and_opening_again_asks_it_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding(8)) as server:
        with library(monkeypatch, server) as facade:
            ingest(facade)
            used, degraded = find(facade)
            assert "vector" in used
            assert not degraded & {"no_embedding_model", "query_embedding_failed", "partial_vectors"}
            shown = row(facade)
        assert (shown.dimensions, shown.fits_index, shown.host) == (8, True, server.host)
        assert shown.data_path == f"every passage and question goes to {server.host}, on this computer"
        assert not shown.leaves_computer
        server.asked.clear()
        with library(monkeypatch, server) as facade:
            assert row(facade).fits_index
            assert ingest(facade).errors == 0
        assert server.asked == []


def test_without_its_server_words_answer_and_it_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding(8)) as server, library(monkeypatch, server) as facade:
        ingest(facade)
    with library(monkeypatch, server) as facade:
        used, degraded = find(facade)
        assert "lexical" in used
        assert "vector" not in used
        assert "embedding_endpoint_unreachable" in degraded
        tried = facade.connections.test(ConnectionTestRequest(role="embedding"))
        assert not tried.ok
        assert "does not answer" in tried.detail
        reachable = check(facade, "endpoint_reachable")
        assert reachable is not None
        assert reachable.ok
        assert "does not answer" in str(reachable.detail)
        assert reachable.hint
        assert facade.system.doctor(DoctorRequest()).ok


def test_passages_wait_for_a_server_that_is_away_and_the_next_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer, is_away = embedding(8), threading.Event()
    with serving(lambda asked: Reply(503, {}, {"Retry-After": "60"}) if is_away.is_set() else answer(asked)) as server:
        with library(monkeypatch, server) as facade:
            ingest(facade)
            is_away.set()
            (tmp_path / "workspace" / "new.md").write_text("# New\n\nA lamp.\n", encoding="utf-8")
            report = ingest(facade)
            assert report.errors == 0
            waiting = check(facade, "unfinished_work")
            assert waiting is not None
            assert "passages without a vector" in str(waiting.detail)
        is_away.clear()
        with library(monkeypatch, server) as facade:
            ingest(facade)
            waiting = check(facade, "unfinished_work")
            assert waiting is None or "without a vector" not in str(waiting.detail)


def test_another_server_under_the_same_model_name_never_reads_the_old_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding(8)) as first, serving(embedding(8)) as second:
        with library(monkeypatch, first) as facade:
            ingest(facade)
        first.asked.clear()
        with library(monkeypatch, second) as facade:
            used, degraded = find(facade)
            assert "vector" not in used
            assert "index_incompatible" in degraded
            shown = row(facade)
            assert not shown.fits_index
            assert "rebuild pending" in str(shown.problem)
            assert any("8d from" in line for line in facade.generations.list(Empty()).pending)
            # Whoever took the address out of the settings is not heard of there again.
            assert first.asked == []
            build(facade)
            used, _ = find(facade)
            assert "vector" in used
            assert row(facade).fits_index
        assert first.asked == []


def test_other_dimensions_behind_the_same_name_are_refused_until_a_rebuild(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding(8)) as server, library(monkeypatch, server) as facade:
        ingest(facade)
        server.answer = embedding(16)
        used, degraded = find(facade)
        assert "vector" not in used
        assert degraded & {"query_embedding_failed", "index_incompatible"}
        tried = facade.connections.test(ConnectionTestRequest(role="embedding"))
        assert (tried.ok, tried.dimensions, tried.fits_index) == (True, 16, False)
        assert any("8d from" in line and "16d from" in line for line in facade.generations.list(Empty()).pending)
        build(facade)
        used, _ = find(facade)
        assert "vector" in used


def test_a_build_that_fails_leaves_what_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding(8)) as server:
        with library(monkeypatch, server) as facade:
            ingest(facade)
        with library(monkeypatch, server, PASSAGE_PREFIX="passage: ") as facade:
            answer = embedding(8)
            server.answer = lambda asked: (
                Reply(500, {}) if asked.body["input"][0].startswith("passage: ") else answer(asked)
            )
            job = facade.generations.build(BuildRequest())
            while job.finished_at is None:
                threading.Event().wait(0.02)
                job = facade.jobs.get(JobRequest(job_id=job.id))
            assert job.status != "succeeded"
            used, _ = find(facade)
            assert "vector" in used


def test_a_key_is_kept_sent_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, home: Path, keys: MemoryBackend
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(embedding(8)) as server, library(monkeypatch, server) as facade:
        shown = facade.connections.set_key(ConnectionKeyRequest(role="embedding", key=SECRET))
        assert keys.kept == {("kebab", f"embedding@{server.host}"): SECRET}
        assert shown.connections[0].key == "key_store"
        ingest(facade)
        found = facade.search.find(FindRequest(query="kettle"))
        said = [shown, found, facade.connections.test(ConnectionTestRequest(role="embedding"))]
        server.answer = lambda asked: Reply(401, {"error": asked.headers["Authorization"]})
        refused = facade.connections.test(ConnectionTestRequest(role="embedding"))
        said += [refused, facade.system.doctor(DoctorRequest()), facade.search.find(FindRequest(query="kettle"))]
        assert "key set embedding" in str(refused.hint)
        assert all(asked.headers["Authorization"] == f"Bearer {SECRET}" for asked in server.asked)
        assert facade.connections.remove_key(ConnectionKeyRemoveRequest(role="embedding")).connections[0].key == "none"
        with pytest.raises(NotFound):
            facade.connections.remove_key(ConnectionKeyRemoveRequest(role="embedding"))
    assert SECRET not in caplog.text
    assert all(SECRET not in one.model_dump_json() for one in said)
    for file in home.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file.name


def test_without_a_key_store_the_variable_is_named(monkeypatch: pytest.MonkeyPatch, keys: MemoryBackend) -> None:
    keys.priority = 0.0
    monkeypatch.setenv("KB_KEY_CLOUD", SECRET)
    with serving(embedding(8)) as server, library(monkeypatch, server, KEY_NAME="cloud") as facade:
        assert load_configuration().warnings == ()
        shown = facade.connections.list(Empty())
        assert not shown.key_store
        assert (shown.connections[0].key, shown.connections[0].key_variable) == ("environment", "KB_KEY_CLOUD")
        with pytest.raises(StorageFailed, match="no key store"):
            facade.connections.set_key(ConnectionKeyRequest(role="embedding", key="another"))
        assert SECRET not in shown.model_dump_json()


def test_a_server_that_never_answered_is_unreachable_and_words_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embedding(8)) as server:
        url = server.base_url
    with library(monkeypatch, url) as facade:
        assert ingest(facade).errors == 0
        used, degraded = find(facade)
        assert "lexical" in used
        assert "embedding_endpoint_unreachable" in degraded
        assert facade.system.doctor(DoctorRequest()).ok


def test_a_cloud_is_shown_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {
        "KB_MODELS_RERANK_PROVIDER": "endpoint",
        "KB_MODELS_RERANK_BASE_URL": "https://api.example.com/v1",
        "KB_MODELS_RERANK_MODEL": "r1",
    }
    with library(monkeypatch, None, **more) as facade:
        shown = row(facade, "rerank")
        assert shown.leaves_computer
        assert shown.data_path.endswith("questions and passages found go to api.example.com")
        assert row(facade, "answers").data_path == "stays on this computer"


def test_a_rerank_server_can_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(ranking()) as server:
        more = {"KB_MODELS_RERANK_PROVIDER": "endpoint", "KB_MODELS_RERANK_BASE_URL": server.base_url}
        with library(monkeypatch, None, **more) as facade:
            tried = facade.connections.test(ConnectionTestRequest(role="rerank"))
        assert tried.ok
        assert json.dumps(server.asked[0].body).count("kettle") == 0


def test_an_address_nothing_may_be_sent_to_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with library(monkeypatch, "http://192.0.2.1/v1") as facade:
        shown = row(facade)
        assert shown.data_path == "nothing is sent"
        assert "unencrypted" in str(shown.problem)
        ingest(facade)
        assert "lexical" in find(facade)[0]


def test_a_search_orders_by_the_rerank_server_and_says_when_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(ranking()) as server:
        more = {"KB_MODELS_RERANK_PROVIDER": "endpoint", "KB_MODELS_RERANK_BASE_URL": server.base_url}
        with library(monkeypatch, None, **more) as facade:
            ingest(facade)
            facade.search.find(FindRequest(query="kettle"))
            assert server.asked == []
            found = facade.search.find(FindRequest(query="kettle", rerank="model"))
            assert server.asked[0].body["query"] == "kettle"
            assert "rerank_failed" not in {one.reason for one in found.diagnostics.degraded_channels}
            server.answer = lambda _: Reply(body={"results": []})
            fallen = facade.search.find(FindRequest(query="kettle", rerank="model"))
            assert "rerank_failed" in {one.reason for one in fallen.diagnostics.degraded_channels}
            plain = facade.search.find(FindRequest(query="kettle"))
            assert [hit.chunk_id for hit in fallen.results] == [hit.chunk_id for hit in plain.results]


def test_a_rerank_model_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"KB_MODELS_RERANK_PROVIDER": "cross_encoder", "KB_MODELS_RERANK_MODEL": "nowhere"}
    with library(monkeypatch, None, **more) as facade:
        ingest(facade)
        found = facade.search.find(FindRequest(query="kettle", rerank="model"))
        (failed,) = [one for one in found.diagnostics.degraded_channels if one.reason == "rerank_failed"]
        assert "'nowhere' is not installed" in failed.detail
        assert found.results


def test_a_cross_encoder_in_the_models_folder_orders(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    make_model(home / "data" / "models" / "tiny")
    more = {"KB_MODELS_RERANK_PROVIDER": "cross_encoder", "KB_MODELS_RERANK_MODEL": "tiny"}
    with library(monkeypatch, None, **more) as facade:
        ingest(facade)
        assert facade.connections.test(ConnectionTestRequest(role="rerank")).ok
        found = facade.search.find(FindRequest(query="salt kettle", rerank="model"))
        assert "rerank_failed" not in {one.reason for one in found.diagnostics.degraded_channels}
        assert found.results
