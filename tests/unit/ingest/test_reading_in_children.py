"""Files that children read: pages, coverage, passwords, models that are missing, order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb.domain.citations import cite
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument
from kb.domain.failures import Unreachable
from kb.domain.items import ItemState, MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import SourceFile, Tell
from tests.fakes.reading import FakeFormatReader, PagesParser, ScriptedParser
from tests.unit.ingest.world import World, counts

PDF = frozenset({MediaType.PDF})


def world(*parsers: PagesParser | ScriptedParser) -> World:
    return World(reader=FakeFormatReader(*parsers))


def test_pages_are_chunks_with_places_and_an_artifact_with_boxes() -> None:
    w = world()
    w.files.write("a.pdf", "first page words\fsecond page words")
    w.ingest()
    item = w.library.item("a.pdf")
    assert item.active_doc_id in w.artifacts.settled
    page = w.artifacts.page(item.active_doc_id, 2)
    assert page is not None
    assert page.text == "second page words"
    assert len(page.words) == 3


def test_a_blank_document_is_empty_and_every_page_is_accounted_for() -> None:
    w = world()
    w.files.write("a.pdf", "\f\f")
    w.ingest()
    item = w.library.item("a.pdf")
    assert item.state is ItemState.EMPTY
    assert [(unit.start, unit.state) for unit in item.coverage] == [(1, "blank"), (2, "blank"), (3, "blank")]


@pytest.mark.parametrize("reason", ["crashed", "too_slow", "too_much_memory"])
def test_a_child_that_ends_badly_costs_its_file_only(reason: str) -> None:
    w = world()
    assert w.reader is not None
    w.reader.fails = {"b.pdf": reason}
    for name in "abc":
        w.files.write(f"{name}.pdf", f"words of {name}")
    assert counts(w.ingest()) == {"scanned": 3, "new": 2, "errors": 1, "embedded": 2}
    assert w.library.item("b.pdf").reason == f"{reason}: reading it ended badly: {reason}; nothing else is affected"


def test_a_locked_file_waits_for_its_password_and_keeps_it_nowhere() -> None:
    w = world()
    w.files.write("a.pdf", "?sesame\nhidden words")
    assert counts(w.ingest()) == {"scanned": 1, "skipped": 1}
    item = w.library.item("a.pdf")
    assert (item.state, item.reason) == (ItemState.WAITING, "locked: the file is locked; give its password")
    w.ingest("a.pdf", password="wrong")
    assert w.library.item("a.pdf").state is ItemState.WAITING
    w.ingest("a.pdf", password="sesame")
    assert w.library.visible() == {"a.pdf": ["hidden words"]}
    assert "sesame" not in repr(w.library)


def test_a_file_that_needs_a_missing_model_waits_and_is_read_when_the_model_is_there() -> None:
    def wait(source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        unit = CoverageUnit("page", 1, 2, "waiting", reason="ocr_model")
        return ParsedDocument((), coverage=(unit,), waits_for="ocr_model")

    w = world(ScriptedParser(wait, PDF, "scripted+no-ocr"))
    w.files.write("scan.pdf", "words of the scan")
    w.ingest()
    item = w.library.item("scan.pdf")
    assert item.state is ItemState.WAITING
    assert item.reason is not None
    assert item.reason.startswith("ocr_model: ")
    w.reader = FakeFormatReader(PagesParser(version="scripted+ocr"))
    assert counts(w.ingest()) == {"scanned": 1, "updated": 1, "embedded": 1}


def test_a_document_of_which_no_page_could_be_read_failed_and_says_why() -> None:
    def fail(source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        return ParsedDocument((), coverage=(CoverageUnit("page", 1, 3, "failed", reason="damaged"),))

    w = world(ScriptedParser(fail))
    w.files.write("a.pdf", "x")
    w.ingest()
    item = w.library.item("a.pdf")
    assert (item.state, item.reason) == (ItemState.FAILED, "damaged: no page of it could be read")


def test_quick_files_come_first_and_children_read_ahead() -> None:
    w = world()
    w.files.write("a.pdf", "a words")
    w.files.write("b.pdf", "b words")
    w.files.write("z.md", "z words")
    w.ingest()
    assert w.files.reads == ["z.md", "a.pdf", "b.pdf"]
    assert w.reader is not None
    assert w.reader.begun == ["a.pdf", "b.pdf"]


def test_a_stop_drops_what_children_still_read_and_keeps_what_is_done() -> None:
    w = world()
    for name in "abcd":
        w.files.write(f"{name}.pdf", f"words of {name}")
    report = w.ingest(should_stop=lambda: w.reader is not None and any(one.progress()[0] for one in w.reader.readings))
    assert report.canceled
    assert w.reader is not None
    assert [reading.cancelled for reading in w.reader.readings] == [False, True, True, True]
    assert w.library.visible() == {"a.pdf": ["words of a"]}


class Teller:
    model = "tell-me-2"

    def caption(self, data: bytes, media_type: MediaType) -> str:
        if b"!down" in data:
            raise Unreachable("the caption server does not answer")
        return "a cat on a mat"


def test_a_caption_is_marked_as_generated_and_names_its_model() -> None:
    w = World(reader=FakeFormatReader(PagesParser(frozenset({MediaType.IMAGE}))), captioner=Teller())
    w.files.write("cat.png", "sign")
    w.ingest()
    assert w.library.visible() == {"cat.png": ["sign", "Caption generated by tell-me-2\na cat on a mat"]}
    doc_id = w.library.item("cat.png").active_doc_id
    assert doc_id is not None
    document, _ = w.library.stored.documents[doc_id]
    caption = document.blocks[-1]
    assert caption.parsed.heading_path == ("Caption generated by tell-me-2",)
    assert cite(WorkspacePath("cat.png"), [caption.parsed.span], None).to_uri() == "cat.png#caption=tell-me-2"


def test_a_caption_server_that_is_down_costs_the_caption_only() -> None:
    w = World(reader=FakeFormatReader(PagesParser(frozenset({MediaType.IMAGE}))), captioner=Teller())
    w.files.write("cat.png", "sign !down")
    report = w.ingest()
    assert w.library.visible() == {"cat.png": ["sign !down"]}
    assert report.items is not None
    (line,) = report.items
    assert [warning.kind for warning in line.warnings] == ["extract_failed"]


def test_a_password_is_not_part_of_what_an_options_object_shows() -> None:
    from kb.ingest.run_ports import IngestOptions

    assert "sesame" not in repr(replace(IngestOptions(), password="sesame"))


def test_a_document_read_in_part_is_read_again_by_a_retry_and_is_then_another_version() -> None:
    lost = [True]

    def read(source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        pages = PagesParser().read(source, limits, tell)
        if not lost:
            return pages
        failed = CoverageUnit("page", 2, 2, "failed", reason="crashed")
        return replace(pages, blocks=pages.blocks[:1], pages=pages.pages[:1], coverage=(pages.coverage[0], failed))

    w = world(ScriptedParser(read))
    w.files.write("a.pdf", "first page\fsecond page")
    w.ingest()
    first = w.library.item("a.pdf")
    assert w.library.visible() == {"a.pdf": ["first page"]}
    lost.clear()
    assert counts(w.ingest()) == {"scanned": 1, "skipped": 1}
    assert counts(w.ingest(retry=True)) == {"scanned": 1, "updated": 1, "embedded": 1}
    assert "second page" in " ".join(w.library.visible()["a.pdf"])
    assert w.library.item("a.pdf").active_doc_id != first.active_doc_id
    assert counts(w.ingest(retry=True)) == {"scanned": 1, "skipped": 1}
