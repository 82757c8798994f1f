"""Asking through the facade: a model that writes, and a person who has read enough."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kb.answering.pipeline import AnswerPipeline
from kb.app.facade.answers import Answers
from kb.app.facade.events import Events
from kb.app.settings import LanguageModelSettings, RagSettings, SearchSettings
from kb.contract.answers import Answer, AnswerRequest, AskRequest, StopRequest
from kb.contract.events import StreamEvent, Token
from kb.domain.answers import TraceId
from tests.fakes.evidence import FakeEvidence, hit
from tests.fakes.models import MemoryAnswers, ScriptedModel

SEARCH_ID = "search-1"


def facade_of(model: ScriptedModel | None, store: MemoryAnswers) -> Answers:
    numbers = itertools.count(1)
    pipeline = AnswerPipeline(
        FakeEvidence([hit(1, "The backup runs on Sunday. The cat is Miso.")]),
        model,
        store,
        clock=lambda: datetime(2026, 5, 1, tzinfo=UTC),
        new_trace_id=lambda: TraceId(f"ans_{next(numbers)}"),
    )
    settings = LanguageModelSettings(provider="extractive")
    return Answers(
        lambda _provider: pipeline, store, Events(), search=SearchSettings(), rag=RagSettings(), llm=settings
    )


def test_a_stopped_answer_ends_at_once_and_is_kept_with_what_was_written() -> None:
    model, store = ScriptedModel(("It runs on Sunday [#1].", *(" And so on" for _ in range(500)))), MemoryAnswers()
    answers = facade_of(model, store)

    def reader(event: StreamEvent) -> None:
        if isinstance(event.data, Token) and "Sunday" in event.data.text:
            assert answers.stop(StopRequest(trace_id=SEARCH_ID)).stopping

    answer = answers.stream(AskRequest(question="When?"), reader)
    assert (answer.finish_reason, "stopped" in answer.degraded) == ("aborted", True)
    assert answer.answer.startswith("It runs on Sunday [1].")
    assert answer.usage.completion_tokens < 100
    kept = answers.get(AnswerRequest(trace_id=answer.retrieval.trace_id))
    assert kept.model_copy(update={"trace": None}) == answer


def test_stopping_what_is_not_being_written_changes_nothing() -> None:
    answers = facade_of(None, MemoryAnswers())
    assert not answers.stop(StopRequest(trace_id=SEARCH_ID)).stopping
    answers.ask(AskRequest(question="When does the backup run?"))
    assert not answers.stop(StopRequest(trace_id=SEARCH_ID)).stopping


def test_stopping_one_answer_leaves_another_alone() -> None:
    answers = facade_of(ScriptedModel(("It runs on Sunday [#1].", " Miso [#1].")), MemoryAnswers())
    assert not answers.stop(StopRequest(trace_id="search-2")).stopping
    assert answers.ask(AskRequest(question="When?")).finish_reason == "stop"


def _waits(text: str, go_on: threading.Event) -> Callable[[StreamEvent], None]:
    def reader(event: StreamEvent) -> None:
        if isinstance(event.data, Token) and text in event.data.text:
            assert go_on.wait(10)

    return reader


def test_another_thread_may_stop_it() -> None:
    answers, go_on = (
        facade_of(ScriptedModel(("Sunday [#1].", *(" more" for _ in range(99)))), MemoryAnswers()),
        threading.Event(),
    )
    ended: list[Answer] = []
    asking = threading.Thread(
        target=lambda: ended.append(answers.stream(AskRequest(question="When?"), _waits("Sunday", go_on)))
    )
    asking.start()
    deadline = time.monotonic() + 10
    while not answers.stop(StopRequest(trace_id=SEARCH_ID)).stopping and time.monotonic() < deadline:
        time.sleep(0.01)
    go_on.set()
    asking.join(10)
    assert ended[0].finish_reason == "aborted"


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_what_a_request_wants_is_what_is_kept(temperature: float) -> None:
    answers = facade_of(ScriptedModel(("Sunday [#1].",)), MemoryAnswers())
    answer = answers.ask(AskRequest(question="When?", temperature=temperature, seed=7))
    trace = answers.get(AnswerRequest(trace_id=answer.retrieval.trace_id)).trace
    assert trace is not None
    assert (trace.temperature, trace.seed) == (temperature, 7)
    assert [chunk.number for chunk in trace.packed] == [1]
