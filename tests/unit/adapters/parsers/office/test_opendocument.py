"""OpenDocument: text, sheets and slides as LibreOffice shows them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

import odfdo
import pytest

from kb.adapters.parsers.office.opendocument import OpenDocumentParser
from kb.domain.blocks import Prose
from kb.domain.coverage import CoverageUnit
from kb.domain.inlines import Link
from kb.domain.spans import PartSpan
from tests.unit.adapters.parsers.office.making import LAUGHS, LIMITS, XXE, lines, png, read, reason_of, zipped

PARSER = OpenDocumentParser()
OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = (
    *("office", "text", "table", "style", "presentation", "meta", "manifest"),
    *("drawing", "datastyle"),
)
NAMESPACES = " ".join(f'xmlns:{"draw" if name == "drawing" else name}="{OASIS}{name}:1.0"' for name in NAMES) + (
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def odf(
    kind: str, body: str, styles: str = "", parts: Mapping[str, str | bytes] | None = None, prolog: str = ""
) -> bytes:
    """A document of this kind (`text`, `spreadsheet`, `presentation`)."""
    content = (
        f"{prolog}<office:document-content {NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **(parts or {})})


def row(*cells: str) -> str:
    inside = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
    return f"<table:table-row>{inside}</table:table-row>"


def test_headings_lists_tables_and_white_space_of_a_text() -> None:
    body = (
        "<text:p>before</text:p><text:h text:outline-level='1'>One</text:h>"
        "<text:p>a<text:s text:c='2'/>b<text:tab/>c<text:line-break/>d  \n  e</text:p>"
        "<text:list><text:list-item><text:p>x</text:p><text:list><text:list-item><text:p>y</text:p></text:list-item>"
        "</text:list></text:list-item></text:list>"
        f"<text:h text:outline-level='2'>Two</text:h>"
        f"<table:table>{row('Name', 'Says')}{row('Ann', 'yes')}</table:table>"
    )
    document = read(PARSER, odf("text", body))
    assert lines(document) == [
        "paragraph 1: before",
        "heading 1: One",
        "paragraph 1: a  b\tc\nd e",
        "list 1: - x\n- y",
        "heading 2: Two",
        "table 2: Name | Says\nName: Ann | Says: yes",
    ]
    assert document.blocks[5].heading_path == ("One", "Two")
    assert document.coverage == (CoverageUnit("section", 1, 2, "text"),)


def test_deleted_text_goes_and_notes_comments_boxes_and_links_stay() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        "<text:p>Text<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>At the foot</text:p>"
        "</text:note-body></text:note> and <text:a xlink:href='https://example.org'>a link</text:a>"
        "<office:annotation><dc:creator>Lee</dc:creator><text:p>Really?</text:p></office:annotation>"
        "<draw:frame><draw:text-box><text:p>In the box</text:p></draw:text-box></draw:frame></text:p>"
    )
    styles = (
        f"<office:document-styles {NAMESPACES}><style:header><text:p>Running</text:p></style:header>"
        "<style:footer><text:p>Running</text:p><text:p>12</text:p></style:footer></office:document-styles>"
    )
    document = read(PARSER, odf("text", body, parts={"styles.xml": styles}))
    assert lines(document) == [
        "paragraph 1: Text and a link",
        "paragraph 1: In the box",
        "paragraph 1: At the foot",
        "quote 1: Lee: Really?",
        "paragraph 1: Running",
    ]
    assert document.blocks[0].payload == Prose((Link("a link", "https://example.org"),))


def test_pictures_become_members_and_formulas_and_charts_words() -> None:
    body = (
        "<text:p><draw:frame><draw:image xlink:href='Pictures/a.png'/><dc:desc/></draw:frame>"
        "<draw:frame><draw:object xlink:href='./Object 1'/><draw:image xlink:href='Pictures/b.png'/></draw:frame>"
        "<draw:frame><draw:image xlink:href='https://example.org/x.png'/></draw:frame>"
        "<draw:frame><draw:image xlink:href='../up.png'/></draw:frame></text:p>"
    )
    formula = "<math xmlns='m'><mi>E</mi><mo>=</mo><mi>m</mi><annotation>E = m</annotation></math>"
    parts: dict[str, str | bytes] = {
        "Pictures/a.png": png(200, 100),
        "Pictures/b.png": png(200, 100),
        "Object 1/content.xml": formula,
    }
    document = read(PARSER, odf("text", body, parts=parts))
    assert [member.name for member in document.members] == ["a.png"]
    assert lines(document) == ["image_ref 1: ", "paragraph 1: E=m"]


def test_a_sheet_has_values_as_shown_and_rows_know_their_cells() -> None:
    cells = (
        "<table:table-cell table:number-columns-repeated='2'/><table:table-cell office:value-type='date' "
        "office:date-value='2024-05-06T00:00:00'><text:p>6.5.24</text:p></table:table-cell>"
        "<table:table-cell office:value-type='percentage' office:value='0.5'><text:p>50%</text:p></table:table-cell>"
        "<table:table-cell office:value-type='float' office:value='7'/>"
    )
    head = "".join(f"<table:table-cell><text:p>{name}</text:p></table:table-cell>" for name in ("when", "share", "n"))
    sheet = (
        "<table:table table:name='자료'>"
        "<table:table-row table:number-rows-repeated='3'><table:table-cell/></table:table-row>"
        f"<table:table-row><table:covered-table-cell table:number-columns-repeated='2'/>{head}</table:table-row>"
        f"<table:table-row>{cells}<table:table-cell table:number-columns-repeated='16000'/></table:table-row>"
        "<table:table-row table:number-rows-repeated='1048570'><table:table-cell/></table:table-row></table:table>"
    )
    document = read(PARSER, odf("spreadsheet", sheet))
    assert lines(document) == ["heading 1: 자료", "table 1: when | share | n\n2024-05-06 | 50% | 7"]
    assert document.blocks[1].segments[1].span == PartSpan("sheet", 1, "자료", "C5:E5")


def test_hidden_sheets_are_marked_merged_cells_repeated_and_comments_kept() -> None:
    styles = "<style:style style:name='h'><style:table-properties table:display='false'/></style:style>"
    merged = (
        "<table:table-row><table:table-cell table:number-rows-spanned='2'><text:p>North</text:p></table:table-cell>"
        "<table:table-cell><office:annotation><text:p>Sure?</text:p></office:annotation><text:p>one</text:p>"
        "</table:table-cell></table:table-row>"
        "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>two</text:p></table:table-cell>"
        "</table:table-row>"
    )
    body = (
        f"<table:table table:name='A' table:style-name='h'>{row('Region', 'Says')}{merged}</table:table>"
        "<table:table table:name='B'/>"
    )
    document = read(PARSER, odf("spreadsheet", body, styles))
    assert lines(document) == [
        "heading 1: A (hidden)",
        "table 1: Region | Says\nRegion: North | Says: one\nRegion: North | Says: two",
        "quote 1: Sure?",
    ]
    assert [(unit.start, unit.state) for unit in document.coverage] == [(1, "text"), (2, "blank")]


def test_slides_have_titles_notes_and_a_mark_when_hidden() -> None:
    styles = (
        "<style:style style:name='h'><style:drawing-page-properties presentation:visibility='hidden'/></style:style>"
    )
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>body</text:p></draw:text-box></draw:frame>"
        "<draw:frame presentation:class='title'><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>Say it</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
        f"<draw:page draw:style-name='h'><draw:frame><table:table>{row('a', 'b')}{row('1', '2')}</table:table>"
        "</draw:frame></draw:page><draw:page/>"
    )
    document = read(PARSER, odf("presentation", body, styles))
    assert lines(document) == [
        "heading 1: Title",
        "paragraph 1: body",
        "quote 1: Say it",
        "heading 2: (hidden)",
        "table 2: a | b\n1 | 2",
    ]
    assert [(unit.kind, unit.start, unit.state) for unit in document.coverage] == [
        ("slide", 1, "text"),
        ("slide", 3, "blank"),
    ]


def test_what_the_document_says_becomes_front_matter() -> None:
    meta = (
        f"<office:document-meta {NAMESPACES}><office:meta><dc:title>Plan</dc:title><meta:initial-creator>Ann"
        "</meta:initial-creator><meta:creation-date>2024-05-06T07:08:09</meta:creation-date>"
        "<meta:keyword>one</meta:keyword>"
        "<meta:keyword>two</meta:keyword><dc:language>ko</dc:language></office:meta></office:document-meta>"
    )
    assert read(PARSER, odf("text", "", parts={"meta.xml": meta})).front_matter == {
        "title": "Plan",
        "author": "Ann",
        "created": "2024-05-06T07:08:09",
        "lang": "ko",
        "tags": ["one", "two"],
    }


def test_what_another_program_wrote_is_read() -> None:
    made = odfdo.Document("spreadsheet")
    made.body.clear()
    table = odfdo.Table("도시")
    table.set_values([["이름", "인구"], ["서울", 940], ["부산", 330]])
    made.body.append(table)
    buffer = io.BytesIO()
    made.save(buffer)
    assert lines(read(PARSER, buffer.getvalue())) == [
        "heading 1: 도시",
        "table 1: 이름 | 인구\n이름: 서울 | 인구: 940\n이름: 부산 | 인구: 330",
    ]


LOCKED = (
    f"<manifest:manifest {NAMESPACES}><manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    "</manifest:manifest>"
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (zipped({"mimetype": "x"}), "wrong_type"),
        (odf("drawing", ""), "wrong_type"),
        (odf("text", "<text:p>"), "damaged"),
        (odf("text", "<text:p>&c;</text:p>", prolog=LAUGHS), "too_complex"),
        (odf("text", "<text:p>&b;</text:p>", prolog=XXE), "too_complex"),
        (odf("text", "", parts={"META-INF/manifest.xml": LOCKED}), "locked"),
    ],
    ids=["empty", "other", "drawing", "broken", "laughs", "xxe", "locked"],
)
def test_what_is_no_readable_document_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(PARSER, data) == reason


def test_a_row_that_claims_to_repeat_a_billion_times_is_too_complex_at_once() -> None:
    repeated = "<table:table-row table:number-rows-repeated='999999999'><table:table-cell><text:p>x</text:p>"
    body = f"<table:table table:name='A'>{repeated}</table:table-cell></table:table-row></table:table>"
    assert reason_of(PARSER, odf("spreadsheet", body)) == "too_complex"
    assert (
        reason_of(PARSER, odf("presentation", "<draw:page/><draw:page/>"), replace(LIMITS, pages=1)) == "too_many_pages"
    )
