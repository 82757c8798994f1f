"""A facade that gives the example payloads, remembers what was asked, and can be told to fail."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty as NothingCame
from queue import SimpleQueue
from typing import Any, cast

from kb.contract.answers import Answer, AskRequest
from kb.contract.base import Request, Wire
from kb.contract.events import CheckedClaim, Event, StreamEvent, Token
from kb.contract.facade import Facade, contract_groups, methods_of
from kb.contract.files import LocalFile
from kb.domain.errors import NotFound
from tests.wire.payloads import payloads


class FakeFacade:
    """Groups that answer every method of the contract with its example.

    Attributes:
        calls: (group, method, request) in order.
        errors: raised by `group/method` instead of an answer.
        files: what `viewer.file` finds, by item id.
        go_on: a streamed answer waits for it after its first token.
        finished: set when a streamed answer is complete.
    """

    def __init__(self) -> None:
        examples = payloads()
        by_type: dict[type[Wire], Wire] = {}
        for example in examples.values():
            by_type.setdefault(type(example), example)
        self.replies = {(m.group, m.name): by_type[m.reply] for m in methods_of(contract_groups())}
        self.reset()
        for name in contract_groups():
            if name != "events":
                special = {"answers": FakeAnswers, "viewer": FakeViewer}.get(name, FakeGroup)
                setattr(self, name, special(self, name))

    def reset(self) -> None:
        """Be as new."""
        self.calls: list[tuple[str, str, object]] = []
        self.errors: dict[str, Exception] = {}
        self.files: dict[str, tuple[Path, str]] = {}
        self.go_on = threading.Event()
        self.go_on.set()
        self.finished = threading.Event()
        self.events = FakeEvents()

    def as_facade(self) -> Facade:
        """This, as what it stands in for."""
        return cast(Facade, self)

    def call(self, group: str, method: str, request: object) -> None:
        """Remember a call, or fail as told."""
        self.calls.append((group, method, request))
        error = self.errors.get(f"{group}/{method}")
        if error is not None:
            raise error


class FakeGroup:
    """One group; every method of the contract gives its example."""

    def __init__(self, facade: FakeFacade, name: str) -> None:
        self.facade = facade
        self.name = name

    def __getattr__(self, method: str) -> Callable[[Request], Wire]:
        reply = self.facade.replies.get((self.name, method))
        if reply is None:
            raise AttributeError(method)

        def answer(request: Request) -> Wire:
            self.facade.call(self.name, method, request)
            return reply

        return answer


class FakeAnswers(FakeGroup):
    """Streams a short answer."""

    def stream(self, request: AskRequest, sink: Callable[[StreamEvent], None]) -> Answer:
        """Tell one of everything; U+2028 in a token is a trap for whoever splits lines."""
        examples = cast(Any, payloads())
        sink(StreamEvent("retrieval", examples["retrieval_response"]))
        sink(StreamEvent("token", Token(text="heading\u2028")))
        assert self.facade.go_on.wait(30)
        self.facade.call("answers", "stream", request)
        sink(StreamEvent("token", Token(text="boundary\n\n우선 [1].")))
        sink(StreamEvent("claim", CheckedClaim(index=0, claim=examples["answer"].claims[0])))
        self.facade.finished.set()
        return cast(Answer, examples["answer"])


class FakeViewer(FakeGroup):
    """Finds the files it was given."""

    def file(self, item_id: str, doc_id: str | None = None, rendition: str | None = None) -> LocalFile:
        """The file put in under this id."""
        self.facade.call("viewer", "file", (item_id, doc_id, rendition) if rendition else (item_id, doc_id))
        if item_id not in self.facade.files:
            raise NotFound("there is no such item", hint="`kb list docs` shows what there is")
        path, media_type = self.facade.files[item_id]
        return LocalFile(path, media_type, etag=f"{item_id}-1")

    def markdown(self, item_id: str, doc_id: str | None = None) -> str:
        """The text of the file."""
        return self.file(item_id, doc_id).path.read_text(encoding="utf-8")


class FakeEvents:
    """Events that a test puts in."""

    def __init__(self) -> None:
        self.waiting: SimpleQueue[Event] = SimpleQueue()
        self.closed = threading.Event()
        self.last_id = "fake-0"
        self.asked_after: list[str | None] = []

    def subscribe(self, after: str | None = None) -> FakeEvents:
        """There is one subscription: this."""
        self.asked_after.append(after)
        return self

    def next(self, timeout_s: float) -> Event | None:
        """The next event put in."""
        try:
            event = self.waiting.get(timeout=timeout_s)
        except NothingCame:
            return None
        self.last_id = f"fake-{int(self.last_id.removeprefix('fake-')) + 1}"
        return event

    def close(self) -> None:
        """Remember that the reader left."""
        self.closed.set()
