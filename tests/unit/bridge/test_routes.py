"""The routes of the facade's methods: requests in, replies and problems out."""

from __future__ import annotations

import json
import logging

import pytest

from kb.contract.facade import contract_groups, methods_of
from kb.contract.search import FindRequest
from kb.domain.errors import Conflict, InvalidInput, NotFound
from kb.domain.failures import Busy, ModelUnavailable
from tests.unit.bridge.conftest import Live

MINIMAL: dict[str, dict[str, object]] = {
    "answers/ask": {"question": "q"},
    "answers/get": {"trace_id": "ret_1"},
    "answers/stop": {"trace_id": "ret_1"},
    "backup/merge": {"file": "b"},
    "backup/merged": {"job_id": "j"},
    "backup/report": {"job_id": "j"},
    "backup/verify": {"file": "b"},
    "chunking/preview": {"doc": "a.md"},
    "chunking/rebuilt": {"job_id": "j"},
    "chunking/set": {"doc": "a.md", "settings": None},
    "chunks/delete": {"chunk_id": "c"},
    "chunks/edit": {"chunk_id": "c", "text": "t"},
    "chunks/enable": {"chunk_id": "c", "enabled": False},
    "chunks/inspect": {"chunk_id": "c"},
    "chunks/list": {"doc": "a.md"},
    "chunks/restore": {"layer_id": "l"},
    "chunks/undo": {"chunk_id": "c"},
    "collections/add": {"collection": "c", "revision": 1, "items": ("a.md",)},
    "collections/archive": {"collection": "c", "revision": 1},
    "collections/create": {"name": "c"},
    "collections/items": {"collection": "c"},
    "collections/leave_out": {"collection": "c", "revision": 1, "items": ("a.md",)},
    "collections/of": {"doc": "a.md"},
    "collections/order": {"collection": "c", "revision": 1, "position": 0},
    "collections/restore": {"collection": "c", "revision": 1},
    "collections/update": {"collection": "c", "revision": 1},
    "connections/remove_key": {"role": "embedding"},
    "connections/set_key": {"role": "embedding", "key": "k"},
    "connections/test": {"role": "embedding"},
    "evaluation/add": {"suite": "s", "query": "q", "refuse": True},
    "evaluation/compare": {"a": "latest", "b": "latest"},
    "evaluation/get": {"run_id": "latest"},
    "evaluation/report": {"job_id": "j"},
    "evaluation/run": {"suite": "s"},
    "evaluation/take_in": {"suite": "s", "folder": "f"},
    "generations/built": {"job_id": "j"},
    "graph/add": {"source": "a.md", "target": "b.md"},
    "graph/links": {"doc": "a.md"},
    "graph/rebuilt": {"job_id": "j"},
    "graph/remove": {"source": "a.md", "target": "b.md"},
    "graph/restore": {"source": "a.md", "target": "b.md"},
    "index/compacted": {"job_id": "j"},
    "index/report": {"job_id": "j"},
    "jobs/cancel": {"job_id": "j"},
    "jobs/get": {"job_id": "j"},
    "jobs/pause": {"job_id": "j"},
    "jobs/resume": {"job_id": "j"},
    "jobs/retry": {"job_id": "j"},
    "library/coverage": {"doc_path": "a.md"},
    "library/item": {"doc": "a.md"},
    "library/masked": {"doc": "a.md"},
    "library/report": {"job_id": "j"},
    "library/show": {"doc": "a.md"},
    "search/find": {"query": "q"},
    "search/why": {"query": "q", "expected": "a.md"},
    "search/forget": {"name": "n"},
    "search/names": {"query": "q"},
    "search/parse": {"query": "q"},
    "search/save": {"name": "n", "request": {"query": "q"}},
    "versions/diff": {"doc": "a.md"},
    "versions/history": {"doc": "a.md"},
    "versions/put_back": {"doc": "a.md"},
    "versions/remove": {"doc": "a.md"},
    "viewer/context": {"chunk_id": "c"},
    "viewer/open": {"chunk_id": "c"},
}


