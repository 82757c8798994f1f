from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.answering.events import Answered, AnswerEvent, ClaimMade, Searched, TextCame, TextWithdrawn
from kb.answering.phrases import PHRASES
from kb.answering.pipeline import AnswerPipeline, AnswerSettings
from kb.answering.ports import AnswerRecord
from kb.domain.answers import Answer, RefusalReason, TraceId
from kb.domain.failures import StorageFailed
from kb.retrieval.values import Degraded, Hit, SearchQuery
from tests.fakes.evidence import FakeEvidence, hit
from tests.fakes.models import MemoryAnswers, ScriptedModel

BACKUP = hit(1, "Plans of the house\nThe backup runs on Sunday at 03:00.\nIt takes one hour.", path="ops/backup.md")
CAT = hit(2, "The cat is called Miso.\nThe cat sleeps on the server.", path="notes/cat.md", relevance=0.5)
QUESTION = "When does the backup run?"


@dataclass
class Sink:
    events: list[AnswerEvent] = field(default_factory=list)
    breaks_at: int | None = None

    def put(self, event: AnswerEvent) -> None:
        if self.breaks_at == len(self.events):
            raise BrokenPipeError
        self.events.append(event)

    @property
    def text(self) -> str:
        """What a reader sees at the end: text since the last withdrawal."""
        seen = ""
        for event in self.events:
            if isinstance(event, TextWithdrawn):
                seen = ""
            elif isinstance(event, TextCame):
                seen += event.text
        return seen


