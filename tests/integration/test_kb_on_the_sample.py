"""The sample workspace through the real command: read, searched, asked in three languages."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from kb.contract.answers import Answer
from kb.contract.chunks import ChunkInspection
from kb.contract.index import IndexReport, IndexVerify
from kb.contract.ingest import IngestReport
from kb.contract.items import ItemEntry
from kb.contract.jobs import Job
from kb.contract.library import DocSummary, DocumentView
from kb.contract.retrieval import RetrievalResponse
from kb.contract.system import Doctor
from tests.homes import ROOT, Home, needs_embedder, sample_questions

pytestmark = needs_embedder

DOCUMENTS = 15


@pytest.mark.parametrize("question", sample_questions(), ids=lambda question: str(question["lang"]))
def test_each_question_of_the_sample_is_answered_from_its_file(sample: Home, question: dict[str, str]) -> None:
    answer = Answer.read(sample.ok("ask", "--json", question["text"]))
    assert answer.grounded
    assert question["answer"] in answer.answer
    cited = {source.citation.path for source in answer.citations}
    assert question["path"] in cited
    assert all(source.marker and source.marker in answer.answer for source in answer.citations)


@pytest.mark.parametrize("question", sample_questions(), ids=lambda question: str(question["lang"]))
def test_a_search_for_each_question_finds_its_file_among_the_first_two(sample: Home, question: dict[str, str]) -> None:
    found = RetrievalResponse.read(sample.ok("search", "--json", "-k", "2", question["text"]))
    assert question["path"] in {hit.doc_path for hit in found.results}
    assert found.diagnostics.degraded_channels == ()


def test_the_quoted_words_of_an_answer_stand_in_the_lines_it_cites(sample: Home) -> None:
    answer = Answer.read(sample.ok("ask", "--json", sample_questions()[0]["text"]))
    for source in answer.citations:
        assert source.citation.line is not None
        lines = (sample.workspace / source.citation.path).read_text(encoding="utf-8").splitlines()
        cited = " ".join(" ".join(lines[source.citation.line.start - 1 : source.citation.line.end]).split())
        assert source.quote is not None
        # A quote is the words, without the marks of Markdown.
        assert " ".join(source.quote.split()) in cited.replace("**", "")


def test_the_answers_in_the_readme_are_those_that_kb_gives(sample: Home) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r'^\$ kb ask "(.+)"\n((?:(?!\$ |```).*\n)+)', readme, re.MULTILINE)
    examples = [(question, text) for question, text in shown if "grounded" in text]
    assert len(examples) == 4
    for question, text in examples:
        assert sample.kb("ask", question).out.rstrip() == text.rstrip(), "copy the new output into the README"


def test_an_answer_for_people_has_markers_a_rule_sources_and_a_footer(sample: Home) -> None:
    question = sample_questions()[1]
    lines = sample.ok("ask", question["text"]).splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith("───"))
    assert "[1]" in "\n".join(lines[:rule])
    assert lines[rule + 1].startswith(f"[1] {question['path']}#L")
    assert lines[-1].startswith("grounded ✓  extractive-v1  rag-v1  ")
    assert sum(question["answer"] in line for line in lines[:rule]) == 1


def test_explain_says_how_an_answer_came_about(sample: Home) -> None:
    out = sample.ok("ask", "--explain", sample_questions()[1]["text"])
    assert "▎ " in out
    for row in ("retrieval trace", "  gate           0.30  → best", "  vector engine  scan", "  trace id       ans_"):
        assert row in out


def test_a_kept_answer_is_shown_again_by_its_trace_id(sample: Home) -> None:
    answer = Answer.read(sample.ok("ask", "--json", sample_questions()[2]["text"]))
    again = Answer.read(sample.ok("ask", "--json", "--replay", answer.retrieval.trace_id))
    assert (again.answer, again.citations) == (answer.answer, answer.citations)
    assert again.trace is not None


def test_a_question_that_nothing_answers_is_refused_with_exit_code_1(sample: Home) -> None:
    ran = sample.kb("ask", "--json", "--lang", "ko", "블록체인 스마트 계약의 합의 알고리즘은?")
    answer = Answer.read(ran.out)
    assert (ran.code, answer.grounded) == (1, False)
    assert answer.refusal_reason in {"score_gate", "no_chunks"}
    assert all(source.marker is None for source in answer.citations)


def test_lists_show_every_file_of_the_sample(sample: Home) -> None:
    documents = [DocSummary.read(line) for line in sample.ok("list", "docs", "--json").splitlines()]
    assert len(documents) == DOCUMENTS
    assert {document.lang for document in documents} >= {"en", "ko", "zh-Hans"}
    items = [ItemEntry.read(line) for line in sample.ok("list", "items", "--json").splitlines()]
    assert {item.doc_path for item in items} == {document.doc_path for document in documents}
    assert sample.ok("list", "docs").splitlines()[-1] == f"{DOCUMENTS} documents"


def test_show_prints_title_tags_and_outline_with_lines(sample: Home) -> None:
    view = DocumentView.read(sample.ok("show", "--json", "notes/en/2025-09-winter-check.md"))
    assert view.document.title == "Winter check, September 2025"
    assert view.outline[0].uri == "notes/en/2025-09-winter-check.md#L5"
    out = sample.ok("show", view.document.doc_id)
    assert "title       Winter check, September 2025\n" in out
    assert "\nWinter check, September 2025  L5\n" in out


def test_inspect_prints_the_chunks_of_a_document_and_one_chunk(sample: Home) -> None:
    lines = sample.ok("inspect", "--json", "notes/zh/盐度校准.md").splitlines()
    chunks = [ChunkInspection.read(line) for line in lines]
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(embedding.state == "committed" for chunk in chunks for embedding in chunk.embeddings)
    (one,) = sample.ok("inspect", "--json", chunks[0].chunk_id).splitlines()
    assert ChunkInspection.read(one) == chunks[0]
    assert chunks[0].text.splitlines()[0] in sample.ok("inspect", chunks[0].chunk_id)


def test_doctor_and_verify_find_everything_in_order(sample: Home) -> None:
    report = Doctor.read(sample.ok("doctor", "--json"))
    assert report.ok
    assert [check.name for check in report.checks] == [
        "config_loaded",
        "data_dir_writable",
        "disk_space",
        "file_system",
        "sqlite_open",
        "text_index_open",
        "vector_index_open",
        "embedding_model",
        "llm_model",
    ]
    assert IndexVerify.read(sample.ok("index", "verify", "--json")).ok
    assert sample.ok("doctor").endswith("everything is in order\n")


def test_a_second_ingest_changes_nothing_and_embeds_nothing(sample: Home, tmp_path: Path) -> None:
    copy = sample.copied_to(tmp_path / "copy")
    report = IngestReport.read(copy.ok("ingest", "--json"))
    assert (report.scanned, report.skipped) == (DOCUMENTS, DOCUMENTS)
    assert (report.new, report.updated, report.deleted, report.embedded) == (0, 0, 0, 0)
    assert "nothing changed" in copy.ok("ingest")
    jobs = [Job.read(line) for line in copy.ok("jobs", "--json").splitlines()]
    assert {job.status for job in jobs} == {"succeeded"}


def test_renames_edits_and_deletions_are_followed(sample: Home, tmp_path: Path) -> None:
    copy = sample.copied_to(tmp_path / "copy")
    (copy.workspace / "notes/zh/盐度校准.md").rename(copy.workspace / "notes/zh/盐度.md")
    (copy.workspace / "reference/stations.md").unlink()
    copy.put("notes/en/new.md", "# Puffins\n\nPuffins nest on the seal rocks since 2024.\n")
    report = IngestReport.read(copy.ok("ingest", "--json"))
    assert (report.new, report.renamed, report.deleted) == (1, 1, 1)
    renamed = next(item for item in report.items or () if item.kind == "renamed")
    assert (renamed.renamed_from, renamed.doc_path) == ("notes/zh/盐度校准.md", "notes/zh/盐度.md")
    found = RetrievalResponse.read(copy.ok("search", "--json", "盐度传感器多久校准一次"))
    paths = [hit.doc_path for hit in found.results]
    assert paths[0] == "notes/zh/盐度.md"
    assert not {"notes/zh/盐度校准.md", "reference/stations.md"} & set(paths)
    assert copy.ok("search", "-k", "1", "puffins nest").startswith("1. ")


def without_indexes(home: Home) -> None:
    for name in ("tantivy", "vectors", "chroma"):
        shutil.rmtree(home.data / name, ignore_errors=True)


def test_without_index_folders_everything_still_answers_and_heals_by_itself(sample: Home, tmp_path: Path) -> None:
    copy = sample.copied_to(tmp_path / "copy")
    without_indexes(copy)
    assert copy.kb("doctor").code == 3
    question = sample_questions()[0]
    found = RetrievalResponse.read(copy.ok("search", "--json", question["text"]))
    assert question["path"] in {hit.doc_path for hit in found.results[:2]}
    # Whichever is faster: the search, which then says what it did without, or the repair that it began.
    assert {lost.reason for lost in found.diagnostics.degraded_channels} <= {"lexical_unavailable"}
    assert copy.kb("doctor").code == 0
    again = RetrievalResponse.read(copy.ok("search", "--json", question["text"]))
    assert again.diagnostics.degraded_channels == ()
    without_indexes(copy)
    ran = copy.kb("ask", question["text"])
    assert ran.code == 0
    assert question["answer"] in ran.out


def test_without_index_folders_a_rebuild_embeds_nothing(sample: Home, tmp_path: Path) -> None:
    copy = sample.copied_to(tmp_path / "copy")
    without_indexes(copy)
    report = IndexReport.read(copy.ok("index", "rebuild", "--json"))
    assert report.embedded == 0
    assert report.text_entries == report.vectors
    assert report.text_entries
    assert copy.kb("doctor").code == 0


def test_filters_keep_only_what_meets_them(sample: Home) -> None:
    found = RetrievalResponse.read(sample.ok("search", "--json", "--lang", "ko", "--path", "notes/**", "battery"))
    assert {hit.doc_path.split("/")[1] for hit in found.results} == {"ko"}
    tagged = RetrievalResponse.read(sample.ok("search", "--json", "--tag", "decision", "why radio"))
    assert {hit.doc_path.split("/")[0] for hit in tagged.results} == {"decisions"}


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_each_mode_uses_its_own_channels(sample: Home, mode: str) -> None:
    found = RetrievalResponse.read(sample.ok("search", "--json", "--mode", mode, "배터리"))
    channels = set(found.diagnostics.used_channels)
    assert ("vector" in channels) == (mode != "lexical")
    assert bool({"lexical", "cjk"} & channels) == (mode != "vector")
    assert json.loads(sample.ok("search", "--json", "--mode", mode, "배터리"))["settings"]["mode"] == mode
