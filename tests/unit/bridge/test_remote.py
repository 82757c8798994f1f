"""The facade over HTTP behaves like the facade beside us."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from kb.app.remote import RemoteFacade
from kb.contract.answers import AskRequest
from kb.contract.base import Empty
from kb.contract.events import StreamEvent, Token
from kb.contract.facade import contract_groups, methods_of
from kb.contract.ingest import IngestRequest
from kb.contract.jobs import JobRequest
from kb.contract.search import FindRequest
from kb.contract.system import DoctorRequest
from kb.domain.errors import InvalidInput, KebabError, NotFound
from kb.domain.failures import Busy, ModelUnavailable, Unreachable
from tests.unit.bridge.conftest import TOKEN, Live
from tests.unit.bridge.test_routes import MINIMAL


@pytest.fixture
def remote(live: Live) -> Iterator[RemoteFacade]:
    """The facade of a live server."""
    facade = RemoteFacade(f"http://127.0.0.1:{live.port}", TOKEN)
    yield facade
    facade.close()


def test_every_method_gives_what_the_facade_gives(live: Live, remote: RemoteFacade) -> None:
    for method in methods_of(contract_groups()):
        request = method.request.model_validate(MINIMAL.get(f"{method.group}/{method.name}", {}))
        expected = live.facade.replies[method.group, method.name]
        assert remote.call(method.group, method.name, request) == expected
        assert getattr(getattr(remote, method.group), method.name)(request) == expected


def test_a_request_arrives_as_it_was_made(live: Live, remote: RemoteFacade) -> None:
    request = FindRequest(query="규칙\u2028은?", top_k=3)
    remote.search.find(request)
    assert live.facade.calls == [("search", "find", request)]


@pytest.mark.parametrize(
    "error", [NotFound("no job", hint="look"), Busy("held"), ModelUnavailable("none"), InvalidInput("no")]
)
def test_an_error_is_raised_as_if_it_had_happened_here(live: Live, remote: RemoteFacade, error: KebabError) -> None:
    live.facade.errors["jobs/get"] = error
    with pytest.raises(type(error)) as caught:
        remote.jobs.get(JobRequest(job_id="j"))
    assert (caught.value.message, caught.value.hint) == (error.message, error.hint)


def test_a_stream_passes_every_event_on_in_order(live: Live, remote: RemoteFacade) -> None:
    heard: list[StreamEvent] = []
    answer = remote.answers.stream(AskRequest(question="q"), heard.append)
    assert [event.name for event in heard] == ["retrieval", "token", "token", "claim", "answer"]
    assert [event.data.text for event in heard if isinstance(event.data, Token)] == [
        "heading\u2028",
        "boundary\n\n우선 [1].",
    ]
    assert answer == live.facade.replies["answers", "ask"]


def test_an_error_in_a_stream_is_raised(live: Live, remote: RemoteFacade) -> None:
    live.facade.errors["answers/stream"] = ModelUnavailable("damaged", hint="pull it again")
    with pytest.raises(ModelUnavailable, match="damaged"):
        remote.answers.stream(AskRequest(question="q"), lambda _event: None)


def test_a_file_is_read_as_markdown_by_its_item(live: Live, remote: RemoteFacade) -> None:
    assert remote.viewer.markdown("page") == "<script>alert(1)</script>"
    with pytest.raises(NotFound):
        remote.viewer.markdown("nothing")


def test_what_only_the_server_itself_can_give_is_refused_with_words(remote: RemoteFacade) -> None:
    with pytest.raises(InvalidInput, match="comes from the server"):
        remote.viewer.file("text")
    with pytest.raises(InvalidInput, match="/api/v1/events"):
        remote.events.subscribe()


def test_a_wrong_token_is_explained(live: Live) -> None:
    stranger = RemoteFacade(f"http://127.0.0.1:{live.port}", "wrong")
    with pytest.raises(Unreachable, match="did not let us in"):
        stranger.system.doctor(DoctorRequest())
    stranger.close()


def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    alone = RemoteFacade(f"http://127.0.0.1:{port}", TOKEN)
    with pytest.raises(Unreachable, match="does not answer") as caught:
        alone.system.doctor(DoctorRequest())
    assert "kb serve" in caught.value.hint
    alone.close()


OTHERS = {
    "another program": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    "another program's error": b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
    "a stream that breaks off": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n: open\n\nevent: token\n",
    "no HTTP at all": b"SSH-2.0-OpenSSH\r\n",
}


@pytest.mark.parametrize("reply", OTHERS.values(), ids=OTHERS)
def test_whatever_else_answers_is_unreachable(reply: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            connection, _ = other.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        remote = RemoteFacade(f"http://127.0.0.1:{other.getsockname()[1]}", TOKEN)
        with pytest.raises(Unreachable):
            remote.answers.stream(AskRequest(question="q"), lambda _event: None)
        remote.close()
        thread.join(10)


def test_a_method_of_another_version_is_refused_without_asking(live: Live, remote: RemoteFacade) -> None:
    with pytest.raises(InvalidInput, match="search/dream"):
        remote.call("search", "dream", Empty())
    assert live.facade.calls == []


def test_a_password_reaches_the_server_in_the_body_of_its_request_alone(live: Live, remote: RemoteFacade) -> None:
    remote.library.ingest(IngestRequest(password="open sesame"))
    _, _, request = live.facade.calls[-1]
    assert isinstance(request, IngestRequest)
    assert request.password == "open sesame"
    assert "open sesame" not in repr(request)
