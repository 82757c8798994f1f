"""Every reply of the real facade: as its schema says, and the same through a server as without one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from kb.app.config_file import load_configuration
from kb.app.gateway import open_own_library
from kb.app.remote import RemoteFacade
from kb.bridge import server as bridge
from kb.contract.answers import AskRequest
from kb.contract.base import Wire
from kb.contract.events import StreamEvent
from kb.contract.facade import Facade, Method
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest
from kb.contract.viewer import ViewerOpenRequest
from kb.domain.errors import KebabError
from tests.unit.app.facade.asking import METHODS, over, request, requests

SCHEMAS = Path(__file__).resolve().parents[4] / "docs" / "wire-schema" / "v1"
TOKEN = "t0ken-of-this-test"
NOTES = {
    "ops/백업 #1 100%.md": "---\ntitle: 백업\ntags: [운영]\nowner: Otto\n---\n# 백업\n\n백업은 일요일 3시에 한다.\n",
    "ops/backup.md": "# Backup\n\n## When\n\nThe backup runs on Sunday at 03:00. It takes an hour.\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "zh/猫.txt": "猫叫味噌。\n它每天睡十二个小时。\n",
    "code/run.py": "def run() -> None:\n    '''Run the backup.'''\n",
    "twice.md": "# Twice\n\nOnce.\n",
    "bad.md": "---\ntitle: [\n---\n# Bad\n\nText.\n",
}
# Different by nature: times, ids of a run.
FLEETING = {"trace_id", "duration_ms", "milliseconds", "latency_ms", "created_at", "took_ms"}
STARTING = {
    "library/ingest",
    "index/rebuild",
    "index/compact",
    "backup/create",
    "backup/merge",
    "chunking/rebuild",
    "evaluation/add",
    "evaluation/run",
    "evaluation/take_in",
    "generations/build",
    "graph/rebuild",
    "generations/discard",
    "generations/rollback",
    "generations/switch",
    "jobs/retry",
    # They write into the key store of whoever runs the tests: see test_connections.py.
    "connections/remove_key",
    "connections/set_key",
}
# Each rises the revision that the next must say.
REVISED = {
    *(f"collections/{name}" for name in ("add", "archive", "create", "leave_out", "order", "restore", "update")),
    "search/forget",
    "search/save",
}
# What is taken away once cannot be again.
LINKING = {"graph/add", "graph/remove", "graph/restore"}
# What they undo is gone the second time.
UNDOING = {"chunks/restore", "chunks/undo"}


@dataclass
class Both:
    """One library, here and through its server."""

    here: Facade
    there: RemoteFacade
    requests: Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("library")
    for name, text in NOTES.items():
        file = folder / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KB_HOME", str(folder / "home"))
        patch.setenv("KB_WORKSPACE_ROOT", str(folder / "workspace"))
        patch.setenv("KB_MODELS_EMBEDDING_PROVIDER", "none")
        # A port nobody listens on: the server is tried, and does not answer.
        patch.setenv("KB_MODELS_RERANK_PROVIDER", "endpoint")
        patch.setenv("KB_MODELS_RERANK_BASE_URL", "http://127.0.0.1:9/v1")
        configuration = load_configuration()
        patch.setenv("KB_CHUNKING_TARGET_CHARACTERS", "800")
        earlier = load_configuration()
    # What was read by other settings: there is a generation to build.
    with open_own_library(earlier, owner="test") as facade:
        over(facade, facade.library.ingest(IngestRequest()))
    (folder / "workspace" / "twice.md").write_text("# Twice\n\nOnce more.\n", encoding="utf-8")
    with open_own_library(configuration, owner="test") as facade, bridge.listen(0) as listening:
        port = listening.getsockname()[1]
        app = bridge.create_server(facade, token=TOKEN, port=port)
        ready, servers = threading.Event(), []

        class Remembered(bridge._Server):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                servers.append(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bridge, "_Server", Remembered)
            thread = threading.Thread(target=bridge.run_server, args=(app, listening, lambda _port: ready.set()))
            thread.start()
            assert ready.wait(20)
        there = RemoteFacade(f"http://127.0.0.1:{port}", TOKEN)
        try:
            yield Both(facade, there, requests(facade))
        finally:
            there.close()
            servers[0].should_exit = True
            thread.join(20)


def _call(facade: Any, method: Method, fields: Mapping[str, Any]) -> Wire:
    reply: Wire = getattr(getattr(facade, method.group), method.name)(request(f"{method.group}/{method.name}", fields))
    return reply


def _lasting(node: Any) -> Any:
    if isinstance(node, list):
        return [_lasting(entry) for entry in node]
    if isinstance(node, dict):
        # How much room is left on the disk changes while one looks.
        fleeting = {*FLEETING, "detail"} if node.get("name") == "disk_space" else FLEETING
        return {key: _lasting(value) for key, value in node.items() if key not in fleeting}
    return node


def _check(reply: Wire) -> Any:
    """Hold a reply, and every object in it that has a version of its own, to the schema on disk."""
    sent = json.loads(reply.model_dump_json())
    for part in _versioned(sent):
        name = part["schema_version"].removesuffix(".v1")
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
        Draft202012Validator(schema).validate(part)
    return sent


def _versioned(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for entry in node:
            yield from _versioned(entry)
    elif isinstance(node, dict):
        if "schema_version" in node:
            yield node
        for value in node.values():
            yield from _versioned(value)


@pytest.mark.parametrize("name", sorted(set(METHODS) - STARTING - UNDOING - REVISED - LINKING))
def test_a_reply_is_as_its_schema_says_and_the_same_through_a_server(both: Both, name: str) -> None:
    method, fields = METHODS[name], both.requests.get(name, {})
    here = _check(_call(both.here, method, fields))
    there = _check(_call(both.there, method, fields))
    assert "schema_version" in here
    assert _lasting(here) == _lasting(there)


@pytest.mark.parametrize("name", sorted(UNDOING))
def test_an_edit_undone_is_the_same_through_a_server(both: Both, name: str) -> None:
    asked = both.requests["chunks/inspect"]
    seen = []
    for facade in (both.here, both.there):
        _call(facade, METHODS["chunks/edit"], {**asked, "text": "The backup runs whenever somebody thinks of it."})
        undone = _lasting(_check(_call(facade, METHODS[name], asked)))
        seen.append({**undone["chunk"], "updated_at": None})
    assert seen[0] == seen[1]
    assert "Sunday" in seen[0]["text"]


def test_every_change_of_a_collection_is_the_same_through_a_server(both: Both) -> None:
    seen: list[list[Any]] = []
    for facade in (both.here, both.there):
        course: list[Any] = []

        def change(name: str, fields: Mapping[str, Any], facade: Any = facade, course: list[Any] = course) -> None:
            own = {"collection": "Course", "revision": len(course)} if course else {}
            reply = _check(_call(facade, METHODS[f"collections/{name}"], {**own, **fields}))["collection"]
            course.append({**_lasting(reply), "collection_id": "", "updated_at": "", "position": 0})

        change("create", {"name": "Course"})
        change("add", {"items": ["zh/猫.txt", "twice.md"]})
        change("leave_out", {"items": ["twice.md"]})
        change("update", {"rules": [{"kind": "tag", "value": "운영"}], "chunking": {"mode": "fixed"}})
        change("update", {"chunking": None})
        change("order", {"position": 0})
        change("archive", {})
        change("restore", {})
        change("update", {"name": f"Course of {id(facade)}"})
        course.pop()
        seen.append(course)
    assert seen[0] == seen[1]
    assert [step["items"] for step in seen[0]] == [0, 2, 1, 2, 2, 2, 2, 2]
    assert [step["chunking"] is None for step in seen[0]] == [True, True, True, False, True, True, True, True]


def test_a_link_made_by_hand_taken_away_and_restored_is_the_same_through_a_server(both: Both) -> None:
    ends = {"source": "twice.md", "target": "bad.md"}
    seen = []
    for facade in (both.here, both.there):
        asked: list[tuple[str, dict[str, Any]]] = [
            ("add", {**ends, "note": "alike"}),
            ("remove", ends),
            ("restore", ends),
        ]
        seen.append([_check(_call(facade, METHODS[f"graph/{name}"], fields))["links"] for name, fields in asked])
    assert seen[0] == seen[1]
    assert [link["active"] for (link,) in seen[0]] == [True, False, True]


def test_keeping_a_search_is_the_same_through_a_server(both: Both) -> None:
    asked = {"name": "Sundays", "request": {"query": "backup", "filters": {"lang": "en"}}, "replace": True}
    kept = [_check(_call(one, METHODS["search/save"], asked))["searches"][0] for one in (both.here, both.there)]
    assert [(one["name"], one["request"]["query"]) for one in kept] == [("Sundays", "backup")] * 2
    assert _check(_call(both.there, METHODS["search/forget"], {"name": "sundays"}))["searches"] == []


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("answers/get", {"trace_id": "nobody"}),
        ("collections/items", {"collection": "nobody"}),
        ("collections/archive", {"collection": "Ops", "revision": 99}),
        ("search/forget", {"name": "nobody"}),
        ("chunks/inspect", {"chunk_id": "nobody"}),
        ("connections/set_key", {"role": "embedding", "key": "k"}),
        ("connections/remove_key", {"role": "caption"}),
        ("jobs/get", {"job_id": "nobody"}),
        ("jobs/retry", {"job_id": "nobody"}),
        ("library/show", {"doc": "nowhere.md"}),
        ("library/coverage", {"doc_path": "../outside.md"}),
        ("search/find", {"query": "q", "collections": ["none"]}),
        ("viewer/open", {"citation": "not a citation"}),
        ("answers/ask", {"question": "q", "provider": "llama_cpp"}),
    ],
)
def test_an_error_is_the_same_through_a_server(both: Both, name: str, fields: Mapping[str, Any]) -> None:
    raised = []
    for facade in (both.here, both.there):
        with pytest.raises(KebabError) as caught:
            _call(facade, METHODS[name], fields)
        error = caught.value
        raised.append((type(error), error.code, error.message, error.hint))
    assert raised[0] == raised[1]
    assert raised[0][2]


def test_a_stream_is_the_same_through_a_server(both: Both) -> None:
    seen = []
    for facade in (both.here, both.there):
        events: list[Any] = []

        def reader(event: StreamEvent, events: list[Any] = events) -> None:
            events.append((event.name, _lasting(_check(event.data))))

        facade.answers.stream(AskRequest(question="备份 backup Sunday?", mode="lexical"), reader)
        seen.append(events)
    assert seen[0] == seen[1]
    assert (seen[0][0][0], seen[0][-1][0]) == ("retrieval", "answer")


def test_a_hit_of_a_document_with_an_odd_name_opens_by_its_uri(both: Both) -> None:
    (found, *_) = both.there.search.find(FindRequest(query="일요일 3시", mode="lexical")).results
    view = both.there.viewer.open(ViewerOpenRequest(citation=found.citation.uri))
    assert (view.state, view.doc_path) == ("exact", "ops/백업 #1 100%.md")
    assert view.lines is not None
    assert found.citation.line is not None
    assert (view.lines.start, view.lines.end) == (found.citation.line.start, found.citation.line.end)


def test_a_graph_weight_that_was_asked_for_is_the_one_that_is_told(both: Both) -> None:
    assert (
        both.here.search.find(FindRequest(query="backup", mode="lexical", graph_weight=0.5)).settings.graph_weight
        == 0.5
    )


def test_the_end_of_a_job_is_an_event(both: Both) -> None:
    listening = both.here.events.subscribe()
    job = both.here.library.ingest(IngestRequest(retry=True))
    told = []
    while (event := listening.next(10)) is not None and event.changed != ("jobs",):
        told.append(event.job)
    listening.close()
    last = next(found for found in reversed(told) if found is not None)
    assert (last.id, last.status) == (job.id, both.here.jobs.get(JobRequest(job_id=job.id)).status)
    assert last.finished_at is not None
