"""`answers`: answers from the library, streamed and kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from kb.answering.events import AnswerEvent, AnswerSink, ClaimMade, Searched, TextCame, TextWithdrawn
from kb.answering.pipeline import AnswerSettings
from kb.answering.ports import AnswerStore
from kb.app.collection_scope import CollectionScope
from kb.app.facade.events import Events
from kb.app.facade.search import query_of
from kb.app.settings import LanguageModelSettings, RagSettings, SearchSettings
from kb.app.wire.answers import answer_to_wire, claim_to_wire
from kb.app.wire.search import result_to_wire
from kb.contract.answers import (
    Answer,
    AnswerRequest,
    AnswersPage,
    AnswersRequest,
    AnswerStop,
    AskRequest,
    StopRequest,
)
from kb.contract.events import CheckedClaim, StreamEvent, Token
from kb.domain.answers import Answer as DomainAnswer
from kb.domain.errors import InvalidInput, NotFound
from kb.retrieval.values import SearchQuery

_log = logging.getLogger(__name__)


class Answering(Protocol):
    """The answer pipeline."""

    def ask(
        self,
        query: SearchQuery,
        settings: AnswerSettings | None = None,
        *,
        sink: AnswerSink | None = None,
        stop: Callable[[], bool] = ...,
    ) -> DomainAnswer:
        """Answer a question, or refuse."""


class Answers:
    """Asks the pipeline of the wanted provider."""

    def __init__(
        self,
        pipeline_of: Callable[[str], Answering],
        store: AnswerStore,
        events: Events,
        *,
        search: SearchSettings,
        rag: RagSettings,
        llm: LanguageModelSettings,
        scope: CollectionScope | None = None,
    ) -> None:
        self._pipeline_of = pipeline_of
        self._store = store
        self._events = events
        self._search = search
        self._rag = rag
        self._llm = llm
        self._scope = scope
        self._writing = _Writing()

    def ask(self, request: AskRequest) -> Answer:
        """Return a cited answer or a refusal."""
        return self.stream(request, lambda _event: None)

    def stream(self, request: AskRequest, sink: Callable[[StreamEvent], None]) -> Answer:
        """Answer as `ask` does, telling `sink` on the way; a sink that fails costs the answer nothing."""
        if request.retrieval_mode == "auto":
            raise InvalidInput(
                "retrieval mode `auto` needs a model that can call tools, and none is configured",
                hint="use --retrieval always, which searches before it answers",
            )
        if request.conversation_id is not None:
            raise InvalidInput("conversations are not available", hint="leave `conversation_id` out")
        query = query_of(request.question, request.mode, request, self._search, self._scope)
        settings = AnswerSettings(
            score_gate=self._rag.score_gate,
            completion_tokens=self._llm.max_answer_tokens,
            temperature=self._llm.temperature if request.temperature is None else request.temperature,
            seed=self._llm.seed if request.seed is None else request.seed,
        )
        pipeline = self._pipeline_of(request.provider or self._llm.provider)
        with self._writing.one() as writing:
            answer = answer_to_wire(
                pipeline.ask(query, settings, sink=_Translating(sink, writing.found), stop=writing.stop.is_set)
            )
        ended = "answered" if answer.grounded else f"refused: {answer.refusal_reason}"
        _log.info("%s", ended, extra={"trace_id": answer.retrieval.trace_id})
        _tell(sink, StreamEvent("answer", answer))
        self._events.changed("answers")
        return answer

    def stop(self, request: StopRequest) -> AnswerStop:
        """End an answer that is being written; what is written so far is kept as its text."""
        return AnswerStop(trace_id=request.trace_id, stopping=self._writing.end(request.trace_id))

    def get(self, request: AnswerRequest) -> Answer:
        """Return a kept answer with its trace."""
        record = self._store.get(request.trace_id)
        if record is None:
            raise NotFound(
                f"there is no kept answer {request.trace_id[:64]!r}",
                hint="`kb ask --explain` prints the trace id of each answer",
            )
        return answer_to_wire(record, with_trace=True)

    def recent(self, request: AnswersRequest) -> AnswersPage:
        """Return the newest answers."""
        return AnswersPage(answers=tuple(answer_to_wire(record) for record in self._store.recent(request.limit)))


@dataclass(slots=True, eq=False)
class _One:
    """An answer being written; `trace_id` is that of its search, once there is one."""

    stop: threading.Event = field(default_factory=threading.Event)
    trace_id: str | None = None

    def found(self, trace_id: str) -> None:
        """Let it be named."""
        self.trace_id = trace_id


class _Writing:
    """The answers being written now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[_One] = []

    @contextmanager
    def one(self) -> Iterator[_One]:
        """Count one among them while the context lasts."""
        answer = _One()
        with self._lock:
            self._all.append(answer)
        try:
            yield answer
        finally:
            with self._lock:
                self._all.remove(answer)

    def end(self, trace_id: str) -> bool:
        """Tell one to stop; False when there is none by that name."""
        with self._lock:
            meant = [answer for answer in self._all if answer.trace_id == trace_id]
        for answer in meant:
            answer.stop.set()
        return bool(meant)


class _Translating:
    """Turns events of the pipeline into those of the wire."""

    def __init__(self, sink: Callable[[StreamEvent], None], found: Callable[[str], None]) -> None:
        self._sink = sink
        self._found = found
        self._claims = 0

    def put(self, event: AnswerEvent) -> None:
        """Pass one event on; the answer itself is told at the very end, by the facade."""
        match event:
            case Searched(result):
                self._found(result.trace_id)
                self._sink(StreamEvent("retrieval", result_to_wire(result)))
            case TextCame(text):
                self._sink(StreamEvent("token", Token(text=text)))
            case TextWithdrawn(reason):
                self._sink(StreamEvent("token", Token(text="", withdrawn=reason)))
            case ClaimMade(claim):
                self._sink(StreamEvent("claim", CheckedClaim(index=self._claims, claim=claim_to_wire(claim))))
                self._claims += 1
            case _:
                return


def _tell(sink: Callable[[StreamEvent], None], event: StreamEvent) -> None:
    try:
        sink(event)
    except Exception:  # noqa: BLE001 - a reader that has gone must not cost a kept answer
        return
