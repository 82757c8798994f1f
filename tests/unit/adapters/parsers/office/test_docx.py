"""Word documents: everything a person reads in them, in order, and nothing that was deleted."""

from __future__ import annotations

import io
import struct
import zipfile
from dataclasses import replace

import docx
import pytest

from kb.adapters.parsers.office.docx import DocxParser
from kb.domain.blocks import Prose
from kb.domain.coverage import CoverageUnit
from kb.domain.inlines import Link
from tests.unit.adapters.parsers.office.making import (
    LAUGHS,
    LIMITS,
    STRICT,
    XXE,
    R,
    W,
    lines,
    p,
    png,
    read,
    reason_of,
    word,
    zipped,
)

STYLES = (
    f'<w:styles xmlns:w="{W}">'
    '<w:style w:styleId="Title"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="2"/></w:style>'
    '<w:style w:styleId="Item"><w:name w:val="List"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    "</w:styles>"
)
NUMBERING = (
    f'<w:numbering xmlns:w="{W}">'
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    "</w:numbering>"
)
STYLED = {"word/styles.xml": STYLES, "word/numbering.xml": NUMBERING}
PARSER = DocxParser()


def cells(*texts: str) -> str:
    return "<w:tr>" + "".join(f"<w:tc>{p(text)}</w:tc>" for text in texts) + "</w:tr>"


def test_headings_by_style_by_inheritance_and_by_outline_level_number_the_sections() -> None:
    outline = '<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Deep</w:t></w:r></w:p>'
    body = p("Before") + p("One", "1") + p("Text") + p("Two", "Mine") + p("More") + outline + p("Last", "1")
    document = read(PARSER, word(body, STYLED, s="styles:styles.xml", n="numbering:numbering.xml"))
    assert lines(document) == [
        "paragraph 1: Before",
        "heading 1: One",
        "paragraph 1: Text",
        "heading 2: Two",
        "paragraph 2: More",
        "heading 3: Deep",
        "heading 4: Last",
    ]
    assert [block.heading_path for block in document.blocks][4:] == [("One", "Two"), ("One", "Two", "Deep"), ("Last",)]
    assert document.coverage == (CoverageUnit("section", 1, 4, "text"),)


def test_lists_keep_together_and_only_one_that_begins_is_numbered() -> None:
    def item(text: str, number: int) -> str:
        numbering = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>'
        return f"<w:p><w:pPr>{numbering}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    body = p("a", "Item") + p("b", "Item") + item("one", 2) + item("two", 2) + p("between") + item("three", 2)
    document = read(PARSER, word(body, STYLED, s="styles:styles.xml", n="numbering:numbering.xml"))
    assert lines(document) == ["list 1: - a\n- b", "list 1: 1. one\n2. two", "paragraph 1: between", "list 1: - three"]


def test_inserted_text_stays_and_deleted_text_goes() -> None:
    body = (
        "<w:p><w:r><w:t>We </w:t></w:r><w:ins><w:r><w:t>do </w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>do not </w:delText></w:r></w:del><w:r><w:t>agree</w:t></w:r>"
        "<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom></w:p>"
        f"<w:del>{p('never')}</w:del>"
    )
    assert lines(read(PARSER, word(body))) == ["paragraph 1: We do agree"]


def test_a_table_repeats_merged_cells_and_holds_tables_in_cells() -> None:
    head = (
        "<w:tr><w:trPr><w:tblHeader/></w:trPr>"
        f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{p("Price")}</w:tc><w:tc>{p("Note")}</w:tc></w:tr>'
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc>{p('old')}</w:tc><w:tc>{p('new')}</w:tc><w:tc>{p('')}</w:tc></w:tr>"
    )
    first = (
        f'<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{p("10")}</w:tc><w:tc>{p("12")}</w:tc>'
        f"<w:tc><w:tbl>{cells('x', 'y')}{cells('z', '')}</w:tbl>{p('end')}</w:tc></w:tr>"
    )
    second = (
        f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{p('')}</w:tc><w:tc>{p('14')}</w:tc><w:tc>{p('none')}</w:tc></w:tr>"
    )
    document = read(PARSER, word(f"<w:tbl>{head}{first}{second}</w:tbl>"))
    assert "\n".join(lines(document)).split("\n") == [
        "table 1: Price old | Price new | Note",
        "Price old: 10 | Price new: 12 | Note: x, y; z end",
        "Price old: 10 | Price new: 14 | Note: none",
    ]


def test_a_table_of_one_cell_is_only_a_frame() -> None:
    body = f"<w:tbl><w:tr><w:tc>{p('Inside', '1')}{p('text')}</w:tc></w:tr></w:tbl>"
    assert lines(read(PARSER, word(body, STYLED, s="styles:styles.xml"))) == ["heading 1: Inside", "paragraph 1: text"]


