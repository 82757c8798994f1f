"""One example of every object on the wire, made by the real conversions where there is one.

The page's tests read them from `tests/wire/examples/`. Written anew by `python -m tests.wire.payloads`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from kb.app.watching import Followed
from kb.app.wire.answers import answer_to_wire
from kb.app.wire.chunks import chunk_to_wire, embedding_to_wire
from kb.app.wire.citation import citation_to_wire
from kb.app.wire.jobs import job_to_wire
from kb.app.wire.library import coverage_to_wire, item_to_wire, masked_to_wire, summary_to_wire
from kb.app.wire.search import result_to_wire
from kb.app.wire.watching import watch_to_wire
from kb.contract.answers import AnswersPage, AnswerStop
from kb.contract.base import Wire
from kb.contract.chunks import ChunksPage
from kb.contract.events import CheckedClaim, Event, Token
from kb.contract.index import IndexCheck, IndexReport, IndexVerify
from kb.contract.ingest import IngestItem, IngestReport, IngestScope, IngestWarning
from kb.contract.items import Items, ItemView
from kb.contract.jobs import JobsPage
from kb.contract.library import DocStates, DocumentsPage, DocumentView, LibrarySummary, OutlineEntry
from kb.contract.viewer import LineRange, View, ViewerContext
from kb.domain.accounting import totals, unread
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
from kb.domain.catalogue import ItemRow
from kb.domain.chunks import Chunk, StoredChunk
from kb.domain.citations import Citation
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import DocumentSummary
from kb.domain.embeddings import ChunkKey, EmbeddingModel
from kb.domain.files import FileIdentity
from kb.domain.items import Item, ItemState, MediaType
from kb.domain.jobs import Job, JobId, JobKind, JobStatus, Progress, Rest
from kb.domain.masking import MaskedSecret
from kb.domain.paths import WorkspacePath
from kb.domain.places import LinePlace
from kb.domain.recipes import BlockId, ChunkId, DocumentId, ItemId
from kb.domain.search import SearchMode
from kb.domain.spans import LineSpan, Segment
from kb.ingest.removals import HeldBack
from kb.retrieval.results import Context, ContextGroup, Diagnostics, SearchResult
from kb.retrieval.values import ChannelScores, Degraded, Highlight, Hit, SearchQuery
from tests.wire.backup_payloads import backup_payloads
from tests.wire.chunking_payloads import chunking_payloads
from tests.wire.collection_payloads import collection_payloads
from tests.wire.connection_payloads import connection_test, connections
from tests.wire.evaluation_payloads import evaluation_payloads
from tests.wire.generation_payloads import generation_payloads
from tests.wire.graph_payloads import graph_links, graph_report, graph_state
from tests.wire.layer_payloads import layer_payloads
from tests.wire.search_payloads import names, parsed_query, search_counters, why
from tests.wire.system_payloads import system_payloads
from tests.wire.version_payloads import version_payloads

EXAMPLES = Path(__file__).parent / "examples"

NOON = datetime(2026, 4, 27, 15, 42, 11, tzinfo=timezone(timedelta(hours=9)))
PATH = WorkspacePath("notes/rust/아키텍처.md")
DOC = DocumentId("3f9a2c10ee4d6b783f9a2c10ee4d6b78")
CHUNK = ChunkId("9b4a8c1e7d3f2a059b4a8c1e7d3f2a05")
ITEM = ItemId("0196750b-3a00-7000-8000-000000000001")
PLACE = Citation(PATH, LinePlace(661, 672), section="§14 Chunking 정책")
MODEL = EmbeddingModel("multilingual-e5-small", "1", "fastembed", 384, "mean", "query: ", "passage: ", 500)
TEXT = "heading boundary 우선. code block 중간 분할 금지."


def stored_chunk() -> StoredChunk:
    """A chunk under two headings, on lines 661 to 672."""
    chunk = Chunk(
        chunk_id=CHUNK,
        doc_id=DOC,
        ordinal=13,
        text=TEXT,
        heading_path=("아키텍처", "14 Chunking 정책"),
        block_ids=(BlockId("b" * 32),),
        segments=(Segment(0, len(TEXT), LineSpan(661, 672)),),
        token_estimate=24,
        chunker_version="md-heading-v1",
        policy_hash="c" * 32,
        lang="ko",
    )
    return StoredChunk(ChunkKey(1), chunk, ITEM, PATH, "아키텍처", "ko", "markdown")


def search_result() -> SearchResult:
    """One hit of a hybrid search whose vectors were not all there."""
    scores = ChannelScores(lexical_rank=1, lexical_score=12.4, vector_rank=2, vector_similarity=0.78)
    hit = Hit(1, 0.82, 0.74, scores, stored_chunk(), PLACE, TEXT, True, (Highlight(0, 16),))
    return SearchResult(
        query=SearchQuery("Markdown chunking 규칙은?"),
        trace_id="ret_4a8b2c1e",
        hits=(hit,),
        context=Context(len(TEXT), False, (ContextGroup(DOC, (1,), TEXT, False),)),
        diagnostics=Diagnostics(
            requested_channels=("lexical", "cjk", "vector"),
            used_channels=("lexical", "vector"),
            degraded=(Degraded("vector", "partial_vectors", "3 of 4 passages have a vector"),),
            candidate_counts={"lexical": 24, "vector": 24},
            milliseconds={"lexical": 1.25, "vector": 3.5},
            fusion="score",
            vector_engine="scan",
            vectors_scanned=3,
            removed_by_gate=0,
            removed_by_threshold=1,
            removed_by_budget=0,
        ),
        duration_ms=9.75,
        model=MODEL,
        passages_searched=4,
    )


def domain_answer(*, refused: bool = False) -> Answer:
    """A grounded answer, or a refusal with its nearest place."""
    summary = RetrievalSummary(
        TraceId("ret_4a8b2c1e"), SearchMode.HYBRID, 6, 0.3, 0.21 if refused else 0.82, 1, 0 if refused else 1, 4, 1, ()
    )
    return Answer(
        question="Markdown chunking 규칙은?",
        text="근거 부족. KB 에 해당 내용 없음." if refused else "heading boundary 우선 [1].",
        grounded=not refused,
        refusal_reason=RefusalReason.SCORE_GATE if refused else None,
        citations=(
            AnswerCitation(
                None if refused else 1, PLACE, CHUNK, DOC, "" if refused else TEXT[:20], 0.21, ("lexical", "vector")
            ),
        ),
        claims=() if refused else (Claim("heading boundary 우선", (1,), TEXT[:20], "supported"),),
        model=ModelRef("extractive", "extractive"),
        embedding=ModelRef(MODEL.id, MODEL.provider, MODEL.dimensions),
        prompt_template_version="rag-v1",
        retrieval=summary,
        usage=TokenUsage(0, 0, 12),
        finish_reason="stop",
        created_at=NOON,
    )


def domain_job() -> Job:
    """A job that failed after a while."""
    progress = Progress("embed", 3, 4, 75, "notes/kb.md", 3, 4, 12, 90.5, 1.5, 0.7)
    error = ("storage_failed", "the disk is full")
    kind, status = JobKind.INGEST, JobStatus.FAILED
    job = Job(JobId("job_2"), kind, status, {}, progress, 5, *error, None, NOON, NOON, NOON)
    return replace(job, subject="workspace", most_attempts=5, dead=True, retry_of=JobId("job_1"))


def waiting_job() -> Job:
    """A job that a person paused while it waited for its second attempt."""
    job = replace(domain_job(), job_id=JobId("job_3"), status=JobStatus.PENDING, attempts=1, finished_at=None)
    return replace(job, dead=False, retry_of=None, rest=Rest.ASKED, not_before=NOON)


def document_summary() -> DocumentSummary:
    """One document as the list shows it."""
    return DocumentSummary(
        doc_id=DOC,
        item_id=ITEM,
        workspace_path=PATH,
        title="Rust 로컬 Knowledge Base 설계",
        lang="ko",
        tags=("knowledge-base", "rust"),
        source_type="markdown",
        trust_level="primary",
        byte_len=41_822,
        chunk_count=38,
        vector_count=38,
        created_at=NOON,
        updated_at=NOON,
        parser_version="markdown-1",
        chunker_version="md-heading-v1",
        version=2,
    )


def units() -> tuple[CoverageUnit, ...]:
    """Thirteen pages: twelve read, one that failed."""
    return (CoverageUnit("page", 1, 12, "text"), CoverageUnit("page", 13, 13, "failed", reason="damaged"))


def item_row() -> ItemRow:
    """A document of those pages."""
    item = Item(ITEM, PATH, PATH, FileIdentity(41_822, 1, "1:2"), ItemState.READY, active_doc_id=DOC)
    return ItemRow(
        item=item,
        media_type=MediaType.PDF,
        included=True,
        archived=False,
        kinds=("page",),
        totals=totals(units()),
        unread=unread(units()),
        is_of_document=True,
        chunk_count=38,
    )


def ingest_report() -> IngestReport:
    """A run with one new file and one that could not be read."""
    scope = IngestScope(root="KnowledgeBase", include=("**/*",), exclude=(".git/**",))
    warning = IngestWarning(kind="malformed_table", note="line 40: a row has 5 cells, the header 4")
    new = IngestItem(
        kind="new",
        doc_id=DOC,
        doc_path=PATH,
        asset_id="a" * 32,
        byte_len=41_822,
        block_count=184,
        chunk_count=38,
        parser_version="markdown-1",
        chunker_version="md-heading-v1",
        warnings=(warning,),
        error=None,
        item_id=ITEM,
    )
    blank = dict.fromkeys(("doc_id", "asset_id", "byte_len", "block_count", "chunk_count"))
    failed = IngestItem.model_validate(
        {
            **blank,
            "kind": "error",
            "doc_path": "papers/broken.pdf",
            "parser_version": None,
            "chunker_version": None,
            "warnings": (),
            "error": "the file is damaged",
            "reason": "damaged",
        }
    )
    return IngestReport(
        scope=scope,
        scanned=2,
        new=1,
        updated=0,
        skipped=0,
        errors=1,
        duration_ms=4231,
        items=(new, failed),
    )


def payloads() -> dict[str, Wire]:
    """Every example by the name of its file."""
    answer, refusal = answer_to_wire(domain_answer()), answer_to_wire(domain_answer(refused=True))
    response, job = result_to_wire(search_result()), job_to_wire(domain_job())
    states = DocStates(parse="done", fulltext="done", vector="done", graph="disabled")
    summary = summary_to_wire(document_summary(), states)
    chunk = chunk_to_wire(stored_chunk(), (embedding_to_wire(stored_chunk(), MODEL),))
    found = {
        "citation": citation_to_wire(PLACE),
        "search_hit": response.results[0],
        "retrieval_response": response,
        "answer": answer,
        "answer_refused": refusal,
        "answer_stop": AnswerStop(trace_id="ret_4a8b2c1e", stopping=True),
        "answers": AnswersPage(answers=(answer, refusal)),
        "ingest_report": ingest_report(),
        "ingest_report_summary": ingest_report().model_copy(update={"items": None}),
        "doc_summary": summary,
        "documents": DocumentsPage(documents=(summary,), next=None),
        "chunk_inspection": chunk,
        "chunks": ChunksPage(chunks=(chunk,), next="14"),
        **layer_payloads(chunk, f"{TEXT} Mended."),
        "connections": connections(),
        "graph_links": graph_links(),
        "graph_report": graph_report(),
        "graph_state": graph_state(),
        "connection_test": connection_test(),
        "job": job,
        "jobs": JobsPage(jobs=(job_to_wire(waiting_job()), job)),
        "items": Items(items=(item_to_wire(item_row()),), next=None),
        "item": ItemView(item=item_to_wire(item_row())),
        "coverage": coverage_to_wire(item_row(), units()),
        "masked": masked_to_wire(PATH, DOC, [MaskedSecret("aws_key", "[aws_key 1]", "text", LineSpan(661, 661))]),
        "token": Token(text="heading "),
        "claim": CheckedClaim(index=0, claim=answer.claims[0]),
        "event": Event(kind="progress", job=job),
        "event_changed": Event(kind="changed", changed=("documents", "index")),
    }
    return {**found, **_more(DocumentView(document=summary, outline=(_heading(),), warnings=(), aliases=("kb",)))}


def _heading() -> OutlineEntry:
    return OutlineEntry(level=2, text="14 Chunking 정책", uri=PLACE.to_uri())


def _more(document: DocumentView) -> dict[str, Wire]:
    citation = citation_to_wire(PLACE)
    return {
        "document": document,
        "library_summary": LibrarySummary(
            documents=1, chunks=38, full_text_ready=1, vectorised=1, failed=1, model_compatible=True
        ),
        "viewer": View(
            item_id=ITEM,
            doc_path=PATH,
            media="markdown",
            state="exact",
            quote=TEXT[:20],
            lines=LineRange(start=661, end=672),
            chunk_id=CHUNK,
            citation=citation,
        ),
        "viewer_context": ViewerContext(
            chunk_id=CHUNK,
            text=TEXT,
            before=("이전",),
            after=(),
            parent=None,
            collections=(),
            item_id=ITEM,
            doc_id=DOC,
            doc_path=PATH,
            title="아키텍처",
            citation=citation,
        ),
        **chunking_payloads(),
        **collection_payloads(),
        "names": names(PATH),
        "parsed_query": parsed_query(),
        "search_counters": search_counters(),
        "why": why(CHUNK, PATH),
        **generation_payloads(),
        "index_report": IndexReport(
            text_entries=38, vectors=38, embedded=0, duration_ms=120, vector_engines={"scan": 38}
        ),
        "index_verify": IndexVerify(
            ok=True, checks=(IndexCheck(name="text", ok=True, expected=38, found=38, detail="complete"),)
        ),
        **version_payloads(item_row(), DOC, NOON),
        **backup_payloads(NOON),
        **evaluation_payloads(NOON),
        "watch": watch_to_wire(_followed()),
        **system_payloads(),
    }


def _followed() -> Followed:
    held = HeldBack(812, 1_204, "unmounted", (WorkspacePath("stick/notes/a.md"),))
    return Followed(watching=True, pending=3, last_change_at=NOON, last_compared_at=NOON, held_back=held)


def text_of(example: Wire) -> str:
    """The JSON of an example as it stands in its file."""
    return example.model_dump_json(indent=2) + "\n"


if __name__ == "__main__":
    EXAMPLES.mkdir(exist_ok=True)
    for name, example in payloads().items():
        (EXAMPLES / f"{name}.json").write_text(text_of(example), encoding="utf-8", newline="\n")