def test_every_method_answers_with_its_wire_object(live: Live) -> None:
    for method in methods_of(contract_groups()):
        key = f"{method.group}/{method.name}"
        reply = live.post(key, MINIMAL.get(key, {}))
        assert (key, reply.status) == (key, 200)
        assert reply.header("content-type") == "application/json"
        assert method.reply.read(reply.body) == live.facade.replies[method.group, method.name]
        assert live.facade.calls[-1][:2] == (method.group, method.name)


def test_the_request_arrives_as_it_was_sent(live: Live) -> None:
    live.post("search/find", {"query": "규칙은?", "top_k": 3, "filters": {"tags_any": ["a", "b"]}})
    ((_, _, request),) = live.facade.calls
    assert isinstance(request, FindRequest)
    assert (request.query, request.top_k) == ("규칙은?", 3)
    assert request.filters is not None
    assert request.filters.tags_any == ("a", "b")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"query": ""}',
        b'{"query": "q", "top_k": 21}',
        b'{"query": 1}',
        b"\xff",
        b'{"query": "\\ud800"}',
    ],
)
def test_a_wrong_request_is_a_problem_and_reaches_nobody(live: Live, body: bytes) -> None:
    reply = live.send("POST", "/api/v1/search/find", body=body)
    assert reply.status == 400
    assert reply.header("content-type") == "application/problem+json"
    sent = json.loads(reply.body)
    assert {"type", "title", "status", "detail", "code", "hint"} <= set(sent)
    assert (sent["status"], sent["code"]) == (400, "bad_request")
    assert live.facade.calls == []


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound("no such job", hint="look again"), 404, "not_found"),
        (InvalidInput("no"), 400, "bad_request"),
        (Conflict("a backup is under way", hint="wait"), 409, "conflict"),
        (Busy("held by another"), 409, "library_busy"),
        (ModelUnavailable("no model"), 503, "model_unavailable"),
    ],
)
def test_an_error_of_ours_is_a_problem_with_its_code(live: Live, error: Exception, status: int, code: str) -> None:
    live.facade.errors["jobs/get"] = error
    reply = live.post("jobs/get", {"job_id": "j"})
    assert (reply.status, reply.code) == (status, code)
    assert json.loads(reply.body)["detail"] == str(error)


def test_a_bug_tells_an_incident_and_the_log_has_the_rest(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    live.facade.errors["jobs/get"] = RuntimeError("/home/someone/secret.txt")
    with caplog.at_level(logging.ERROR, logger="kb.bridge"):
        reply = live.post("jobs/get", {"job_id": "j"})
    assert (reply.status, reply.code) == (500, "internal")
    assert b"secret" not in reply.body
    incident = json.loads(reply.body)["incident"]
    assert incident in caplog.text
    assert "secret.txt" in caplog.text


def test_a_reply_that_does_not_fit_the_contract_is_our_bug_and_not_the_callers(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ValueError, match="query") as caught:
        FindRequest.model_validate({})
    live.facade.errors["jobs/get"] = caught.value
    assert live.post("jobs/get", {"job_id": "j"}).status == 500


def test_a_method_that_is_not_there_and_one_called_otherwise_are_problems(live: Live) -> None:
    for path, method, status, code in (
        ("/api/v1/search/nothing", "POST", 404, "no_such_route"),
        ("/api/v1/answers/stream", "POST", 404, "no_such_route"),
        ("/api/v1/viewer/file", "POST", 404, "no_such_route"),
        ("/api/v1/search/find", "GET", 405, "method_not_allowed"),
        ("/api/v1/search/find", "DELETE", 405, "method_not_allowed"),
    ):
        reply = live.send(method, path)
        assert (path, reply.status, reply.code) == (path, status, code)


def test_health_says_ok_and_nothing_else(live: Live) -> None:
    reply = live.send("GET", "/api/v1/health", token=None)
    assert (reply.status, reply.body) == (200, b"ok")


def test_the_description_names_every_route(live: Live) -> None:
    described = json.loads(live.send("GET", "/api/v1/openapi.json").body)
    served = {path for method, path in live.routes if method in {"GET", "POST"}}
    assert set(described["paths"]) == served
    text = json.dumps(described)
    assert "#/$defs/" not in text
    names = {name.partition('"')[0] for name in text.split("#/components/schemas/")[1:]}
    assert names <= set(described["components"]["schemas"])