@dataclass
class Desk:
    """A pipeline with all its surroundings."""

    model: ScriptedModel | None = None
    hits: tuple[Hit, ...] = (BACKUP, CAT)
    evidence: FakeEvidence | None = None
    store: MemoryAnswers = field(default_factory=MemoryAnswers)
    sink: Sink = field(default_factory=Sink)

    def ask(
        self,
        question: str = QUESTION,
        settings: AnswerSettings | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Answer:
        moments = (datetime(2026, 5, 1, tzinfo=UTC) + timedelta(seconds=n) for n in count())
        numbers = count(1)
        pipeline = AnswerPipeline(
            self.evidence or FakeEvidence(self.hits),
            self.model,
            self.store,
            clock=lambda: next(moments),
            new_trace_id=lambda: TraceId(f"ret_{next(numbers)}"),
        )
        return pipeline.ask(SearchQuery(question), settings, sink=self.sink, stop=stop)

    @property
    def kinds(self) -> list[type[AnswerEvent]]:
        return [type(event) for event in self.sink.events]

    @property
    def record(self) -> AnswerRecord:
        (record,) = self.store.records
        return record


def test_without_a_model_the_best_sentences_are_quoted_and_cited() -> None:
    desk = Desk()
    answer = desk.ask()
    assert "The backup runs on Sunday at 03:00. [1]" in answer.text
    assert answer.grounded
    assert (answer.model.provider, answer.model.id) == ("extractive", "extractive-v1")
    assert answer.citations[0].citation.path == "ops/backup.md"
    assert all(claim.support == "supported" and claim.quote for claim in answer.claims)
    assert answer.usage.latency_ms == 1000
    assert desk.record.answer == answer


def test_each_extracted_sentence_is_verbatim_in_the_chunk_it_cites() -> None:
    answer = Desk().ask("What is the cat called and when does the backup run?")
    places = {c.marker: c for c in answer.citations}
    texts = {h.stored.chunk.chunk_id: h.stored.chunk.text for h in (BACKUP, CAT)}
    for claim in answer.claims:
        (marker,) = claim.markers
        assert claim.quote is not None
        assert claim.quote in texts[places[marker].chunk_id]


def test_an_extract_that_holds_a_look_alike_marker_shows_only_its_own() -> None:
    answer = Desk(hits=(hit(1, "The backup runs on Sunday [7]."),)).ask()
    assert answer.text == "The backup runs on Sunday ［7］. [1]"
    assert answer.claims[0].quote == "The backup runs on Sunday [7]."


def test_an_extract_that_holds_an_evidence_marker_does_not_show_it_as_one() -> None:
    answer = Desk(hits=(hit(1, "The backup runs on Sunday [#2]."),)).ask()
    assert answer.text == "The backup runs on Sunday ［#2］. [1]"


def test_quotes_far_apart_in_one_passage_are_cited_each_at_its_own_lines() -> None:
    text = "The backup runs on Sunday.\nIt takes an hour.\nThe cellar is dry.\nThe backup runs on Monday too."
    answer = Desk(hits=(hit(1, text, path="a.md"),)).ask("When does the backup run?")
    places = {c.marker: (c.citation.to_uri(), c.quote) for c in answer.citations}
    assert places == {
        1: ("a.md#L1", "The backup runs on Sunday."),
        2: ("a.md#L4", "The backup runs on Monday too."),
    }
    assert [claim.markers for claim in answer.claims] == [(1,), (2,)]
    assert answer.retrieval.chunks_used == 1


def test_quotes_in_neighbouring_lines_share_a_marker() -> None:
    text = "The backup runs on Sunday.\nThe backup runs on Monday too."
    answer = Desk(hits=(hit(1, text, path="a.md"),)).ask("When does the backup run?")
    assert [c.citation.to_uri() for c in answer.citations] == ["a.md#L1-L2"]


def test_a_models_answer_is_shown_with_dense_markers_and_narrow_citations() -> None:
    desk = Desk(ScriptedModel(("The cat is ", "Miso [#", "2]. It runs on Sun", "day [#1].")))
    answer = desk.ask()
    assert answer.text == "The cat is Miso [1]. It runs on Sunday [2]."
    assert answer.grounded
    assert answer.refusal_reason is None
    assert [(c.marker, c.citation.to_uri()) for c in answer.citations] == [
        (1, "notes/cat.md#L1"),
        (2, "ops/backup.md#L2"),
    ]
    assert [claim.markers for claim in answer.claims] == [(1,), (2,)]
    assert all(claim.support is None for claim in answer.claims)
    assert answer.model.id == "scripted"
    assert answer.usage.completion_tokens == 4
    assert answer.finish_reason == "stop"


def test_the_evidence_comes_before_any_text_and_the_answer_last() -> None:
    desk = Desk(ScriptedModel(("It runs on Sunday [#1].",)))
    answer = desk.ask()
    assert desk.kinds[0] is Searched
    assert desk.kinds[-1] is Answered
    assert desk.kinds.index(TextCame) < desk.kinds.index(ClaimMade)
    assert desk.sink.text == answer.text


def test_the_model_may_cite_only_the_numbers_in_front_of_it() -> None:
    model = ScriptedModel(("It runs [#1] on Sunday [#5].",))
    answer = Desk(model).ask()
    assert answer.text == "It runs [1] on Sunday."
    assert "unknown_markers" in answer.retrieval.degraded
    assert 'number ::= "1" | "2"\n' in (model.requests[0].grammar or "")


def test_an_answer_without_any_valid_marker_is_a_refusal() -> None:
    desk = Desk(ScriptedModel(("It runs on Sunday.", " Surely [1]. `[#1]`")))
    answer = desk.ask()
    assert not answer.grounded
    assert answer.refusal_reason is RefusalReason.CITATION_CHECK
    assert answer.text == PHRASES["en"].refusals[RefusalReason.CITATION_CHECK]
    assert TextWithdrawn in desk.kinds
    assert all(c.marker is None for c in answer.citations)


@pytest.mark.parametrize("language", ["en", "ko", "zh"])
def test_a_model_that_finds_the_evidence_wanting_refuses_and_none_of_it_is_shown(language: str) -> None:
    sentence = PHRASES[language].insufficient  # type: ignore[index]
    question = {"en": "Why?", "ko": "왜 그런가?", "zh": "为什么？"}[language]
    desk = Desk(ScriptedModel(tuple(sentence)))
    answer = desk.ask(question)
    assert answer.refusal_reason is RefusalReason.LLM_SELF_JUDGE
    assert answer.text == PHRASES[language].refusals[RefusalReason.LLM_SELF_JUDGE]  # type: ignore[index]
    assert TextCame not in desk.kinds
    assert [c.relevance for c in answer.citations] == [0.8, 0.5]


def test_a_refusal_sentence_with_more_behind_it_is_still_a_refusal() -> None:
    desk = Desk(ScriptedModel((PHRASES["en"].insufficient, " However, it runs on Sunday [#1].")))
    assert desk.ask().refusal_reason is RefusalReason.LLM_SELF_JUDGE
    assert TextCame not in desk.kinds


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (FakeEvidence((), passages=0), RefusalReason.NO_INDEX),
        (FakeEvidence((), passages=5), RefusalReason.NO_CHUNKS),
        (FakeEvidence((hit(1, "far away", relevance=0.1),)), RefusalReason.SCORE_GATE),
    ],
)
def test_a_closed_gate_refuses_without_asking_the_model(evidence: FakeEvidence, reason: RefusalReason) -> None:
    model = ScriptedModel(("No [#1].",))
    desk = Desk(model, evidence=evidence)
    answer = desk.ask()
    assert answer.refusal_reason is reason
    assert model.requests == []
    assert not answer.grounded
    assert desk.record.answer == answer
    assert TextCame not in desk.kinds


