"""What the stores of answers and jobs promise, whatever they are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

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
from kb.domain.errors import NotFound
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress
from kb.domain.places import LinePlace
from kb.domain.recipes import ChunkId, DocumentId
from kb.domain.search import SearchMode
from kb.jobs.ports import JobControl, JobStore
from tests.builders import NOON, path_of


@dataclass(frozen=True)
class Queue:
    store: JobStore
    control: JobControl


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


class JobContract:
    def test_the_same_request_while_one_is_live_is_the_same_job(self, queue: Queue) -> None:
        first = queue.store.enqueue(JobKind.INGEST, {"paths": ["a", "b"], "retry": False})
        assert queue.store.enqueue(JobKind.INGEST, {"retry": False, "paths": ["a", "b"]}).job_id == first.job_id
        assert queue.store.enqueue(JobKind.INGEST, {"paths": ["b"]}).job_id != first.job_id
        assert queue.store.enqueue(JobKind.REBUILD, {"paths": ["a", "b"], "retry": False}).job_id != first.job_id
        queue.store.claim()
        assert queue.store.enqueue(JobKind.INGEST, dict(first.payload)).job_id == first.job_id
        queue.store.finish(first.job_id, JobStatus.SUCCEEDED)
        assert queue.store.enqueue(JobKind.INGEST, dict(first.payload)).job_id != first.job_id

    def test_jobs_are_claimed_oldest_first_and_once(self, queue: Queue) -> None:
        first = queue.store.enqueue(JobKind.INGEST, {"n": 1})
        second = queue.store.enqueue(JobKind.INGEST, {"n": 2})
        claimed = [queue.store.claim(), queue.store.claim()]
        assert [job and (job.job_id, job.status, job.attempts) for job in claimed] == [
            (first.job_id, JobStatus.RUNNING, 1),
            (second.job_id, JobStatus.RUNNING, 1),
        ]
        assert queue.store.claim() is None
        assert [job.job_id for job in queue.control.recent(5)] == [second.job_id, first.job_id]

    def test_progress_stays_under_a_hundred_until_the_end(self, queue: Queue) -> None:
        job = queue.store.enqueue(JobKind.INGEST, {})
        queue.store.claim()
        assert queue.store.report(job.job_id, Progress("embed", 5, 5, 100, "last"))
        assert _found(queue, job.job_id).progress == Progress("embed", 5, 5, 99, "last")
        queue.store.finish(job.job_id, JobStatus.SUCCEEDED, result={"new": 3})
        done = _found(queue, job.job_id)
        assert (done.progress.percent, done.result, done.status) == (100, {"new": 3}, JobStatus.SUCCEEDED)
        assert done.finished_at is not None

    def test_a_failure_keeps_its_code_and_message(self, queue: Queue) -> None:
        job = queue.store.enqueue(JobKind.INGEST, {})
        queue.store.claim()
        queue.store.finish(job.job_id, JobStatus.FAILED, error=("storage_failed", "the disk is full"))
        failed = _found(queue, job.job_id)
        assert (failed.error_code, failed.error_message) == ("storage_failed", "the disk is full")

    def test_a_pending_job_is_canceled_at_once(self, queue: Queue) -> None:
        job = queue.store.enqueue(JobKind.INGEST, {})
        canceled = queue.control.request_cancel(job.job_id)
        assert canceled is not None
        assert (canceled.status, canceled.finished_at is not None) == (JobStatus.CANCELED, True)
        assert queue.store.claim() is None

    def test_a_running_job_hears_of_it_with_its_next_report(self, queue: Queue) -> None:
        job = queue.store.enqueue(JobKind.INGEST, {})
        queue.store.claim()
        assert queue.store.report(job.job_id, Progress())
        asked = queue.control.request_cancel(job.job_id)
        assert asked is not None
        assert asked.status is JobStatus.RUNNING
        assert not queue.store.report(job.job_id, Progress())
        queue.store.finish(job.job_id, JobStatus.CANCELED)
        queue.store.finish(job.job_id, JobStatus.SUCCEEDED)
        assert _found(queue, job.job_id).status is JobStatus.CANCELED

    def test_what_a_dead_process_left_running_is_put_back(self, queue: Queue) -> None:
        left, unwanted = queue.store.enqueue(JobKind.INGEST, {"n": 1}), queue.store.enqueue(JobKind.INGEST, {"n": 2})
        queue.store.claim()
        queue.store.claim()
        queue.control.request_cancel(unwanted.job_id)
        assert queue.control.requeue_orphans() == 1
        assert _found(queue, unwanted.job_id).status is JobStatus.CANCELED
        again = queue.store.claim()
        assert again is not None
        assert (again.job_id, again.attempts) == (left.job_id, 2)

    def test_a_job_nobody_knows_is_none_or_an_error(self, queue: Queue) -> None:
        assert queue.control.get(JobId("x")) is None
        assert queue.control.request_cancel(JobId("x")) is None
        assert not queue.store.report(JobId("x"), Progress())
        with pytest.raises(NotFound):
            queue.store.finish(JobId("x"), JobStatus.FAILED)


def _found(queue: Queue, job_id: JobId) -> Job:
    job = queue.control.get(job_id)
    assert job is not None
    return job
