"""Streamed answers and events."""

from __future__ import annotations

import json
import socket
import time
from contextlib import ExitStack

from kb.bridge.streams import MAX_LISTENERS
from kb.contract.events import Event
from kb.domain.failures import ModelUnavailable
from tests.unit.bridge.conftest import TOKEN, Live, Reply

SSE = [("Accept", "text/event-stream")]


def events(reply: Reply) -> list[tuple[str, dict[str, object]]]:
    """The (name, data) of a whole stream; comments left out."""
    found = []
    for block in reply.body.split(b"\n\n"):
        fields = dict(line.partition(b": ")[::2] for line in block.split(b"\n"))
        if b"data" in fields:
            found.append((fields[b"event"].decode(), json.loads(fields[b"data"])))
    return found


def connect(live: Live, method: str, path: str, body: bytes = b"", head: str = "") -> socket.socket:
    """Send a request for a stream and leave the connection open."""
    head += f"Host: 127.0.0.1:{live.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", live.port), timeout=20)
    connection.sendall(f"{method} {path} HTTP/1.1\r\n{head}".encode() + body)
    return connection


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    """What comes up to and with `mark`."""
    data = b""
    while mark not in data:
        piece = connection.recv(65_536)
        assert piece, data
        data += piece
    return data


def test_retrieval_comes_before_any_token_and_the_answer_last(live: Live) -> None:
    reply = live.send("POST", "/api/v1/answers/ask", headers=SSE, body=b'{"question": "q"}')
    assert (reply.status, reply.header("content-type")) == (200, "text/event-stream; charset=utf-8")
    found = events(reply)
    assert [name for name, _ in found] == ["retrieval", "token", "token", "claim", "answer"]
    assert found[0][1]["schema_version"] == "retrieval_response.v1"
    assert [data["text"] for name, data in found if name == "token"] == ["heading\u2028", "boundary\n\n우선 [1]."]
    assert found[-1][1]["schema_version"] == "answer.v1"


def test_tokens_arrive_while_the_answer_is_still_being_written(live: Live) -> None:
    live.facade.go_on.clear()
    with connect(live, "POST", "/api/v1/answers/ask", b'{"question": "q"}') as connection:
        early = read_until(connection, b"event: token")
        assert b"event: answer" not in early
        live.facade.go_on.set()
        read_until(connection, b"event: answer")


def test_a_reader_that_leaves_does_not_end_the_answer(live: Live) -> None:
    live.facade.go_on.clear()
    with connect(live, "POST", "/api/v1/answers/ask", b'{"question": "q"}') as connection:
        read_until(connection, b"event: token")
    time.sleep(0.2)
    assert not live.facade.finished.is_set()
    live.facade.go_on.set()
    assert live.facade.finished.wait(10)


def test_an_error_on_the_way_is_the_last_event(live: Live) -> None:
    live.facade.errors["answers/stream"] = ModelUnavailable("the model file is damaged", hint="pull it again")
    found = events(live.send("POST", "/api/v1/answers/ask", headers=SSE, body=b'{"question": "q"}'))
    assert [name for name, _ in found] == ["retrieval", "token", "error"]
    assert found[-1][1]["code"] == "model_unavailable"


def test_a_bug_on_the_way_says_nothing_of_itself(live: Live) -> None:
    live.facade.errors["answers/stream"] = RuntimeError("secret")
    reply = live.send("POST", "/api/v1/answers/ask", headers=SSE, body=b'{"question": "q"}')
    assert events(reply)[-1][1]["code"] == "internal"
    assert b"secret" not in reply.body


def test_a_wrong_question_is_refused_before_the_stream_begins(live: Live) -> None:
    reply = live.send("POST", "/api/v1/answers/ask", headers=SSE, body=b'{"question": ""}')
    assert (reply.status, reply.code) == (400, "bad_request")


def test_whoever_does_not_ask_for_a_stream_gets_the_whole_answer(live: Live) -> None:
    reply = live.post("answers/ask", {"question": "q"})
    assert reply.header("content-type") == "application/json"
    assert json.loads(reply.body)["schema_version"] == "answer.v1"


def test_events_are_told_as_they_happen_until_the_reader_leaves(live: Live) -> None:
    with connect(live, "GET", "/api/v1/events") as connection:
        read_until(connection, b": open")
        live.facade.events.waiting.put(Event(kind="changed", changed=("documents",)))
        text = read_until(connection, b"\n\r\n").decode()
        assert "event: changed" in text
        assert '"changed":["documents"]' in text
    assert live.facade.events.closed.wait(10)


def test_events_carry_ids_and_a_reader_that_comes_back_says_its_last(live: Live) -> None:
    with connect(live, "GET", "/api/v1/events") as connection:
        read_until(connection, b": open")
        live.facade.events.waiting.put(Event(kind="changed", changed=("documents",)))
        assert b"id: fake-1\nevent: changed\n" in read_until(connection, b"\n\r\n")
    with connect(live, "GET", "/api/v1/events", head="Last-Event-ID: fake-1\r\n") as connection:
        read_until(connection, b": open")
    assert live.facade.events.asked_after == [None, "fake-1"]


def test_an_answer_has_no_ids(live: Live) -> None:
    assert b"\nid:" not in live.send("POST", "/api/v1/answers/ask", headers=SSE, body=b'{"question": "q"}').body


def test_many_listeners_do_not_hold_up_a_search(live: Live) -> None:
    with ExitStack() as stack:
        for _ in range(40):
            read_until(stack.enter_context(connect(live, "GET", "/api/v1/events")), b": open")
        assert live.post("search/find", {"query": "q"}).status == 200


def test_many_slow_answers_do_not_hold_up_a_search(live: Live) -> None:
    live.facade.go_on.clear()
    with ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(live, "POST", "/api/v1/answers/ask", b'{"question": "q"}'))
        assert live.post("search/find", {"query": "q"}).status == 200
        live.facade.go_on.set()


def test_there_is_an_end_to_listeners_and_those_that_leave_make_room(live: Live) -> None:
    with ExitStack() as stack:
        for _ in range(MAX_LISTENERS):
            read_until(stack.enter_context(connect(live, "GET", "/api/v1/events")), b": open")
        refused = live.send("GET", "/api/v1/events")
        assert (refused.status, refused.code) == (503, "too_many_listeners")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with connect(live, "GET", "/api/v1/events") as connection:
            if read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 200"):
                return
    raise AssertionError("no room was made")
