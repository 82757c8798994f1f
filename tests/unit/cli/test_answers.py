"""How an answer looks, and what happens to text that is taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from kb.cli.output import Output
from kb.contract.answer_parts import Searched
from kb.contract.answers import Answer, AskRequest
from kb.contract.events import StreamEvent, Token
from tests.fakes.facade import FakeFacade
from tests.unit.cli.conftest import Kb
from tests.wire.payloads import payloads

EXAMPLES = cast(Any, payloads())
ANSWER: Answer = EXAMPLES["answer"]


class Script:
    """Answers that stream given pieces, then end with a given answer."""

    def __init__(self, tokens: list[Token], answer: Answer) -> None:
        self.tokens = tokens
        self.answer = answer

    def stream(self, request: AskRequest, sink: Callable[[StreamEvent], None]) -> Answer:
        assert request.question
        sink(StreamEvent("retrieval", EXAMPLES["retrieval_response"]))
        for token in self.tokens:
            sink(StreamEvent("token", token))
        return self.answer


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person watches."""
    monkeypatch.setattr(Output, "streams", property(lambda _self: True))


def speak(facade: FakeFacade, tokens: list[str | Token], answer: Answer) -> None:
    """Let the facade answer so."""
    pieces = [token if isinstance(token, Token) else Token(text=token) for token in tokens]
    facade.answers = Script(pieces, answer)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("watched")
def test_streamed_text_stands_there_once(kb: Kb, facade: FakeFacade) -> None:
    speak(facade, ["It is ", "purple [1]."], ANSWER.model_copy(update={"answer": "It is purple [1]."}))
    ran = kb("ask", "what")
    assert ran.code == 0
    assert ran.out.startswith("It is purple [1].\n───")
    assert ran.out.count("purple") == 1


@pytest.mark.usefixtures("watched")
def test_text_that_is_withdrawn_is_taken_back_in_words_and_replaced(kb: Kb, facade: FakeFacade) -> None:
    withdrawn = Token(text="", withdrawn="citation_check")
    answer = ANSWER.model_copy(update={"answer": "Plums are purple. [1]"})
    speak(facade, ["Bananas, surely.", withdrawn, "Plums are purple. [1]"], answer)
    out = kb("ask", "what").out
    assert out.startswith(
        "Bananas, surely.\n(taken back: it cited none of the passages found)\n\nPlums are purple. [1]\n───"
    )
    assert out.count("Plums are purple") == 1


@pytest.mark.usefixtures("watched")
def test_text_that_is_not_the_final_answer_is_taken_back(kb: Kb, facade: FakeFacade) -> None:
    speak(facade, ["Bananas."], EXAMPLES["answer_refused"])
    ran = kb("ask", "what")
    assert ran.code == 1
    assert ran.out.startswith("Bananas.\n(taken back: the final answer differs)\n\n근거 부족.")


def test_in_a_pipe_only_the_final_answer_is_printed(kb: Kb, facade: FakeFacade) -> None:
    speak(facade, ["Bananas."], ANSWER)
    out = kb("ask", "what").out
    assert "Bananas" not in out
    assert out.startswith(f"{ANSWER.answer}\n───")


def test_a_refusal_names_the_nearest_places_what_was_searched_and_what_could_not_be_read(
    kb: Kb, facade: FakeFacade
) -> None:
    refused: Answer = EXAMPLES["answer_refused"]
    searched = Searched(queries=("x",), scope=(), passages=1200, unread_items=2)
    speak(facade, [], refused.model_copy(update={"searched": searched}))
    ran = kb("ask", "what")
    assert ran.code == 1
    assert "nearest passages, all below 0.30:\n  · notes/rust/아키텍처.md#L661-L672  (0.21)\n" in ran.out
    assert "grounded ✗  extractive  rag-v1  0 passages used\n" in ran.out
    assert "searched 1,200 passages; 2 files could not be read" in ran.out


def test_a_refusal_whose_passages_are_near_does_not_call_them_far(kb: Kb, facade: FakeFacade) -> None:
    refused: Answer = EXAMPLES["answer_refused"]
    near = tuple(source.model_copy(update={"score": 0.61}) for source in refused.citations)
    speak(facade, [], refused.model_copy(update={"citations": near, "refusal_reason": "llm_self_judge"}))
    out = kb("ask", "what").out
    assert "found, but:\n  · notes/rust/아키텍처.md#L661-L672  (0.61)\n" in out


def test_explain_shows_claims_trace_and_usage(kb: Kb) -> None:
    out = kb("ask", "--explain", "what").out
    assert "▎ heading boundary 우선\n  └ [1] notes/rust/아키텍처.md#L661-L672\n" in out
    assert "  gate           0.30  → best 0.82  pass\n" in out
    assert "  trace id       ret_4a8b2c1e\n" in out
    assert "degraded: some passages have no vectors yet" in out
    assert "prompt " in out


def test_an_answer_cut_off_says_so(kb: Kb, facade: FakeFacade) -> None:
    speak(facade, [], ANSWER.model_copy(update={"finish_reason": "length"}))
    assert "cut off: the answer reached its longest length" in kb("ask", "what").out


def test_a_kept_answer_is_replayed_by_its_id(kb: Kb, facade: FakeFacade) -> None:
    assert kb("ask", "--replay", "ret_4a8b2c1e").code == 0
    (group, method, request), *_ = facade.calls
    assert (group, method, cast(Any, request).trace_id) == ("answers", "get", "ret_4a8b2c1e")


def test_options_reach_the_request(kb: Kb, facade: FakeFacade) -> None:
    kb("ask", "why", "radio", "-k", "3", "--seed", "7", "--temperature", "0.5", "--tag", "a", "--tag", "b")
    request = cast(Any, facade.calls[-1][2])
    assert (request.question, request.top_k, request.seed, request.temperature) == ("why radio", 3, 7, 0.5)
    assert request.filters.tags_any == ("a", "b")


def test_a_replayed_answer_says_which_of_its_sources_moved_or_are_gone(kb: Kb, facade: FakeFacade) -> None:
    view = EXAMPLES["viewer"]
    first = ANSWER.citations[0]
    elsewhere = view.citation.model_copy(update={"uri": "moved/kb.md#L9"})
    facade.replies["answers", "get"] = ANSWER
    facade.replies["viewer", "open"] = view.model_copy(update={"state": "moved", "citation": elsewhere})
    assert f"{first.marker} " in kb("ask", "--replay", "t").out
    assert "  (now moved/kb.md#L9)\n" in kb("ask", "--replay", "t").out
    facade.replies["viewer", "open"] = view.model_copy(update={"state": "gone"})
    assert "  (gone: the file or these words in it)\n" in kb("ask", "--replay", "t").out
    facade.replies["viewer", "open"] = view.model_copy(update={"state": "exact"})
    assert "(gone" not in kb("ask", "--replay", "t").out
