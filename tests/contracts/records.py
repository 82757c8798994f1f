"""What the store of answers promises, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace

from kb.answering.ports import AnswerRecord, AnswerStore, PackedChunk
from kb.domain.answers import (
    Answer,
    AnswerCitation,
    Claim,
    ModelRef,
    RefusalReason,
    RetrievalSummary,
    TokenUsage,
    TraceId,
)
from kb.domain.citations import Citation
from kb.domain.places import LinePlace
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.search import SearchMode
from tests.builders import NOON, path_of


def a_record(trace_id: str, doc_id: str = "d" * 32) -> AnswerRecord:
    citation = Citation(path_of("notes/# 케밥.md"), LinePlace(3, 5), section="§Grill", speaker="Ada")
    answer = Answer(
        question="케밥?",
        text="It grills [1].",
        grounded=True,
        refusal_reason=None,
        citations=(
            AnswerCitation(1, citation, ChunkId("c" * 32), DocumentId(doc_id), "It grills.", 0.75, ("lexical", "cjk")),
        ),
        claims=(Claim("It grills [1].", (1,), "It grills.", "exact"),),
        model=ModelRef("extractive", "builtin"),
        embedding=ModelRef("e5", "fastembed", 384),
        prompt_template_version="rag-v1",
        retrieval=RetrievalSummary(
            TraceId(trace_id), SearchMode.HYBRID, 6, 0.3, 0.75, 6, 1, 240, 2, ("partial_vectors",)
        ),
        usage=TokenUsage(100, 20, 345),
        finish_reason="stop",
        created_at=NOON,
    )
    packed = (PackedChunk(1, "c" * 32, doc_id, "It grills."),)
    return AnswerRecord(answer, packed, "You answer.", "[#1] It grills.", 0.5, 7)


class AnswerStoreContract:
    def test_an_answer_reads_back_whole(self, answers: AnswerStore) -> None:
        record = a_record("t1")
        answers.keep(record)
        assert answers.get("t1") == record
        found = answers.get("t1")
        assert found is not None
        place = found.answer.citations[0].citation
        assert (place.section, place.speaker) == ("§Grill", "Ada")

    def test_a_refusal_reads_back_with_its_reason_and_candidates(self, answers: AnswerStore) -> None:
        record = a_record("t1")
        near = replace(record.answer.citations[0], marker=None)
        refusal = replace(
            record.answer,
            grounded=False,
            refusal_reason=RefusalReason.SCORE_GATE,
            citations=(near,),
            claims=(),
            embedding=None,
        )
        answers.keep(AnswerRecord(refusal))
        assert answers.get("t1") == AnswerRecord(refusal)

    def test_the_newest_answers_come_first(self, answers: AnswerStore) -> None:
        for trace_id in ("t1", "t2", "t3"):
            answers.keep(a_record(trace_id))
        assert [record.answer.retrieval.trace_id for record in answers.recent(2)] == ["t3", "t2"]
        assert answers.get("t4") is None