def test_notes_and_comments_follow_the_paragraph_they_belong_to() -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r>'
    body = p("Text", more=mark + '<w:r><w:commentReference w:id="0"/></w:r>') + p("Next")
    parts = {
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="0">{p("---")}'
        f'</w:footnote><w:footnote w:id="2">{p("At the foot")}</w:footnote></w:footnotes>',
        "word/endnotes.xml": f'<w:endnotes xmlns:w="{W}"><w:endnote w:id="2">{p("At the end")}</w:endnote>'
        "</w:endnotes>",
        "word/comments.xml": f'<w:comments xmlns:w="{W}"><w:comment w:id="0" w:author="Lee">{p("Really?")}'
        "</w:comment></w:comments>",
    }
    targets = {"f": "footnotes:footnotes.xml", "e": "endnotes:endnotes.xml", "c": "comments:comments.xml"}
    assert lines(read(PARSER, word(body, parts, **targets))) == [
        "paragraph 1: Text",
        "paragraph 1: At the foot",
        "paragraph 1: At the end",
        "quote 1: Lee: Really?",
        "paragraph 1: Next",
    ]


def test_headers_and_footers_come_once_at_the_end_under_no_heading() -> None:
    header = f'<w:hdr xmlns:w="{W}">{p("Confidential")}</w:hdr>'
    footer = f'<w:ftr xmlns:w="{W}">{p("12")}{p("Confidential")}{p("ACME 2024")}</w:ftr>'
    data = word(
        p("One", "1"),
        {**STYLED, "word/header1.xml": header, "word/header2.xml": header, "word/footer1.xml": footer},
        s="styles:styles.xml",
        h1="header:header1.xml",
        h2="header:header2.xml",
        f="footer:footer1.xml",
    )
    document = read(PARSER, data)
    assert lines(document) == ["heading 1: One", "paragraph 1: Confidential", "paragraph 1: ACME 2024"]
    assert document.blocks[1].heading_path == ()


def test_a_text_box_given_twice_is_read_once() -> None:
    box = f"<w:txbxContent>{p('In the box')}</w:txbxContent>"
    twice = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    older = f"<w:r><w:pict><v:textbox>{box.replace('In the', 'Old')}</v:textbox></w:pict></w:r>"
    assert lines(read(PARSER, word(p("Around", more=twice + older)))) == [
        "paragraph 1: Around",
        "paragraph 1: In the box",
        "paragraph 1: Old box",
    ]


def test_links_keep_where_they_lead() -> None:
    link = '<w:hyperlink r:id="l"><w:r><w:t>the plan</w:t></w:r></w:hyperlink>'
    document = read(PARSER, word(p("See ", more=link), l="hyperlink:https://example.org/plan"))
    assert document.blocks[0].text == "See the plan"
    assert document.blocks[0].payload == Prose((Link("the plan", "https://example.org/plan"),))


def test_a_formula_stands_on_one_line() -> None:
    formula = (
        "<m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
        "</m:den></m:f><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
        "<m:rad><m:deg/><m:e><m:r><m:t>y</m:t></m:r></m:e></m:rad></m:oMath>"
    )
    assert lines(read(PARSER, word(f"<w:p>{formula}</w:p>"))) == ["paragraph 1: x=(a+b)/2c^2√(y)"]


def test_pictures_beyond_icons_and_embedded_files_become_members() -> None:
    def picture(identity: str, alt: str) -> str:
        return f'<w:r><w:drawing><wp:docPr descr="{alt}"/><a:blip r:embed="{identity}"/></w:drawing></w:r>'

    embedded = (
        '<w:r><w:object><o:OLEObject r:id="x"/></w:object></w:r><w:r><w:object><o:OLEObject r:id="b"/></w:object></w:r>'
    )
    body = p("a", more=picture("big", "A board") + picture("icon", "") + picture("big", "again") + embedded)
    parts = {
        "word/media/board.png": png(200, 100),
        "word/media/icon.png": png(60, 60),
        "word/embeddings/table.xlsx": b"PK...",
        "word/embeddings/ole1.bin": b"????",
    }
    document = read(
        PARSER,
        word(
            body,
            parts,
            big="image:media/board.png",
            icon="image:media/icon.png",
            x="package:embeddings/table.xlsx",
            b="oleObject:embeddings/ole1.bin",
        ),
    )
    assert [member.name for member in document.members] == ["board.png", "table.xlsx"]
    assert lines(document) == ["paragraph 1: a", "image_ref 1: A board", "image_ref 1: again"]
    assert [warning.kind for warning in document.warnings] == ["extract_failed"]