def test_a_refusal_says_what_was_searched_and_what_came_near() -> None:
    far = hit(1, "far away", relevance=0.1)
    answer = Desk(evidence=FakeEvidence((far,), passages=40, unread=3)).ask()
    assert (answer.retrieval.passages_searched, answer.retrieval.unread_items) == (40, 3)
    assert (answer.retrieval.chunks_returned, answer.retrieval.chunks_used) == (1, 0)
    assert (answer.retrieval.top_score, answer.retrieval.score_gate) == (0.1, 0.30)
    assert [(c.marker, c.relevance, c.citation) for c in answer.citations] == [(None, 0.1, far.citation)]


def test_a_model_that_breaks_midway_is_replaced_by_the_extract_and_never_given_its_words() -> None:
    desk = Desk(ScriptedModel(("It runs on Monday ", "[#1]."), breaks_after=1))
    answer = desk.ask()
    assert answer.model.provider == "extractive"
    assert "Monday" not in answer.text
    assert answer.grounded
    assert "model_failed" in answer.retrieval.degraded
    assert TextWithdrawn("model_failed") in desk.sink.events
    assert desk.sink.text == answer.text


def test_a_model_that_cannot_start_is_replaced_without_a_word_shown() -> None:
    desk = Desk(ScriptedModel(("It",), breaks_after=0))
    answer = desk.ask()
    assert answer.model.provider == "extractive"
    assert "model_unavailable" in answer.retrieval.degraded
    assert TextWithdrawn not in desk.kinds


def test_a_generation_that_ends_in_error_counts_as_broken() -> None:
    answer = Desk(ScriptedModel(("It runs [#1]",), finish_reason="error")).ask()
    assert answer.model.provider == "extractive"


def test_an_answer_cut_by_length_says_so() -> None:
    answer = Desk(ScriptedModel(("It runs on Sunday [#1]. And it",), finish_reason="length")).ask()
    assert answer.finish_reason == "length"
    assert "cut_by_length" in answer.retrieval.degraded


def test_a_model_that_repeats_itself_is_ended_and_it_is_said() -> None:
    loop = ("It runs on ", "Sunday. [#1", "]\nIt ", "seems. [#2]\n")
    model = ScriptedModel(loop * 50)
    answer = Desk(model).ask()
    assert model.closed
    assert answer.text == "It runs on Sunday. [1]\nIt seems. [2]\nIt runs on Sunday. [1]"
    assert answer.usage.completion_tokens > 0
    assert answer.finish_reason == "repetition"
    assert "repetition_cut" in answer.retrieval.degraded


@pytest.mark.parametrize("breaks_at", [0, 1, 2, 3])
def test_a_reader_that_vanishes_does_not_fail_the_answer(breaks_at: int) -> None:
    desk = Desk(ScriptedModel(("It runs ", "on Sunday ", "[#1].")), sink=Sink(breaks_at=breaks_at))
    answer = desk.ask()
    assert answer.text == "It runs on Sunday [1]."
    assert desk.record.answer == answer


def test_stop_ends_the_generation_within_a_piece_and_keeps_what_was_written() -> None:
    model = ScriptedModel(("It runs on Sunday [#1]. ", "Then ", "much ", "more."))
    desk = Desk(model)
    answer = desk.ask(stop=lambda: model.said >= 2)
    assert model.closed
    assert model.said == 2
    assert answer.text == "It runs on Sunday [1]. Then"
    assert answer.finish_reason == "aborted"
    assert "stopped" in answer.retrieval.degraded
    assert desk.record.answer == answer


