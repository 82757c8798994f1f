"""From domain values to the wire: nothing is lost, nothing is made up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.answering.ports import AnswerRecord, PackedChunk
from kb.app.wire.answers import answer_to_wire
from kb.app.wire.chunks import chunk_to_wire, span_to_wire
from kb.app.wire.citation import citation_to_wire
from kb.app.wire.jobs import job_to_wire
from kb.app.wire.library import coverage_to_wire, summary_to_wire, totals_to_wire
from kb.app.wire.search import result_to_wire
from kb.domain.citations import Citation
from kb.domain.coverage import CoverageUnit
from kb.domain.paths import workspace_path
from kb.domain.placed import span_to_json
from kb.domain.places import (
    CaptionPlace,
    LinePlace,
    PagePlace,
    PartPlace,
    Place,
    RegionPlace,
    SheetPlace,
    TimePlace,
)
from kb.domain.search import SearchMode
from kb.domain.spans import ByteSpan, LineSpan, PageSpan, PartSpan, RegionSpan, SourceSpan, TimeSpan
from kb.retrieval.values import SearchQuery
from tests.wire.payloads import (
    NOON,
    document_summary,
    domain_answer,
    domain_job,
    item_row,
    search_result,
    stored_chunk,
    units,
)


def sent(model: Any) -> Any:
    """What goes over the wire."""
    return json.loads(model.model_dump_json())


FROZEN: list[tuple[Place, str, dict[str, object]]] = [
    (LinePlace(12, 34), "line", {"start": 12, "end": 34, "section": "§14"}),
    (PagePlace(13, 13), "page", {"page": 13, "section": "§14"}),
    (PagePlace(3, 4), "page", {"page": 3, "end": 4, "section": "§14"}),
    (RegionPlace(120, 40, 520, 180), "region", {"x": 120, "y": 40, "w": 520, "h": 180}),
    (RegionPlace(1.5, 2, 3, 4, page=3), "region", {"x": 1.5, "y": 2, "w": 3, "h": 4, "page": 3}),
    (CaptionPlace("qwen2.5-vl:7b"), "caption", {"model": "qwen2.5-vl:7b"}),
    (TimePlace(822_000, 850_000), "time", {"start_ms": 822_000, "end_ms": 850_000, "speaker": "S1"}),
    (SheetPlace("표 1", "B2:D9"), "sheet", {"name": "표 1", "cells": "B2:D9"}),
    (PartPlace("slide", 4), "slide", {"number": 4, "section": "§14"}),
    (PartPlace("message", 4), "message", {"number": 4, "section": "§14"}),
    (PartPlace("section", 4), "section", {"number": 4, "section": "§14"}),
    (PartPlace("cell", 4), "cell", {"number": 4, "section": "§14"}),
]


@pytest.mark.parametrize(("place", "kind", "part"), FROZEN, ids=lambda value: str(value)[:30])
def test_a_citation_has_its_own_part_and_no_other(place: Place, kind: str, part: dict[str, object]) -> None:
    citation = Citation(workspace_path("notes/a b#.md"), place, section="§14", speaker="S1")
    assert sent(citation_to_wire(citation)) == {
        "schema_version": "citation.v1",
        "kind": kind,
        "path": "notes/a b#.md",
        "uri": citation.to_uri(),
        kind: part,
    }


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), st.integers(1, 10**6), st.integers(0, 999))
def test_the_uri_of_a_sent_citation_leads_back_to_the_place(name: str, start: int, more: int) -> None:
    path = workspace_path(f"notes/{name.replace('/', '_')}.md")
    citation = Citation(path, LinePlace(start, start + more))
    assert Citation.parse(citation_to_wire(citation).uri) == citation


def test_a_hit_keeps_what_every_channel_said() -> None:
    (hit,) = sent(result_to_wire(search_result()))["results"]
    assert hit["retrieval"] == {
        "method": "hybrid",
        "lexical_score": 12.4,
        "vector_score": 0.78,
        "fusion_score": 0.82,
        "lexical_rank": 1,
        "vector_rank": 2,
    }
    assert (hit["score"], hit["relevance"], hit["channels"]) == (0.82, 0.74, ["lexical", "vector"])
    assert (hit["context_group"], hit["section_label"]) == (0, "§14 Chunking 정책")


def test_one_channel_alone_has_no_fusion_score() -> None:
    query = SearchQuery("q", mode=SearchMode.LEXICAL)
    (hit,) = result_to_wire(replace(search_result(), query=query)).results
    assert (hit.retrieval.method, hit.retrieval.fusion_score) == ("lexical", None)


def test_without_an_embedding_model_none_is_named() -> None:
    (hit,) = result_to_wire(replace(search_result(), model=None)).results
    assert hit.embedding_model is None


def test_diagnostics_say_what_was_asked_used_degraded_and_removed() -> None:
    diagnostics = sent(result_to_wire(search_result()))["diagnostics"]
    assert diagnostics["requested_channels"] == ["lexical", "cjk", "vector"]
    assert diagnostics["used_channels"] == ["lexical", "vector"]
    assert diagnostics["degraded_channels"] == [
        {"channel": "vector", "reason": "partial_vectors", "detail": "3 of 4 passages have a vector"}
    ]
    assert diagnostics["removed"] == {"gate": 0, "threshold": 1, "budget": 0}


def test_an_answer_cites_by_the_markers_its_text_has() -> None:
    answer = sent(answer_to_wire(domain_answer()))
    assert "[1]" in answer["answer"]
    assert [cited["marker"] for cited in answer["citations"]] == ["[1]"]
    assert answer["claims"][0]["markers"] == ["[1]"]
    assert answer["citations"][0]["score"] is None
    assert answer["refusal_reason"] is None


def test_a_refusal_has_candidates_with_a_score_and_no_marker() -> None:
    refusal = sent(answer_to_wire(domain_answer(refused=True)))
    assert (refusal["grounded"], refusal["refusal_reason"]) == (False, "score_gate")
    assert [(cited["marker"], cited["score"]) for cited in refusal["citations"]] == [(None, 0.21)]


def test_an_answer_says_what_was_searched() -> None:
    answer = answer_to_wire(domain_answer(), scope=("work",))
    assert answer.searched is not None
    assert sent(answer.searched) == {
        "queries": ["Markdown chunking 규칙은?"],
        "scope": ["work"],
        "passages": 4,
        "unread_items": 1,
    }


def test_a_kept_answer_shows_its_trace_only_when_asked() -> None:
    record = AnswerRecord(domain_answer(), (PackedChunk(1, "c", "d", "text"),), "system", "user", 0.5, 7)
    assert answer_to_wire(record).trace is None
    trace = answer_to_wire(record, with_trace=True).trace
    assert trace is not None
    assert (trace.packed[0].text, trace.prompt_user, trace.seed) == ("text", "user", 7)


def test_times_keep_their_offset() -> None:
    assert sent(answer_to_wire(domain_answer()))["created_at"] == "2026-04-27T15:42:11+09:00"
    assert NOON.isoformat() == "2026-04-27T15:42:11+09:00"


SPANS: list[SourceSpan] = [
    LineSpan(1, 2),
    ByteSpan(0, 5),
    PageSpan(3),
    PageSpan(3, 0, 9),
    RegionSpan(1, 2, 3, 4),
    TimeSpan(0, 9),
    PartSpan("sheet", 1, "표", "B2"),
    PartSpan("slide", 4),
]


@pytest.mark.parametrize("span", SPANS, ids=str)
def test_a_span_is_sent_with_the_fields_its_id_is_made_of(span: SourceSpan) -> None:
    assert sent(span_to_wire(span)) == span_to_json(span)


def test_a_chunk_is_sent_whole() -> None:
    chunk = sent(chunk_to_wire(stored_chunk()))
    assert chunk["source_spans"] == [{"kind": "line", "start": 661, "end": 672}]
    assert (chunk["role"], chunk["enabled"], chunk["manually_edited"]) == ("standalone", True, False)
    assert chunk["char_count"] == len(chunk["text"])


def test_coverage_totals_sum_to_the_whole() -> None:
    coverage = coverage_to_wire(item_row(), units())
    assert sum(coverage.totals.model_dump().values()) == 13
    assert (coverage.totals.text, coverage.totals.failed) == (12, 1)


@given(
    st.lists(st.tuples(st.integers(1, 50), st.sampled_from(["text", "ocr", "blank", "failed", "skipped", "waiting"])))
)
def test_every_unit_is_counted_once(runs: list[tuple[int, Any]]) -> None:
    listed, at = [], 1
    for length, state in runs:
        listed.append(CoverageUnit("page", at, at + length - 1, state))
        at += length
    assert sum(totals_to_wire(listed).model_dump().values()) == at - 1


def test_a_job_says_why_it_failed_and_an_unfailed_one_says_nothing() -> None:
    assert sent(job_to_wire(domain_job()))["error"] == {"code": "storage_failed", "message": "the disk is full"}
    assert job_to_wire(replace(domain_job(), error_code=None, error_message=None)).error is None


def test_a_document_row_has_the_frozen_fields() -> None:
    row = sent(summary_to_wire(document_summary()))
    assert row["doc_path"] == "notes/rust/아키텍처.md"
    assert (row["tags"], row["trust_level"], row["source_type"]) == (["knowledge-base", "rust"], "primary", "markdown")
