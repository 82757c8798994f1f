"""The facade of a running server, called over HTTP: the same groups, requests, replies and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from kb.contract.answers import Answer, AskRequest
from kb.contract.base import Request, Wire
from kb.contract.events import CheckedClaim, StreamEvent, Token
from kb.contract.facade import EventsGroup, Subscription, contract_groups, methods_of
from kb.contract.files import LocalFile
from kb.contract.groups import (
    AnswersGroup,
    BackupGroup,
    ChunksGroup,
    GenerationsGroup,
    IndexGroup,
    JobsGroup,
    LibraryGroup,
    SearchGroup,
    SystemGroup,
    VersionsGroup,
    ViewerGroup,
)
from kb.contract.problems import error_of
from kb.contract.retrieval import RetrievalResponse
from kb.contract.retrieval_groups import ChunkingGroup, CollectionsGroup, ConnectionsGroup, EvaluationGroup, GraphGroup
from kb.contract.system import Problem
from kb.domain.errors import InvalidInput, KebabError
from kb.domain.failures import Unreachable

if TYPE_CHECKING:
    import httpx

_API = "/api/v1"
_CONNECT_SECONDS = 2.0
_REPLY_SECONDS = 600.0
_RESTART = "stop `kb serve` and start it again"
_PROBLEM = "application/problem+json"


class RemoteFacade:
    """Works through the server at `url`, which `token` opens. Not for several threads at once.

    Every call raises what the local facade would raise, and `Unreachable` when nobody answers.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        self._replies = {(m.group, m.name): m.reply for m in methods_of(contract_groups())}
        self.library = cast(LibraryGroup, _Group(self, "library"))
        self.search = cast(SearchGroup, _Group(self, "search"))
        self.chunking = cast(ChunkingGroup, _Group(self, "chunking"))
        self.collections = cast(CollectionsGroup, _Group(self, "collections"))
        self.answers = cast(AnswersGroup, _Answers(self, "answers"))
        self.chunks = cast(ChunksGroup, _Group(self, "chunks"))
        self.viewer = cast(ViewerGroup, _Viewer(self, "viewer"))
        self.jobs = cast(JobsGroup, _Group(self, "jobs"))
        self.versions = cast(VersionsGroup, _Group(self, "versions"))
        self.generations = cast(GenerationsGroup, _Group(self, "generations"))
        self.index = cast(IndexGroup, _Group(self, "index"))
        self.graph = cast(GraphGroup, _Group(self, "graph"))
        self.connections = cast(ConnectionsGroup, _Group(self, "connections"))
        self.evaluation = cast(EvaluationGroup, _Group(self, "evaluation"))
        self.backup = cast(BackupGroup, _Group(self, "backup"))
        self.system = cast(SystemGroup, _Group(self, "system"))
        self.events: EventsGroup = _Events()

    def call(self, group: str, method: str, request: Request) -> Wire:
        """Call one method and wait for its reply."""
        reply = self._replies.get((group, method))
        if reply is None:
            raise InvalidInput(f"a running server has no {group}/{method}", hint="stop the server, then try again")
        body = request.model_dump_json(exclude_unset=True)
        with self.http() as http:
            answer = http.post(f"{_API}/{group}/{method}", content=body)
            if answer.is_success:
                return reply.read(answer.content)
            raise _error(answer.status_code, answer.headers, answer.content)

    def ask(self, request: AskRequest, sink: Callable[[StreamEvent], None]) -> Answer:
        """Ask and pass every event on to `sink` as it comes; return the answer."""
        headers = {"Accept": "text/event-stream"}
        body = request.model_dump_json(exclude_unset=True)
        with self.http() as http, http.stream("POST", f"{_API}/answers/ask", content=body, headers=headers) as answer:
            if not answer.is_success:
                raise _error(answer.status_code, answer.headers, answer.read())
            for name, data in _events(answer.iter_bytes()):
                event = _event(name, data)
                if event is None:
                    continue
                sink(event)
                if isinstance(event.data, Answer):
                    return event.data
                if isinstance(event.data, Problem):
                    raise error_of(event.data)
        raise Unreachable("the server went away while answering", hint="ask again")

    def markdown(self, item_id: str, doc_id: str | None) -> str:
        """Return an item's text as Markdown."""
        params = {"doc_id": doc_id} if doc_id else None
        with self.http() as http:
            answer = http.get(f"{_API}/sources/{item_id}/markdown", params=params)
            if answer.is_success:
                return answer.content.decode("utf-8")
            raise _error(answer.status_code, answer.headers, answer.content)

    def close(self) -> None:
        """Let go of the connection."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    @contextmanager
    def http(self) -> Iterator[httpx.Client]:
        """Give the connection; what fails in between means that nobody answers."""
        import httpx

        try:
            yield self._client
        except httpx.HTTPError as error:
            raise Unreachable("the server does not answer", hint="start it again with `kb serve`") from error
        except ValidationError as error:
            raise Unreachable("something else answers at the server's address", hint=_RESTART) from error

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        return httpx.Client(
            base_url=self._url,
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            timeout=httpx.Timeout(_REPLY_SECONDS, connect=_CONNECT_SECONDS),
            # loopback only: a proxy of the surroundings must not see this
            trust_env=False,
        )


class _Group:
    """A group whose methods are calls."""

    def __init__(self, facade: RemoteFacade, name: str) -> None:
        self._facade = facade
        self._name = name

    def __getattr__(self, method: str) -> Callable[[Request], Wire]:
        if method.startswith("_"):
            raise AttributeError(method)
        return partial(self._facade.call, self._name, method)


class _Answers(_Group):
    def stream(self, request: AskRequest, sink: Callable[[StreamEvent], None]) -> Answer:
        return self._facade.ask(request, sink)


class _Viewer(_Group):
    def markdown(self, item_id: str, doc_id: str | None = None) -> str:
        return self._facade.markdown(item_id, doc_id)

    def file(self, item_id: str, doc_id: str | None = None, rendition: str | None = None) -> LocalFile:
        del rendition
        raise InvalidInput(f"the file of {item_id[:40]} ({doc_id or 'now'}) comes from the server, not from a path")


class _Events:
    def subscribe(self, after: str | None = None) -> Subscription:
        del after
        raise InvalidInput("the events of a running server are read from GET /api/v1/events")


_EVENTS: dict[str, type[Wire]] = {
    "retrieval": RetrievalResponse,
    "token": Token,
    "claim": CheckedClaim,
    "answer": Answer,
    "error": Problem,
}


def _event(name: str, data: bytes) -> StreamEvent | None:
    """Return an event; None for one of a later version."""
    model = _EVENTS.get(name)
    return StreamEvent(cast(Any, name), cast(Any, model.read(data))) if model else None


def _events(pieces: Iterator[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, data) of server-sent events. Only line feeds end lines: JSON may hold U+2028."""
    waiting = b""
    for piece in pieces:
        *whole, waiting = (waiting + piece).split(b"\n\n")
        for text in whole:
            fields = dict(line.partition(b": ")[::2] for line in text.split(b"\n"))
            if b"data" in fields:
                yield fields.get(b"event", b"").decode(), fields[b"data"]


def _error(status: int, headers: httpx.Headers, content: bytes) -> KebabError:
    if headers.get("content-type", "").startswith(_PROBLEM):
        return error_of(Problem.read(content))
    return Unreachable(f"something else answers at the server's address (status {status})", hint=_RESTART)
