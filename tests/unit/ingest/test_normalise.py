"""From a parse to a document: the same facts give the same ids, and every step is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kb.domain.documents import ParsedDocument, ParseWarning
from kb.domain.metadata import ProvenanceKind
from kb.domain.paths import WorkspacePath
from kb.domain.placed import span_to_json
from kb.domain.recipes import block_id, document_id
from kb.ingest.normalise import normalise, with_step
from tests.fakes.parsing import NOON, FixedDetector, facts, parsed, ticking

PARSE = parsed(("h1", "Title"), ("code", "x = 1"), ("paragraph", "Words of a document."))


def test_ids_follow_the_recipes() -> None:
    document = normalise(PARSE, facts(), FixedDetector(), ticking())
    assert document.doc_id == document_id(WorkspacePath("notes/a.md"), facts().asset_id, "test-1")
    for ordinal, block in enumerate(document.blocks):
        assert block.ordinal == ordinal
        assert block.block_id == block_id(
            document.doc_id,
            block_kind=block.parsed.kind.value,
            heading_path=block.parsed.heading_path,
            ordinal=ordinal,
            source_span=span_to_json(block.parsed.span),
        )


def test_another_path_or_parser_makes_another_document_and_another_time_does_not() -> None:
    def ids(path: str = "notes/a.md", version: str = "test-1", days: int = 0) -> str:
        known = replace(facts(path, version), discovered_at=NOON + timedelta(days=days))
        return normalise(PARSE, known, FixedDetector(), ticking(NOON + timedelta(days=days))).doc_id

    assert len({ids(), ids(path="b.md"), ids(version="test-2")}) == 3
    assert ids() == ids(days=3)


def test_the_steps_are_told_in_order_with_their_times() -> None:
    warned = replace(PARSE, warnings=(ParseWarning("encoding_fallback", "read as cp949"),), encoding="cp949")
    document = with_step(
        normalise(warned, facts(), FixedDetector(), ticking()), ProvenanceKind.CHUNKED, "structure-v1", NOON
    )
    assert [(e.kind, e.agent) for e in document.provenance] == [
        (ProvenanceKind.DISCOVERED, "scan"),
        (ProvenanceKind.PARSED, "test-1"),
        (ProvenanceKind.WARNING, "test-1"),
        (ProvenanceKind.NORMALIZED, "normalise-v1"),
        (ProvenanceKind.CHUNKED, "structure-v1"),
    ]
    assert document.provenance[2].note == "encoding_fallback: read as cp949"
    assert [e.at - NOON for e in document.provenance[:4]] == [timedelta(seconds=n) for n in (0, 0, 0, 1)]
    assert document.warnings == warned.warnings


def test_the_language_is_asked_of_the_prose_and_front_matter_overrules_it() -> None:
    detector = FixedDetector("ko")
    assert normalise(PARSE, facts(), detector, ticking()).lang == "ko"
    assert detector.asked == ["Title\nWords of a document."]
    told = replace(PARSE, front_matter={"lang": "de"})
    assert normalise(told, facts(), detector, ticking()).lang == "de"
    assert len(detector.asked) == 1


def test_an_empty_document_has_a_title_and_no_blocks() -> None:
    document = normalise(ParsedDocument(()), facts("inbox/empty note.md"), FixedDetector("und"), ticking())
    assert (document.title, document.blocks, document.lang) == ("empty note", (), "und")
