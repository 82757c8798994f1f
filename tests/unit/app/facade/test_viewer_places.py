"""Every kind of file opens where a citation says: page and words, region, second, cells, slide, message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kb.adapters.sqlite.connection import Library
from kb.domain.coverage import CoverageUnit
from kb.domain.items import ItemState, MediaType
from kb.domain.spans import CaptionSpan, PageSpan, PartSpan, RegionSpan, TimeSpan
from tests.builders import an_item
from tests.unit.app.facade.placing import Shelf, page_of, piece

FIRST = page_of(1, "The old harbour", "closes at nine", "and the boats")
SECOND = page_of(2, "wait until dawn.", "Nobody minds.")
BOOK = (CoverageUnit("page", 1, 2, "text"),)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    (tmp_path / "workspace").mkdir()
    library = Library(tmp_path / "data")
    yield Shelf(library, tmp_path)
    library.close()


def book(shelf: Shelf, path: str = "a.pdf", salt: str = "") -> str:
    running = piece(
        ("The old harbour closes at nine", PageSpan(1, 0, 30)),
        ("and the boats", PageSpan(1, 31, 44)),
        ("wait until dawn.", PageSpan(2, 0, 16)),
    )
    last = piece(("Nobody minds.", PageSpan(2, 17, 30)))
    return shelf.put(path, MediaType.PDF, running, last, coverage=BOOK, pages=(FIRST, SECOND), salt=salt)


def boxes(view: object) -> list[tuple[int, float, float, float, float]]:
    rects = getattr(view, "rects", None) or ()
    return [(r.page, round(r.x, 3), round(r.y, 3), round(r.w, 3), round(r.h, 3)) for r in rects]


def test_the_words_of_a_quote_are_marked_line_by_line(shelf: Shelf) -> None:
    view = shelf.open(chunk=book(shelf), quote="harbour closes")
    assert (view.media, view.state, view.quote) == ("pdf", "exact", "harbour closes")
    # `harbour` is letters 8 to 15 of the first line, `closes` 0 to 6 of the second; a letter is 0.02 wide.
    assert boxes(view) == [(1, 0.16, 0.0, 0.14, 0.05), (1, 0.0, 0.1, 0.12, 0.05)]
    assert view.citation is not None
    assert view.citation.uri == "a.pdf#page=1"


def test_a_passage_over_two_pages_is_marked_on_both(shelf: Shelf) -> None:
    view = shelf.open(chunk=book(shelf), quote="the boats wait until")
    assert boxes(view) == [(1, 0.08, 0.2, 0.18, 0.05), (2, 0.0, 0.0, 0.2, 0.05)]
    assert view.citation is not None
    assert view.citation.uri == "a.pdf#page=1-2"


def test_without_a_quote_the_whole_chunk_is_marked_one_rectangle_a_line(shelf: Shelf) -> None:
    view = shelf.open(chunk=book(shelf))
    assert view.quote is None
    assert [box[:3] for box in boxes(view)] == [(1, 0, 0), (1, 0, 0.1), (1, 0, 0.2), (2, 0, 0), (2, 0, 0.1)]


def test_a_quote_that_is_not_in_the_chunk_marks_the_whole_chunk(shelf: Shelf) -> None:
    view = shelf.open(chunk=book(shelf), quote="something quite different")
    assert view.quote is None
    assert len(boxes(view)) == 5


def test_a_page_is_cited_as_a_whole(shelf: Shelf) -> None:
    book(shelf)
    assert boxes(shelf.open("a.pdf#page=2")) == [(2, 0, 0, 1, 1)]
    assert boxes(shelf.open("a.pdf#page=1-2")) == [(1, 0, 0, 1, 1), (2, 0, 0, 1, 1)]
    assert boxes(shelf.open("a.pdf#page=2&xywh=percent:10,20,30,40")) == [(2, 0.1, 0.2, 0.3, 0.4)]
    gone = shelf.open("a.pdf#page=3")
    assert (gone.state, gone.rects) == ("gone", None)


def test_a_quote_on_another_page_than_cited_has_moved(shelf: Shelf) -> None:
    book(shelf)
    assert shelf.open("a.pdf#page=2", "Nobody minds").state == "exact"
    moved = shelf.open("a.pdf#page=1", "Nobody minds")
    assert (moved.state, boxes(moved)) == ("moved", [(2, 0.0, 0.1, 0.26, 0.05)])
    assert shelf.open("a.pdf#page=9", "Nobody minds").state == "moved"
    assert shelf.open("a.pdf#page=1", "an unknown sentence").state == "gone"


def test_a_passage_over_two_pages_that_are_two_others_now_has_moved(shelf: Shelf) -> None:
    blank, first, second = page_of(1, "A new page"), replace(FIRST, page=2), replace(SECOND, page=3)
    running = piece(
        ("and the boats", PageSpan(2, 31, 44)),
        ("wait until dawn.", PageSpan(3, 0, 16)),
    )
    units = (CoverageUnit("page", 1, 3, "text"),)
    shelf.put("a.pdf", MediaType.PDF, running, coverage=units, pages=(blank, first, second))
    assert shelf.open("a.pdf#page=1-2", "the boats wait until").state == "moved"
    assert shelf.open("a.pdf#page=2-3", "the boats wait until").state == "exact"
    assert shelf.open("a.pdf#page=2", "the boats wait until").state == "exact"
    assert shelf.open("a.pdf#page=1-3", "the boats").state == "exact"


def test_a_cited_version_that_is_superseded_opens_where_its_words_are_now(shelf: Shelf) -> None:
    cited = book(shelf)
    only = piece(("Nobody minds.", PageSpan(1, 0, 13)))
    pages = (page_of(1, "Nobody minds."),)
    shelf.put("a.pdf", MediaType.PDF, only, coverage=BOOK[:1], pages=pages, salt="new")
    moved = shelf.open(chunk=cited, quote="Nobody minds.")
    assert (moved.state, boxes(moved)) == ("moved", [(1, 0.0, 0.0, 0.26, 0.05)])
    gone = shelf.open(chunk=cited, quote="closes at nine")
    assert (gone.state, boxes(gone)) == ("gone", [(1, 0.0, 0.1, 0.28, 0.05)])


def test_words_whose_boxes_are_lost_leave_their_page(shelf: Shelf) -> None:
    chunk = book(shelf)
    shelf.artifacts.pages.clear()
    assert boxes(shelf.open(chunk=chunk, quote="wait until")) == [(2, 0, 0, 1, 1)]


SCAN = page_of(1, "Total 85 kg", "Total 85 kg", source="ocr", width=500, height=1000)
LINES = piece(("Total 85 kg", RegionSpan(0, 0, 120, 60)), ("Total 85 kg", RegionSpan(0, 95, 120, 60)), between="\n")


def test_words_of_a_picture_are_marked_in_their_own_line(shelf: Shelf) -> None:
    units = (CoverageUnit("image", 1, 1, "ocr", 0.9),)
    chunk = shelf.put("scan.png", MediaType.IMAGE, LINES, coverage=units, pages=(SCAN,))
    view = shelf.open(chunk=chunk, quote="kg Total")
    assert view.media == "image"
    assert boxes(view) == [(1, 0.18, 0.0, 0.04, 0.05), (1, 0.0, 0.1, 0.1, 0.05)]
    assert view.citation is not None
    assert view.citation.uri == "scan.png#xywh=0,0,120,155"
    again = shelf.open("scan.png#xywh=50,100,100,200")
    assert (again.state, boxes(again)) == ("exact", [(1, 0.1, 0.1, 0.2, 0.2)])
    assert shelf.open("scan.png#xywh=400,0,200,10").state == "gone"


def test_what_was_recognised_is_found_though_some_letters_were_read_differently(shelf: Shelf) -> None:
    units = (CoverageUnit("image", 1, 1, "ocr", 0.9),)
    shelf.put("scan.png", MediaType.IMAGE, LINES, coverage=units, pages=(SCAN,))
    view = shelf.open("scan.png#xywh=0,0,120,60", "T0tal 8S kg")
    assert (view.state, view.quote) == ("exact", "Total 85 kg")
    shelf.put("note.md", MediaType.MARKDOWN, piece(("Total 85 kg", PageSpan(1, 0, 11))), coverage=BOOK)
    assert shelf.open("note.md#page=1", "Total 86 kg").state == "gone"


def test_a_drawing_whose_words_have_no_boxes_is_marked_as_a_whole(shelf: Shelf) -> None:
    text = piece(("Lamp room", RegionSpan(0, 0, 300, 150)))
    chunk = shelf.put("plan.svg", MediaType.IMAGE, text, coverage=(CoverageUnit("image", 1, 1, "text"),))
    for view in (shelf.open(chunk=chunk, quote="Lamp"), shelf.open("plan.svg#xywh=0,0,300,150")):
        assert (view.media, view.state) == ("image", "exact")
        assert boxes(view) == [(1, 0, 0, 1, 1)]


def test_a_caption_opens_its_picture(shelf: Shelf) -> None:
    words = piece(("A cat sleeps on a wall.", CaptionSpan("seer-2")))
    units = (CoverageUnit("image", 1, 1, "blank"),)
    chunk = shelf.put("cat.jpg", MediaType.IMAGE, words, coverage=units)
    view = shelf.open(chunk=chunk, quote="sleeps on")
    assert (boxes(view), view.citation and view.citation.uri) == ([(1, 0, 0, 1, 1)], "cat.jpg#caption=seer-2")
    assert shelf.open("cat.jpg#caption=seer-2").state == "exact"


def test_speech_opens_at_the_seconds_of_the_words(shelf: Shelf) -> None:
    said = piece(
        ("ask", TimeSpan(10_000, 10_300)),
        ("what", TimeSpan(10_300, 10_600)),
        ("you", TimeSpan(10_600, 10_800)),
        ("can", TimeSpan(10_800, 11_000)),
    )
    units = (CoverageUnit("second", 1, 12, "text"),)
    chunk = shelf.put("talk.wav", MediaType.AUDIO, said, coverage=units)
    view = shelf.open(chunk=chunk, quote="what you")
    assert (view.media, view.time and (view.time.start_s, view.time.end_s)) == ("audio", (10.3, 10.8))
    cited = shelf.open("talk.wav#t=2,3.5")
    assert (cited.state, cited.time and (cited.time.start_s, cited.time.end_s)) == ("exact", (2.0, 3.5))
    assert shelf.open("talk.wav#t=2,13").state == "gone"
    assert shelf.open("talk.wav#t=0,2", "what you").state == "moved"


def test_rows_of_a_sheet_open_with_their_cells(shelf: Shelf) -> None:
    table = piece(
        ("name | kg", PartSpan("sheet", 2, "Load, heavy", "A1:B1")),
        ("anchor | 85", PartSpan("sheet", 2, "Load, heavy", "A2:B2")),
        ("chain | 40", PartSpan("sheet", 2, "Load, heavy", "A3:B3")),
        between="\n",
    )
    chunk = shelf.put("load.xlsx", MediaType.XLSX, table, coverage=(CoverageUnit("sheet", 1, 3, "text"),))
    view = shelf.open(chunk=chunk, quote="85 chain | 40")
    assert view.media == "table"
    assert view.part is not None
    assert view.part.model_dump() == {"kind": "sheet", "number": 2, "name": "Load, heavy", "cells": "A2:B3"}
    assert view.citation is not None
    uri = view.citation.uri
    assert uri == "load.xlsx#sheet=Load%2C%20heavy!A2:B3"
    cited = shelf.open(uri)
    assert (cited.state, cited.part and (cited.part.number, cited.part.cells)) == ("exact", (2, "A2:B3"))
    assert shelf.open(uri, "chain").state == "exact"
    assert shelf.open("load.xlsx#sheet=Load%2C%20heavy!A1:B1", "chain").state == "moved"
    assert shelf.open("load.xlsx#sheet=Nowhere!A1").state == "gone"


@pytest.mark.parametrize(
    ("media", "path", "part", "viewer"),
    [
        (MediaType.PPTX, "a.pptx", "slide", "text"),
        (MediaType.MBOX, "a.mbox", "message", "message"),
        (MediaType.EPUB, "a.epub", "section", "book"),
        (MediaType.DOCX, "a.docx", "section", "text"),
        (MediaType.NOTEBOOK, "a.ipynb", "cell", "text"),
    ],
)
def test_slides_messages_sections_and_cells_open_by_number(
    shelf: Shelf, media: MediaType, path: str, part: str, viewer: str
) -> None:
    two = piece(("Anchors weigh 85 kg.", PartSpan(part, 2)))  # type: ignore[arg-type]
    chunk = shelf.put(path, media, two, coverage=(CoverageUnit(part, 1, 3, "text"),))  # type: ignore[arg-type]
    view = shelf.open(chunk=chunk, quote="weigh 85")
    assert (view.media, view.part and (view.part.kind, view.part.number)) == (viewer, (part, 2))
    assert view.citation is not None
    assert view.citation.uri == f"{path}#{part}=2"
    assert shelf.open(f"{path}#{part}=3").state == "exact"
    assert shelf.open(f"{path}#{part}=3", "Anchors weigh").state == "moved"
    assert shelf.open(f"{path}#{part}=4").state == "gone"


def test_a_file_that_waits_opens_at_a_page_its_ledger_knows(shelf: Shelf) -> None:
    waiting = replace(
        an_item("scan.pdf", state=ItemState.WAITING),
        coverage=(CoverageUnit("page", 1, 4, "waiting", reason="ocr_model"),),
    )
    shelf.save(waiting)
    view = shelf.open("scan.pdf#page=4")
    assert (view.media, view.state, boxes(view)) == ("pdf", "exact", [(4, 0, 0, 1, 1)])
    assert shelf.open("scan.pdf#page=5").state == "gone"
