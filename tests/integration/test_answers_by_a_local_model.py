"""The way of an answer with the small model: search result in, cited text out. It proves the path, not the words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from kb.adapters.models.language.llama_cpp_model import LlamaCppModel
from kb.answering.events import AnswerEvent, TextCame, TextWithdrawn
from kb.answering.pipeline import AnswerPipeline, AnswerSettings
from kb.domain.answers import Answer, ModelRef, TraceId
from kb.retrieval.values import Hit, SearchQuery
from tests.fakes.evidence import FakeEvidence, hit
from tests.fakes.models import MemoryAnswers
from tests.unit.adapters.models.places import language_file

BACKUP = hit(1, "The backup runs on Sunday at 03:00.\nIt takes one hour.", path="ops/backup.md")
CAT = hit(2, "The cat is called Miso.\nThe cat sleeps on the server.", path="notes/cat.md")


class Sink:
    def __init__(self) -> None:
        self.text = ""
        self.pieces = 0

    def put(self, event: AnswerEvent) -> None:
        if isinstance(event, TextWithdrawn):
            self.text = ""
        elif isinstance(event, TextCame):
            self.text += event.text
            self.pieces += 1


@pytest.fixture(scope="module")
def small() -> LlamaCppModel:
    return LlamaCppModel(language_file(), ModelRef("smollm2-135m-instruct", "llama_cpp"), 512)


def ask(model: LlamaCppModel, question: str, hits: Sequence[Hit], sink: Sink | None = None, tokens: int = 60) -> Answer:
    pipeline = AnswerPipeline(
        FakeEvidence(hits),
        model,
        MemoryAnswers(),
        clock=lambda: datetime(2026, 5, 1, tzinfo=UTC),
        new_trace_id=lambda: TraceId("ans_1"),
    )
    return pipeline.ask(SearchQuery(question), AnswerSettings(completion_tokens=tokens), sink=sink)


def test_an_answer_streams_and_cites_the_evidence_it_was_given(small: LlamaCppModel) -> None:
    sink = Sink()
    answer = ask(small, "When does the backup run?", [BACKUP, CAT], sink)
    assert answer.grounded, answer.text
    assert answer.model.provider == "llama_cpp"
    assert sink.pieces > 3
    assert sink.text == answer.text
    assert "[1]" in answer.text
    assert answer.usage.prompt_tokens > 100
    assert {c.citation.path for c in answer.citations} <= {"ops/backup.md", "notes/cat.md"}


def test_twenty_chunks_in_a_window_of_512_leave_the_worst_out_and_cite_only_what_was_sent(small: LlamaCppModel) -> None:
    hits = [hit(n, f"Fact {n}: the pump of hall {n} was changed in the year 20{n:02d}. " * 3) for n in range(1, 21)]
    answer = ask(small, "When was the pump of hall 1 changed?", hits, tokens=512)
    assert "evidence_dropped" in answer.retrieval.degraded
    assert 1 <= answer.retrieval.chunks_used < 20
    sent = {h.stored.chunk.chunk_id for h in hits[: answer.retrieval.chunks_used]}
    assert {c.chunk_id for c in answer.citations if c.marker} <= sent


def test_one_chunk_larger_than_the_window_is_cut_and_said_so(small: LlamaCppModel) -> None:
    answer = ask(small, "What is it about?", [hit(1, "The pump stands in the hall. " * 600)])
    assert "evidence_cut" in answer.retrieval.degraded
    assert answer.model.provider == "llama_cpp"