def test_stop_before_the_first_word_keeps_an_empty_answer_that_says_so() -> None:
    answer = Desk(ScriptedModel(("The cat is Miso [#2].",))).ask(stop=lambda: True)
    assert (answer.text, answer.grounded, answer.finish_reason) == ("", False, "aborted")
    assert "stopped" in answer.retrieval.degraded


def test_stop_before_any_citation_keeps_ungrounded_text_without_a_refusal() -> None:
    asked = count(1)
    answer = Desk(ScriptedModel(("It ", "runs"))).ask(stop=lambda: next(asked) > 1)
    assert (answer.text, answer.grounded, answer.refusal_reason) == ("It", False, None)


def test_a_window_too_small_for_all_evidence_drops_the_worst_and_says_so() -> None:
    hits = tuple(hit(n, f"Fact number {n} stands here. " * 30) for n in range(1, 21))
    model = ScriptedModel(("So it is [#1].",), window=3000)
    answer = Desk(model, hits).ask()
    assert "evidence_dropped" in answer.retrieval.degraded
    assert 0 < answer.retrieval.chunks_used < 20
    assert len(model.requests[0].system) + len(model.requests[0].user) + 512 <= 3000


def test_a_question_that_fills_the_window_is_answered_by_the_extract() -> None:
    answer = Desk(ScriptedModel(("No [#1].",), window=1200)).ask("When does the backup run? " * 40)
    assert answer.model.provider == "extractive"
    assert "question_too_long" in answer.retrieval.degraded


def test_what_was_in_front_of_the_model_is_kept_with_the_answer() -> None:
    model = ScriptedModel(("It runs on Sunday [#1].",))
    desk = Desk(model)
    desk.ask(settings=AnswerSettings(temperature=0.5, seed=7))
    record = desk.record
    assert [(p.number, p.chunk_id) for p in record.packed] == [
        (1, BACKUP.stored.chunk.chunk_id),
        (2, CAT.stored.chunk.chunk_id),
    ]
    assert (record.prompt_system, record.prompt_user) == (model.requests[0].system, model.requests[0].user)
    assert (record.temperature, record.seed) == (0.5, 7)
    assert (model.requests[0].temperature, model.requests[0].seed) == (0.5, 7)


def test_degraded_channels_are_said_in_the_answer() -> None:
    evidence = FakeEvidence((BACKUP,), degraded=(Degraded("vector", "no_embedding_model"),))
    assert Desk(evidence=evidence).ask().retrieval.degraded == ("no_embedding_model",)


def test_an_answer_that_cannot_be_kept_is_not_told_as_an_answer() -> None:
    def full(record: AnswerRecord) -> None:
        raise StorageFailed("the disk is full", hint="make room")

    desk = Desk(store=MemoryAnswers(on_keep=full))
    with pytest.raises(StorageFailed):
        desk.ask()
    assert Answered not in desk.kinds


def test_hits_without_a_word_are_refused() -> None:
    assert Desk(hits=(hit(1, "---"),)).ask().refusal_reason is RefusalReason.NO_CHUNKS


def test_the_same_question_gives_the_same_answer() -> None:
    assert Desk().ask() == Desk().ask()


PIECES = st.lists(
    st.sampled_from(
        ["It", " runs", " on Sunday", "[#1]", "[#2]", "[#", "1]", "[#9]", "[1]", ". ", "\n", "`", "가", "。", " "]
    ),
    max_size=14,
)


@given(PIECES)
def test_whatever_a_model_writes_the_told_text_is_the_answer_and_its_markers_are_cited(script: list[str]) -> None:
    desk = Desk(ScriptedModel(tuple(script)))
    answer = desk.ask()
    if answer.grounded:
        assert desk.sink.text == answer.text
        assert [c.marker for c in answer.citations] == list(range(1, len(answer.citations) + 1))
        assert all(f"[{c.marker}]" in answer.text for c in answer.citations)
        assert {m for claim in answer.claims for m in claim.markers} <= {c.marker for c in answer.citations}
    else:
        assert desk.sink.text == ""
        assert all(c.marker is None for c in answer.citations)