def test_a_linked_picture_is_not_fetched_and_its_address_is_no_content() -> None:
    body = '<w:p><w:r><w:drawing><wp:docPr descr="A square"/><a:blip r:link="l"/></w:drawing></w:r></w:p>'
    document = read(PARSER, word(body, l="image:file:///etc/hostname"))
    assert lines(document) == ["image_ref 1: A square"]
    assert document.members == ()


def test_what_the_package_says_becomes_front_matter() -> None:
    core = (
        '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:t="t"><dc:title>Plan B</dc:title><dc:creator>Ann'
        "</dc:creator>"
        "<t:created>2024-05-06T07:08:09Z</t:created><cp:keywords>one; two</cp:keywords><dc:language>ko-KR</dc:language>"
        "</cp:coreProperties>"
    )
    assert read(PARSER, word(p("x"), {"docProps/core.xml": core})).front_matter == {
        "title": "Plan B",
        "author": "Ann",
        "created": "2024-05-06T07:08:09Z",
        "tags": ["one", "two"],
        "lang": "ko-KR",
    }


def test_the_macros_of_a_document_are_left_alone_and_said() -> None:
    document = read(PARSER, word(p("text"), {"word/vbaProject.bin": b"AutoOpen: Shell"}))
    assert lines(document) == ["paragraph 1: text"]
    assert [warning.note for warning in document.warnings] == ["the macros in it were not read"]


def test_the_strict_form_and_dangling_references_are_read() -> None:
    data = word(p("text"), l="image:../NULL", s="styles:missing.xml")
    assert lines(read(PARSER, data)) == ["paragraph 1: text"]
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        parts = {name: file.read(name).replace(R.encode(), STRICT.encode()) for name in file.namelist()}
    assert lines(read(PARSER, zipped(parts))) == ["paragraph 1: text"]


def test_a_document_without_words_is_blank() -> None:
    document = read(PARSER, word(""))
    assert document.blocks == ()
    assert document.coverage == (CoverageUnit("section", 1, 1, "blank"),)


def test_what_another_program_wrote_is_read() -> None:
    made = docx.Document()
    made.add_heading("회의록", 1)
    made.add_paragraph("안건: 예산")
    made.add_paragraph("하나", style="List Bullet")
    made.add_paragraph("둘", style="List Bullet")
    table = made.add_table(2, 2)
    for cell, text in zip(table._cells, ["이름", "나이", "철수", "12"], strict=True):
        cell.text = text
    made.core_properties.title = "주간"
    buffer = io.BytesIO()
    made.save(buffer)
    document = read(PARSER, buffer.getvalue())
    assert lines(document) == [
        "heading 1: 회의록",
        "paragraph 1: 안건: 예산",
        "list 1: - 하나\n- 둘",
        "table 1: 이름 | 나이\n이름: 철수 | 나이: 12",
    ]
    assert document.front_matter["title"] == "주간"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 nothing", "damaged"),
        (zipped({"a.txt": "no package"}), "wrong_type"),
        (word(p("x"))[:-300], "damaged"),
        (word("<w:p>"), "damaged"),
        (word(p("&c;"), prolog=LAUGHS), "too_complex"),
        (word(p("&b;"), prolog=XXE), "too_complex"),
        (word("<w:sdt>" * 5000 + "</w:sdt>" * 5000), "too_complex"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "locked"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "wrong_type"),
    ],
    ids=["empty", "cut", "other", "short", "open", "laughs", "xxe", "deep", "locked", "old"],
)
def test_what_is_no_readable_document_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(PARSER, data) == reason


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file, file.open("word/document.xml", "w") as part:
        for _ in range(300):
            part.write(b" " * (1 << 20))
    assert len(buffer.getvalue()) < 1 << 20
    assert reason_of(PARSER, buffer.getvalue()) == "expands_too_much"


def test_a_part_whose_header_lies_is_refused_by_its_real_bytes() -> None:
    body = p("word " * 300_000)
    data = word(body)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        size = file.getinfo("word/document.xml").file_size
    assert size > 1 << 20
    assert reason_of(PARSER, data.replace(struct.pack("<L", size), struct.pack("<L", 50))) == "expands_too_much"


def test_an_honest_zip64_document_is_read() -> None:
    data = word(p("in sixty-four bits"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as part:
                part.write(old.read(name))
    assert lines(read(PARSER, buffer.getvalue())) == ["paragraph 1: in sixty-four bits"]


def test_more_cells_or_characters_than_allowed_are_too_many() -> None:
    table = word("<w:tbl>" + cells("a", "b") * 6 + "</w:tbl>")
    assert reason_of(PARSER, table, replace(LIMITS, cells=11)) == "too_complex"
    assert reason_of(PARSER, word(p("twelve chars")), replace(LIMITS, characters=11)) == "too_big"
